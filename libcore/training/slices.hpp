// Parameters cut into slices, for rules that update each element from its own gradient and its own state: weights,
// gradients and state are read once and written once, by all threads.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/tensor/profile.hpp"
#include "heddle/tensor/threads.hpp"
#include "heddle/training/state.hpp"

namespace heddle::training {

// Of a slice, and of what a task of another loop over parameters has.
inline constexpr Index slice_elements = 32768;

// Elements of one parameter.
struct Slice {
  Real* weights;
  const Real* gradient;
  const std::vector<Real*>& state;  // of the slice, one for each of the rule's names
  Index count;
  Real rate;  // what the parameter's learning rate is multiplied with
  bool decays;
};

class Slices {
 public:
  // A state of zeros for each trained parameter and each of these names: "m" becomes "m/decoder/0/…".
  Slices(Parameters& parameters, std::initializer_list<const char*> state_names);

  // Of one parameter after the other.
  const std::vector<StateTensor>& state() const { return state_; }

  // Calls update(slice) for each slice; no two overlap.
  template <class Update>
  void for_each(const Update& update) const {
    Section section("optimizer");
    section.add_bytes(traffic_);
    const std::vector<Tensor> gradients = gradients_of_all();
    parallel_for(static_cast<Index>(ranges_.size()), [&](Index task) {
      const Range& range = ranges_[static_cast<std::size_t>(task)];
      const Trained& trained = trained_[range.of];
      std::vector<Real*> state;
      for (const Tensor& tensor : trained.state) state.push_back(tensor.data() + range.begin);
      update(Slice{trained.parameter->value().data() + range.begin, gradients[range.of].data() + range.begin, state,
                   range.end - range.begin, static_cast<Real>(trained.parameter->rate),
                   trained.parameter->decay == Decay::yes});
    });
  }

 private:
  struct Trained {
    const Parameter* parameter;
    std::vector<Tensor> state;
  };
  struct Range {
    std::size_t of;  // trained_
    Index begin, end;
  };
  std::vector<Tensor> gradients_of_all() const;

  std::vector<StateTensor> state_;
  std::vector<Trained> trained_;
  std::vector<Range> ranges_;
  double traffic_ = 0;  // bytes read and written by an update
};

}  // namespace heddle::training
