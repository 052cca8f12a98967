// Low-rank adapters: a trained correction of frozen matrices.
#pragma once

#include <limits>
#include <optional>

#include "libcore/autograd/parameters.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/nn/model_ranks.hpp"
#include "libcore/ops/low_rank.hpp"
#include "libcore/ops/pass.hpp"

namespace heddle::nn {

// Columns of a product with several matrices, those of whole ones; by default all.
struct ProductColumns {
  Index first = 0, count = std::numeric_limits<Index>::max();
};

// alpha / rank B A drop(x), added to W x, for matrices W that are multiplied as one.
// Source: Hu et al. 2022, "LoRA" (SPEC 6.2).
// Parameters: lora/a [rank, in], uniform in +-1/sqrt(in); lora/b [out, rank], zeros, so that training starts from the
// matrix itself. The matrices share the dropout mask. Where ranks divide the matrices' outputs or inputs, each has its
// part of b or a; of the other one, which all have whole, the gradients are summed over them.
class LowRank {
 public:
  // The adapters of those matrices for which the scope's source requests one; none if it requests none. The matrices
  // are parts of the scope, each [out, in], stacked in this order; "" is the scope's own. Ranks divide this of them.
  static std::optional<LowRank> of(const Scope& scope, const std::vector<std::string>& matrices, Index in, Index out,
                                   Divided divided);

  // The term to add to these columns of the matrices' product with x; none where no adapted matrix is among them.
  std::optional<ops::LowRankTerm> operator()(const Variable& x, const Pass& pass, const ProductColumns& columns) const;

 private:
  // Of a layer.
  struct Sides {
    Index in, out;
    Divided divided;
  };
  LowRank(const Scope& scope, const LowRankOptions& options, const std::vector<std::string>& matrices,
          const std::vector<Index>& columns, const Sides& sides);
  Variable dropped(const Variable& x, const Pass& pass) const;

  Divided divided_;
  const ModelRanks* ranks_;  // that divide the matrices; null: none do
  Real scale_;
  double dropout_;
  std::uint64_t dropout_site_;
  std::vector<Index> columns_;
  Variable a_, b_;
};

// The same where there may be none.
inline std::optional<ops::LowRankTerm> correction(const std::optional<LowRank>& adapter, const Variable& x,
                                                  const Pass& pass, const ProductColumns& columns = {}) {
  return adapter ? (*adapter)(x, pass, columns) : std::nullopt;
}

}  // namespace heddle::nn
