// Assignment of parameters to the ranks that update them: each keeps the memory of the update rule for its own alone,
// and sends their weights to the others after an update (WeightExchange). A parameter has one owner, since rules use
// whole matrices; the sizes are balanced as far as that goes. Tables that models look rows up in are updated by all,
// whose gradients have few rows.
//
// Source: Rajbhandari et al. 2020, "ZeRO: memory optimizations toward training trillion parameter models", section 5.1
// (stage 1).
#pragma once

#include <span>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/nn/model_ranks.hpp"
#include "libcore/parallel/group.hpp"

namespace heddle::training {

// Parameters that are trained and stored as one, and so have one gradient.
struct Trained {
  Gradient* gradient = nullptr;
  std::vector<const Parameter*> parameters = {};
  int owner = 0;  // a rank, or everyone

  Index size() const;  // numbers
  // [size()], the weights of all.
  std::span<Real> weights() const;
};
inline constexpr int everyone = -1;

class Owners {
 public:
  // The parameters, the group and the ranks that share the model (null: none do) must outlive this.
  Owners(const Parameters& parameters, const parallel::Group& group, const nn::ModelRanks* sharing = nullptr);

  const std::vector<Trained>& trained() const { return trained_; }
  bool updates(const Trained& of) const { return of.owner == everyone || of.owner == group_.rank(); }
  // Parameters that this rank updates.
  Parameters& own() { return own_; }
  const Parameters& own() const { return own_; }

  // The norm of all gradients as one vector, where each rank has those of its own: the same bits as gradient_norm(),
  // unless ranks share the model, which add up the squares of their parts.
  double norm_of_gradients() const;

 private:
  std::vector<double> squares_of_gradients() const;

  const Parameters& parameters_;
  const parallel::Group& group_;
  const nn::ModelRanks* sharing_;
  std::vector<Trained> trained_;
  Parameters own_;
};

// Whether one is a table that models look rows up in, so that its gradient may have few rows.
bool has_table(const Trained& of);

// The owner of each of these sizes: from the largest on, the rank that has least.
std::vector<int> balanced(const std::vector<Index>& sizes, int ranks);

}  // namespace heddle::training
