// A scheme of positions without a model, with the numbers that it starts with.
#pragma once

#include <memory>
#include <string>

#include "libcore/analysis/position_shapes.hpp"
#include "libcore/models/config.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

class SchemeAlone {
 public:
  // For `count` positions of a stack whose embeddings have heads * key_width numbers. Throws UsageError for a scheme
  // that does not exist or does not suit that shape.
  SchemeAlone(const std::string& scheme, const HeadShape& shape, Index width, Index count, bool causal,
              std::uint64_t seed)
      : parameters_(ParameterSource(seed)) {
    models::naming_errors("`scheme`", [&] {
      const PositionShape positions{
          context_of(scheme, std::nullopt, count), width, shape.heads, shape.key_width, 0.02, causal};
      scheme_ = make_positions(scheme, Scope(parameters_, "position"), positions);
      layer_ = scheme_->for_layer(Scope(parameters_, "layer"));
    });
    in_ = {scheme_.get(), layer_.get(), width, shape, causal};
  }

  const analysis::PositionsInLayer& in() const { return in_; }
  bool has_parameters() const { return parameters_.count() > 0; }

 private:
  Parameters parameters_;
  std::shared_ptr<const Positions> scheme_;
  std::shared_ptr<const AttentionPositions> layer_;
  analysis::PositionsInLayer in_{};
};

}  // namespace heddle
