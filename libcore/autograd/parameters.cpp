#include "heddle/autograd/parameters.hpp"

#include <algorithm>
#include <cmath>

#include "heddle/base/error.hpp"
#include "heddle/base/random.hpp"
#include "heddle/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index grain = 8192;  // even: normal numbers come in pairs

void fill_normal(const Tensor& tensor, const RandomStream& stream, double deviation) {
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; i += 2) {
      const auto words = stream.block(static_cast<std::uint64_t>(i / 2));
      const double radius = deviation * std::sqrt(-2.0 * std::log((words[0] + 0.5) * 0x1p-32));
      const double angle = words[1] * (0x1p-32 * 6.283185307179586);
      tensor[i] = static_cast<Real>(radius * std::cos(angle));
      if (i + 1 < end) tensor[i + 1] = static_cast<Real>(radius * std::sin(angle));
    }
  });
}

void fill_uniform(const Tensor& tensor, const RandomStream& stream, double half_width) {
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      tensor[i] = static_cast<Real>(half_width * (2 * stream.uniform(static_cast<std::uint64_t>(i)) - 1));
    }
  });
}

void initialize(const Tensor& tensor, const Initializer& initializer, const RandomStream& stream) {
  switch (initializer.kind) {
    case Initializer::Kind::constant: return tensor.fill(static_cast<Real>(initializer.scale));
    case Initializer::Kind::normal: return fill_normal(tensor, stream, initializer.scale);
    case Initializer::Kind::uniform: return fill_uniform(tensor, stream, initializer.scale);
  }
}

}  // namespace

Tensor Parameter::gradient() const {
  return variable.gradient()->is_empty() ? variable.gradient()->adding_target() : variable.gradient()->tensor();
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.name == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

Index Parameters::count() const {
  Index sum = 0;
  for (const Parameter& parameter : parameters_) sum += parameter.size();
  return sum;
}

void Parameters::allocate_gradients() {
  for (const Parameter& parameter : parameters_) parameter.variable.gradient()->target();
  clear_gradients();
}

void Parameters::clear_gradients() {
  for (const Parameter& parameter : parameters_) parameter.variable.gradient()->clear();
}

Variable Parameters::declare(const std::string& path, const std::vector<std::string>& names, const Shape& shape,
                             const Initializer& initializer, Decay decay) {
  const Index rows = shape[0];
  Shape whole_shape = shape;
  whole_shape.set(0, rows * static_cast<Index>(names.size()));
  const Variable whole(Tensor(whole_shape), std::make_shared<Gradient>(whole_shape, Gradient::Lifetime::persistent));
  for (std::size_t i = 0; i < names.size(); ++i) {
    Parameter parameter{path.empty() ? names[i] : path + "/" + names[i], whole, decay};
    check<Error>(find(parameter.name) == nullptr, "parameter ", parameter.name, " is declared twice");
    if (names.size() > 1) {
      const auto rows_of_this = [rows, i](const Tensor& t) { return t.narrowed(0, static_cast<Index>(i) * rows, rows); };
      parameter.variable = Variable(rows_of_this(whole.value()),
                                    std::make_shared<Gradient>(shape, whole.gradient(), rows_of_this));
    }
    if (seed_) initialize(parameter.value(), initializer, RandomStream(*seed_, random_site(parameter.name)));
    parameters_.push_back(std::move(parameter));
  }
  return whole;
}

}  // namespace heddle
