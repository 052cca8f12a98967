// Ranks that share one model (tensor parallelism): each has some of the heads of attention and some of the inner
// columns of feed-forward layers, and everything else whole. Modules ask their scope for the ranks, and declare parts
// of what they divide; the source of values gives them parts of the whole values, so that the model of all ranks is
// that of one.
//
//   const ModelRanks ranks(group);
//   auto model = models::make_model(config, ranks.divided(ParameterSource(seed)));  // on every rank
//
// Source: Shoeybi et al. 2019, "Megatron-LM: training multi-billion parameter language models using model parallelism",
// section 3.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/parallel/group.hpp"

namespace heddle::nn {

// What of a layer ranks that share the model divide, which do not divide other layers.
enum class Divided { no, outputs, inputs };

// The place of a rank's part in the whole of a parameter, or of something of its shape: [begin, …) of a dimension.
struct PartOfWhole {
  int dimension;
  Index begin, whole;  // start in the dimension, and its whole size
};

class ModelRanks {
 public:
  // The group must outlive this, and this all models that are made of what divided() returns.
  explicit ModelRanks(const parallel::Group& group) : group_(group) {}
  ModelRanks(const ModelRanks&) = delete;
  ModelRanks& operator=(const ModelRanks&) = delete;

  const parallel::Group& group() const { return group_; }
  bool share() const { return !group_.is_alone(); }

  // A source of this rank's parts of the values of another one; that itself where there is one rank.
  ParameterSource divided(const ParameterSource& whole) const;
  // The part of a parameter of those models that a rank has; null: all of it.
  const PartOfWhole* part_of(std::string_view parameter) const;
  // The numbers in all ranks' parts of these parameters.
  Index count(const Parameters& parameters) const;
  // Throws UsageError for a model of which the ranks divide nothing.
  void check_divides(const Parameters& parameters) const;

  // For modules.
  // The ranks that share the model of the scope; null where one has all of it.
  static const ModelRanks* of(const Scope& scope);
  // The part of so many things that is a rank's. Throws UsageError, which names the field that sets their number, where
  // the ranks do not divide it.
  Index part(std::string_view field, Index count) const;

 private:
  friend Variable divided_parameters(const Scope&, const std::vector<std::string>&, const Shape&, int,
                                     const Initializer&, Decay);
  const parallel::Group& group_;
  mutable std::map<std::string, PartOfWhole, std::less<>> parts_;  // names as modules declare them
};

// Declares parameters of one shape, stored as one as by Scope::stacked(): of each the rank's part of the dimension
// where ranks share the model, else the whole.
Variable divided_parameters(const Scope& scope, const std::vector<std::string>& names, const Shape& whole,
                            int dimension, const Initializer& initializer, Decay decay);

// The part of a whole tensor.
Tensor part_of(const Tensor& whole, const PartOfWhole& part, const Shape& shape);

}  // namespace heddle::nn
