// Named parameters: decoder/3/attention/query/weight. The optimizer, files, freezing, adapters and gradient exchange
// identify weights by these names, in the order in which the model declared them.
#pragma once

#include <any>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <typeindex>
#include <vector>

#include "libcore/autograd/tape.hpp"

namespace heddle {

// Initial values of a parameter.
struct Initializer {
  enum class Kind { constant, normal, uniform, identity, orthogonal } kind = Kind::constant;
  double scale = 0;                     // the constant, the standard deviation, or the half-width
  std::vector<Initializer> parts = {};  // each of as many rows, one after another; empty: one for all rows

  static Initializer zeros() { return {Kind::constant, 0}; }
  static Initializer ones() { return {Kind::constant, 1}; }
  static Initializer normal(double stddev) { return {Kind::normal, stddev}; }
  static Initializer uniform(double half_width) { return {Kind::uniform, half_width}; }
  static Initializer constant(double value) { return {Kind::constant, value}; }
  // For square matrices [..., n, n].
  static Initializer identity() { return {Kind::identity, 1}; }
  // For matrices: orthonormal columns, or rows where there are fewer rows than columns. Source: Saxe et al. 2014,
  // "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks".
  static Initializer orthogonal() { return {Kind::orthogonal, 1}; }
  // The gates of a recurrent cell are parts of one matrix.
  static Initializer in_parts(std::vector<Initializer> parts) { return {Kind::constant, 0, std::move(parts)}; }
};

// Parameters of one shape [rows, ...] that are stored as one tensor [names * rows, ...]; most are alone.
struct Declaration {
  std::vector<std::string> names;  // whole paths
  Shape shape;                     // shape of each
  Initializer initializer;

  Shape stacked_shape() const;
};

// The source of the values of parameters when a model is built, and whether they are trained.
class ParameterSource {
 public:
  // The tensor of the stacked shape, of any dtype.
  using Function = std::function<Tensor(const Declaration&)>;
  // Factor on the learning rate of the parameter; 0 for a frozen one, which has no gradient.
  using Rate = std::function<double(std::string_view name)>;

  // Drawn from (seed, name) alone, so that an additional parameter changes no other.
  ParameterSource(std::uint64_t seed);
  // Not set, to be read from a file.
  static ParameterSource unset();
  // Given tensors, such as views of a mapped file. Read-only tensors must not be trained.
  static ParameterSource given(Function function);

  // The same values, trained at another rate. Parameters that are stored as one need one rate.
  ParameterSource trained_at(Rate rate) const;
  // Attaches typed settings for module constructors; one of each type.
  template <class Settings>
  ParameterSource with_settings(Settings settings) const {
    ParameterSource result = *this;
    result.settings_[std::type_index(typeid(Settings))] = std::move(settings);
    return result;
  }
  // Null where there are none of the type.
  template <class Settings>
  const Settings* settings() const {
    const auto found = settings_.find(std::type_index(typeid(Settings)));
    return found == settings_.end() ? nullptr : std::any_cast<Settings>(&found->second);
  }

  Tensor operator()(const Declaration& declaration) const { return function_(declaration); }
  // Throws UsageError where the names have several rates.
  double rate_of(const Declaration& declaration) const;

 private:
  explicit ParameterSource(Function function) : function_(std::move(function)) {}
  Function function_;
  Rate rate_ = [](std::string_view) { return 1.0; };
  std::map<std::type_index, std::any> settings_;
};

// Whether weight decay applies: to matrices that multiply, not to norms and biases.
enum class Decay { no, yes };

struct Parameter {
  std::string name;
  Variable variable;
  Decay decay = Decay::yes;
  double rate = 1;         // factor on the learning rate; 0 if frozen
  bool is_output = false;  // trained, [vocab, width]: products of its rows with hidden states are logits of tokens

  bool is_trained() const { return variable.gradient() != nullptr; }
  const Tensor& value() const { return variable.value(); }
  Index size() const { return value().size(); }
  // This step's gradient; zeros when nothing flowed here, empty when the parameter is not trained.
  Tensor gradient() const;
};

// The parameters of a model.
class Parameters {
 public:
  explicit Parameters(ParameterSource source) : source_(std::move(source)) {}

  const std::vector<Parameter>& all() const { return parameters_; }
  // Null when there is none of that name.
  const Parameter* find(std::string_view name) const;
  // The parameters for which `takes` is true; they remain the same variables.
  Parameters only(const std::function<bool(const Parameter&)>& takes) const;
  Index count() const;                       // numbers in all parameters
  Index trained_count() const;               // scalars in trained parameters
  void allocate_gradients();                 // before the first step, so that later ones find their memory
  void clear_gradients();                    // before a step
  void mark_output(const Variable& weight);  // is_output for the parameter, if it is trained, that has it
  void clear_outputs();                      // no parameter is_output: the loss has no logits of tokens

  // Makes the recording's backward() call complete(parameter) once for each trained parameter, as soon as its gradient
  // is what backward() leaves; the order is that of Recording::watch_leaves(), and parameters that are stored as one
  // come one after the other. To be called before anything is recorded; these parameters must outlive it.
  using Complete = std::function<void(const Parameter& parameter)>;
  void watch_gradients(Recording& recording, Complete complete) const;

 private:
  friend class Scope;
  Variable declare(const Declaration& declaration, Decay decay);

  ParameterSource source_;
  std::vector<Parameter> parameters_;
  std::map<std::string, std::size_t, std::less<>> places_;  // index in parameters_, by name
};

// The place in a model where a module declares its parameters: a path, and the list they go to.
class Scope {
 public:
  Scope(Parameters& parameters, std::string path) : parameters_(&parameters), path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  Scope operator/(std::string_view name) const { return {*parameters_, inside(name)}; }
  Scope operator/(Index number) const { return *this / std::to_string(number); }
  // The source's settings; null where it has none of the type.
  template <class Settings>
  const Settings* settings() const {
    return parameters_->source_.template settings<Settings>();
  }

  Variable parameter(const std::string& name, const Shape& shape, const Initializer& initializer, Decay decay) const {
    return parameters_->declare({{inside(name)}, shape, initializer}, decay);
  }

  // The same, declared by whichever module asks first: what several modules share.
  Variable shared(const std::string& name, const Shape& shape, const Initializer& initializer, Decay decay) const {
    const Parameter* const known = parameters_->find(inside(name));
    return known != nullptr ? known->variable : parameter(name, shape, initializer, decay);
  }

  void mark_output(const Variable& weight) const { parameters_->mark_output(weight); }

  // Parameters of one shape [rows, ...] that are stored and multiplied as one, [names * rows, ...], each under its own
  // name: the query, key and value matrices of attention are one product.
  Variable stacked(const std::vector<std::string>& names, const Shape& shape, const Initializer& initializer,
                   Decay decay) const {
    Declaration declaration{{}, shape, initializer};
    for (const std::string& name : names) declaration.names.push_back(inside(name));
    return parameters_->declare(declaration, decay);
  }

 private:
  std::string inside(std::string_view name) const {
    return path_.empty() ? std::string(name) : path_ + "/" + std::string(name);
  }

  Parameters* parameters_;
  std::string path_;
};

}  // namespace heddle
