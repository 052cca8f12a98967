// Update rules: how weights follow from gradients. Each rule is a file of its own, with its settings and whatever state
// it needs, and a line in optimizers.def.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/kind.hpp"
#include "libcore/models/model.hpp"
#include "libcore/tensor/precision.hpp"
#include "libcore/training/state.hpp"

namespace heddle::training {

// The inputs of an update besides the parameters and their gradients.
struct UpdateStep {
  Index step = 0;  // from 0
  double learning_rate = 0;
  double gradient_scale = 1;  // factor on the gradients when the norm is clipped
  double loss = 0;            // before the update
};

// A rule over the trained ones of some parameters, which must outlive it. It may use all of them at once.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Says, before the first update, which ranks share the model, so that parameters are parts. Rules that update each
  // number by itself need not know.
  virtual void share(const nn::ModelRanks&) {}
  // Sets the values of the parameters, each treated as OptimizerSettings say.
  virtual void update(const UpdateStep& step) = 0;
  // The state of the rule from step to step, or its initial state before the first update; for saving and restoring.
  virtual std::vector<StateTensor> state() const = 0;
  // One-line note for a user who chose the rule for these parameters; usually empty. A warning says that it is not the
  // rule that takes the steps.
  virtual std::string note() const { return ""; }
  virtual std::string warning() const { return ""; }
};

// Per-parameter treatment: a factor of the learning rate, and whether weight decay applies.
class Treatment {
 public:
  Treatment(double embedding_rate, bool embedding_decay)
      : embedding_rate_(embedding_rate), embedding_decay_(embedding_decay) {}

  // The parameter's own, and of embeddings times their factor.
  double rate_of(const Parameter& parameter) const;
  // Whether it has Decay::yes, and is no embedding that is excepted.
  bool decays(const Parameter& parameter) const;

 private:
  double embedding_rate_;
  bool embedding_decay_;
};

// Whether the parameter is a table of vectors that a model looks up by token, position or segment; its rows may be the
// output's, too.
bool is_embedding(const Parameter& parameter);

// Base of the settings of every rule. A rule's own derive from it and have a visit().
struct OptimizerSettings {
  double weight_decay = 0, embedding_rate = 1;
  bool embedding_decay = true;
  Precision exchange = Precision::f32;

  Treatment treatment() const { return {embedding_rate, embedding_decay}; }

  virtual ~OptimizerSettings() = default;
  virtual void validate() const {}
  // The peak learning rate where none is given, for models that AdamW trains best at rate_of_adamw.
  virtual double usual_rate(double rate_of_adamw) const { return rate_of_adamw; }
  // The file of the model that takes the steps, which use() must be given before make(); none where no model does.
  virtual std::optional<std::string> rule_file() const { return std::nullopt; }
  virtual void use(std::shared_ptr<const models::Model>) {}
  // Whether it can update parts of parameters, of which ranks that share a model have others (Optimizer::share()).
  virtual bool updates_parts() const { return true; }
  virtual std::unique_ptr<Optimizer> make(Parameters& parameters) const = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("weight_decay", "weight decay of matrices; norms and biases have none").range(0, 100).takes("X"),
            self.weight_decay);
    visitor(
        Field(
            "embedding_rate",
            "learning rate of embeddings, also of those that the output shares, as a multiple of the other parameters'")
            .above(0, 1000)
            .takes("X"),
        self.embedding_rate);
    visitor(Field("embedding_decay", "apply weight decay to embeddings, too"), self.embedding_decay);
    visitor(Field("exchange",
                  "dtype in which ranks exchange gradients and updates; bf16 halves the bytes, and one process rounds "
                  "in the same way")
                .takes("NAME"),
            self.exchange);
  }
};

using OptimizerChoice = KindOf<OptimizerSettings>;

}  // namespace heddle::training

namespace heddle {

// The rules, in the order of optimizers.def.
template <>
const KindList<training::OptimizerSettings>& kinds();

}  // namespace heddle

namespace heddle::training {

// Accumulated in double in a fixed order.
double sum_of_squares(const Tensor& tensor);

// The squared norm of the gradient of a trained parameter, as sum_of_squares().
double squared_norm_of_gradient(const Parameter& parameter);

// The norm of all gradients as one vector, accumulated in double in a fixed order.
double gradient_norm(const Parameters& parameters);

}  // namespace heddle::training
