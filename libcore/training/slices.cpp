#include "libcore/training/slices.hpp"

#include <algorithm>

#include "libcore/tensor/context.hpp"

namespace heddle::training {

Slices::Slices(Parameters& parameters, const Treatment& treatment, std::initializer_list<const char*> state_names,
               const Takes& takes) {
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained() || !takes(parameter)) continue;
    Trained trained{&parameter, treatment.rate_of(parameter), treatment.decays(parameter), {}};
    for (const std::string name : state_names) {
      trained.state.emplace_back(parameter.value().shape(), 0);
      state_.push_back({name + "/" + parameter.name, trained.state.back()});
    }
    const Index size = parameter.size(), each = Simulation::active() ? size : slice_elements;  // updates nothing
    for (Index begin = 0; begin < size; begin += each) {
      ranges_.push_back({trained_.size(), begin, std::min(size, begin + each)});
    }
    trained_.push_back(std::move(trained));
  }
}

double fraction_of_rows(const std::vector<Index>& rows, const Tensor& table) {
  return static_cast<double>(rows.size()) / static_cast<double>(table.shape()[0]);
}

std::vector<Slices::Work> Slices::work_of(Idle idle) const {
  std::vector<Work> all;
  for (const Trained& trained : trained_) {
    const Parameter& parameter = *trained.parameter;
    Work work{&trained, parameter.gradient(), std::nullopt, static_cast<double>(parameter.value().bytes())};
    if (idle == Idle::stays || (idle == Idle::decays && !trained.decays)) {
      work.rows = parameter.variable.gradient()->rows();
    }
    if (work.rows) work.traffic *= fraction_of_rows(*work.rows, work.gradient);
    work.traffic *= static_cast<double>(3 + 2 * trained.state.size());  // the gradient is read, the rest written, too
    all.push_back(std::move(work));
  }
  return all;
}

}  // namespace heddle::training
