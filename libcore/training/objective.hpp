// What a model learns: how batches are made, what their loss is, and how well the model does. The training loop knows
// no more of it, so a new objective is one class.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/data/token_source.hpp"
#include "heddle/models/roles.hpp"
#include "heddle/nn/pass.hpp"
#include "heddle/training/state.hpp"

namespace heddle::training {

// What a micro-batch has, or a whole step: samples, tokens read, targets predicted, and tokens of the text that are
// predicted beside them.
struct Counts {
  Index samples = 0, tokens = 0, targets = 0, text_targets = 0;
  Counts& operator+=(const Counts& other) {
    samples += other.samples;
    tokens += other.tokens;
    targets += other.targets;
    text_targets += other.text_targets;
    return *this;
  }
};

struct MicroBatch {
  Counts counts;
  // Its part of the step's loss, [1]: the sum over its targets divided by the targets of the whole step, so that
  // cutting a step into micro-batches of unequal targets changes nothing.
  std::function<Variable(const Pass& pass, const Counts& step)> loss;
};

// One number of an evaluation: "loss", in nats; "accuracy", …
struct Metric {
  std::string name;
  double value;
};
enum class Better { lower, higher };

// Where a sample is from, for messages: "documents of train.h5", and which of them, from 0.
struct Origin {
  std::string of;
  Index number;
};

class Objective {
 public:
  virtual ~Objective() = default;

  // What is trained.
  virtual Parameters& parameters() const = 0;
  // How a pass of training runs the network: its dropout, and the most positions of a sample. Seed, step and samples
  // are the loop's.
  virtual Pass training_pass() const = 0;
  virtual Index samples_per_epoch() const = 0;
  // Samples [first, first + count) of all epochs, one after the other: a function of the objective and these numbers
  // alone. Losses may depend on state(), too, which they leave as it is.
  virtual MicroBatch batch(Index first, Index count) const = 0;
  // A document for each of these samples, or an example.
  virtual std::vector<Origin> origins(Index first, Index count) const = 0;
  // Floating-point operations to train on one token, on average.
  virtual double flops_per_token() const = 0;

  // What is remembered from one step to the next, such as hidden states of the text before; the shapes never change.
  // Files keep it as "objective/NAME", and a run that is resumed finds it as it was after the last finished step.
  virtual std::vector<StateTensor> state() const { return {}; }
  // The step whose losses were computed last is finished: what it leaves for the next one becomes the state. A step
  // that is given up is computed again from its beginning, without this call.
  virtual void finish_step() {}

  virtual bool can_evaluate() const = 0;
  // The first metric decides which model is best, and whether lower or higher is better. `stop` is asked now and then;
  // when it says yes, the metrics mean nothing. Precondition: can_evaluate().
  virtual std::vector<Metric> evaluate(const std::function<bool()>& stop) const = 0;
  virtual Better better() const { return Better::lower; }
};

Origin origin_of(const data::TokenSource& tokens, Index offset);

// "documents of train.h5: 3, 8, 9; examples: 4", each once, in order; of very many the first ones.
std::string to_text(const std::vector<Origin>& origins);

// Throws DataError for a source of another vocabulary than the model's.
void check_vocabulary(const models::TokenModel& model, const data::TokenSource& tokens);

}  // namespace heddle::training
