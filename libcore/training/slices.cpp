#include "heddle/training/slices.hpp"

#include <algorithm>

#include "heddle/tensor/context.hpp"

namespace heddle::training {

Slices::Slices(Parameters& parameters, std::initializer_list<const char*> state_names) {
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained()) continue;
    Trained trained{&parameter, {}};
    for (const std::string name : state_names) {
      trained.state.emplace_back(parameter.value().shape(), 0);
      state_.push_back({name + "/" + parameter.name, trained.state.back()});
    }
    // The gradient is read; weights and state are written, too.
    traffic_ += static_cast<double>(parameter.value().bytes()) * static_cast<double>(3 + 2 * trained.state.size());
    const Index size = parameter.size(), each = Simulation::active() ? size : slice_elements;  // updates nothing
    for (Index begin = 0; begin < size; begin += each) {
      ranges_.push_back({trained_.size(), begin, std::min(size, begin + each)});
    }
    trained_.push_back(std::move(trained));
  }
}

std::vector<Tensor> Slices::gradients_of_all() const {
  std::vector<Tensor> gradients;
  for (const Trained& trained : trained_) gradients.push_back(trained.parameter->gradient());
  return gradients;
}

}  // namespace heddle::training
