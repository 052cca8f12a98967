#include "libcore/autograd/parameters.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

constexpr Index grain = 8192;  // even: normal numbers come in pairs

void fill_normal(const Tensor& tensor, const RandomStream& stream, double stddev) {
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; i += 2) {
      const auto words = stream.block(static_cast<std::uint64_t>(i / 2));
      const double radius = stddev * std::sqrt(-2.0 * std::log((words[0] + 0.5) * 0x1p-32));
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

void fill_identity(const Tensor& tensor) {
  const Index n = tensor.shape()[-1];
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) tensor[i] = i / n % n == i % n ? Real(1) : Real(0);
  });
}

// Normal vectors, orthonormalised one after another (modified Gram and Schmidt): each orthogonal matrix is as likely.
void fill_orthogonal(const Tensor& tensor, const RandomStream& stream) {
  const Index rows = tensor.shape()[0], columns = tensor.shape()[1];
  const Index count = std::min(rows, columns), length = std::max(rows, columns);
  std::vector<double> vectors(static_cast<std::size_t>(count * length));
  double* const all = vectors.data();
  parallel_ranges(count * length, grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) all[i] = stream.normal(static_cast<std::uint64_t>(i));
  });
  const auto dot = [length](const double* a, const double* b) { return std::inner_product(a, a + length, b, 0.0); };
  for (Index i = 0; i < count; ++i) {
    double* const unit = all + i * length;
    const double norm = std::sqrt(dot(unit, unit));
    for (Index k = 0; k < length; ++k) unit[k] /= norm;
    parallel_for(count - i - 1, [&](Index task) {
      double* const other = unit + (task + 1) * length;
      const double along = dot(unit, other);
      for (Index k = 0; k < length; ++k) other[k] -= along * unit[k];
    });
  }
  parallel_ranges(tensor.size(), grain, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Index row = i / columns, column = i % columns;
      tensor[i] = static_cast<Real>(rows > columns ? all[column * length + row] : all[row * length + column]);
    }
  });
}

void fill(const Tensor& tensor, const Initializer& initializer, const RandomStream& stream) {
  switch (initializer.kind) {
    case Initializer::Kind::constant:
      return tensor.fill(static_cast<Real>(initializer.scale));
    case Initializer::Kind::normal:
      return fill_normal(tensor, stream, initializer.scale);
    case Initializer::Kind::uniform:
      return fill_uniform(tensor, stream, initializer.scale);
    case Initializer::Kind::identity:
      return fill_identity(tensor);
    case Initializer::Kind::orthogonal:
      return fill_orthogonal(tensor, stream);
  }
}

// The i-th part of a stacked tensor.
Tensor part_of(const Tensor& whole, Index i, Index rows) {
  return whole.narrowed(0, i * rows, rows);
}

void initialize(const Tensor& tensor, const Initializer& initializer, std::uint64_t seed, std::uint64_t site) {
  const auto parts = std::ssize(initializer.parts);
  if (parts == 0) return fill(tensor, initializer, RandomStream(seed, site));
  for (Index i = 0; i < parts; ++i) {
    const RandomStream stream(seed, site, static_cast<std::uint64_t>(i));
    fill(part_of(tensor, i, tensor.shape()[0] / parts), initializer.parts[static_cast<std::size_t>(i)], stream);
  }
}

}  // namespace

Shape Declaration::stacked_shape() const {
  Shape stacked = shape;
  stacked.set(0, shape[0] * static_cast<Index>(names.size()));
  return stacked;
}

ParameterSource::ParameterSource(std::uint64_t seed)
    : function_([seed](const Declaration& declaration) {
        const Tensor whole(declaration.stacked_shape());
        Index i = 0;
        for (const std::string& name : declaration.names) {
          initialize(part_of(whole, i++, declaration.shape[0]), declaration.initializer, seed, random_site(name));
        }
        return whole;
      }) {}

ParameterSource ParameterSource::unset() {
  return given([](const Declaration& declaration) { return Tensor(declaration.stacked_shape()); });
}

ParameterSource ParameterSource::trained_at(Rate rate) const {
  ParameterSource result = *this;
  result.rate_ = std::move(rate);
  return result;
}

double ParameterSource::rate_of(const Declaration& declaration) const {
  const double rate = rate_(declaration.names[0]);
  for (const std::string& name : declaration.names) {
    check<UsageError>(rate_(name) == rate, declaration.names[0], " and ", name,
                      " are trained as one: either both can be frozen or neither");
  }
  return rate;
}

ParameterSource ParameterSource::given(Function function) {
  return ParameterSource(std::move(function));
}

Tensor Parameter::gradient() const {
  if (!is_trained()) return {};
  return variable.gradient()->is_empty() ? variable.gradient()->adding_target() : variable.gradient()->tensor();
}

const Parameter* Parameters::find(std::string_view name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &parameters_[found->second];
}

void Parameters::mark_output(const Variable& weight) {
  for (Parameter& parameter : parameters_) {
    if (parameter.is_trained() && parameter.variable.gradient() == weight.gradient()) parameter.is_output = true;
  }
}

void Parameters::clear_outputs() {
  for (Parameter& parameter : parameters_) parameter.is_output = false;
}

Parameters Parameters::only(const std::function<bool(const Parameter&)>& takes) const {
  Parameters some(source_);
  for (const Parameter& parameter : parameters_) {
    if (!takes(parameter)) continue;
    some.places_.emplace(parameter.name, some.parameters_.size());
    some.parameters_.push_back(parameter);
  }
  return some;
}

Index Parameters::count() const {
  Index sum = 0;
  for (const Parameter& parameter : parameters_) sum += parameter.size();
  return sum;
}

Index Parameters::trained_count() const {
  Index sum = 0;
  for (const Parameter& parameter : parameters_) sum += parameter.is_trained() ? parameter.size() : 0;
  return sum;
}

void Parameters::allocate_gradients() {
  for (const Parameter& parameter : parameters_) {
    if (parameter.is_trained()) parameter.variable.gradient()->target();
  }
  clear_gradients();
}

void Parameters::clear_gradients() {
  for (const Parameter& parameter : parameters_) {
    if (parameter.is_trained()) parameter.variable.gradient()->clear();
  }
}

void Parameters::watch_gradients(Recording& recording, Complete complete) const {
  std::vector<const Gradient*> leaves;
  std::vector<std::vector<const Parameter*>> stored_as_one;  // for each leaf
  for (const Parameter& parameter : parameters_) {
    if (!parameter.is_trained()) continue;
    const Gradient* const leaf = parameter.variable.gradient()->root();
    if (leaves.empty() || leaves.back() != leaf) {
      leaves.push_back(leaf);
      stored_as_one.emplace_back();
    }
    stored_as_one.back().push_back(&parameter);
  }
  recording.watch_leaves(leaves, [parts = std::move(stored_as_one), complete = std::move(complete)](std::size_t leaf) {
    for (const Parameter* const parameter : parts[leaf]) complete(*parameter);
  });
}

Variable Parameters::declare(const Declaration& declaration, Decay decay) {
  for (const std::string& name : declaration.names) {
    check<Error>(find(name) == nullptr, "parameter ", name, " is declared twice");
  }
  const Shape shape = declaration.stacked_shape();
  const double rate = source_.rate_of(declaration);
  const auto gradient = rate == 0 ? nullptr : std::make_shared<Gradient>(shape, Gradient::Lifetime::persistent);
  const Variable whole(source_(declaration), gradient);
  check<ShapeError>(whole.shape() == shape, "parameter ", declaration.names[0], ": a tensor of shape ", whole.shape(),
                    " is given for ", shape);
  for (std::size_t i = 0; i < declaration.names.size(); ++i) {
    Parameter parameter{declaration.names[i], whole, decay, rate};
    if (declaration.names.size() > 1) {
      const auto part = [i, rows = declaration.shape[0]](const Tensor& t) {
        return part_of(t, static_cast<Index>(i), rows);
      };
      parameter.variable =
          Variable(part(whole.value()),
                   gradient == nullptr ? nullptr : std::make_shared<Gradient>(declaration.shape, gradient, part));
    }
    places_.emplace(parameter.name, parameters_.size());
    parameters_.push_back(std::move(parameter));
  }
  return whole;
}

}  // namespace heddle
