// A training objective: how batches are made, their loss, and the evaluation. The training loop uses only this
// interface, so a new objective is one class.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libcore/autograd/parameters.hpp"
#include "libcore/data/token_source.hpp"
#include "libcore/models/roles.hpp"
#include "libcore/ops/pass.hpp"
#include "libcore/training/shared_evaluation.hpp"
#include "libcore/training/state.hpp"
#include "libcore/training/training_data.hpp"

namespace heddle::training {

// The size of a micro-batch or a whole step: samples, units read (tokens, nodes), targets predicted, and tokens of the
// text that are predicted in addition.
struct Counts {
  Index samples = 0, units = 0, targets = 0, text_targets = 0;
  Counts& operator+=(const Counts& other) {
    samples += other.samples;
    units += other.units;
    targets += other.targets;
    text_targets += other.text_targets;
    return *this;
  }
};

struct MicroBatch {
  Counts counts;
  // Its part of the step's loss, [1]: the sum over its targets divided by the targets of the whole step, so that
  // splitting a step into micro-batches with unequal numbers of targets does not change the result.
  std::function<Variable(const Pass& pass, const Counts& step)> loss;
};

// A metric of an evaluation: "loss", in nats; "accuracy", …
struct Metric {
  std::string name;
  double value;
};
enum class Better { lower, higher };

// The origin of a sample, for messages: "documents of train.h5", and the number of the document, from 0.
struct Origin {
  std::string of;
  Index number;
};

class Objective {
 public:
  virtual ~Objective() = default;

  // The trained parameters.
  virtual Parameters& parameters() const = 0;
  // The settings of a training pass: dropout and the maximum number of positions in a sample. Seed, step and samples
  // are set by the loop.
  virtual Pass training_pass() const = 0;
  virtual Index samples_per_epoch() const = 0;
  // Samples in a micro-batch of the configured size: 1 where a sample is a group of texts already.
  virtual Index samples_per_batch(Index batch_size) const { return batch_size; }
  // Samples [first, first + count) of all epochs, one after the other: a function of the objective and these numbers
  // alone. Losses may also depend on state(), which they do not change.
  virtual MicroBatch batch(Index first, Index count) const = 0;
  // A document for each of these samples, or an example.
  virtual std::vector<Origin> origins(Index first, Index count) const = 0;
  // Note for users before training starts, such as data that is not used; empty for nothing.
  virtual std::string note() const { return ""; }
  // Memory of the problems of a step or of an evaluation, which tensors do not hold; 0 for other samples.
  virtual double bytes_of_problems() const { return 0; }
  // Kind of its data, which determines the units of counts.
  virtual DataKind data_kind() const { return DataKind::text; }
  // Floating-point operations to train on one unit, on average.
  virtual double flops_per_unit() const = 0;

  // State from one step to the next, such as hidden states of the preceding text; the shapes never change. The first
  // dimension is that of the samples of a step, in order and as many elements for each, so that every rank keeps the
  // part of its own micro-batches, and a file gets all. Files store it as "objective/NAME", and a resumed run restores
  // it as it was after the last finished step.
  virtual std::vector<StateTensor> state() const { return {}; }
  // Called when the step whose losses were computed last is finished: updates the state for the next step. A step that
  // is abandoned is computed again from its beginning, without this call.
  virtual void finish_step() {}

  // The training loss, in nats per token, of a model that knows how frequent each token is in the training text, and
  // nothing else; nothing where the loss is not of tokens. Reads a part of the text.
  virtual std::optional<double> frequency_loss() const { return std::nullopt; }

  virtual bool can_evaluate() const = 0;
  // The first metric decides which model is best, and whether lower or higher is better. Precondition: can_evaluate().
  virtual std::vector<Metric> evaluate(const Evaluators& by) const = 0;
  virtual Better better() const { return Better::lower; }
};

// Counted in the first million tokens of each part.
struct TokenFrequencies {
  double entropy = 0;    // entropy of the token frequencies p, nats
  double agreement = 0;  // the sum of p^2: how often two tokens are the same
};
TokenFrequencies token_frequencies(const data::TokenSource& tokens);

Origin origin_of(const data::TokenSource& tokens, Index offset);

// "documents of train.h5: 3, 8, 9; examples: 4", each once, in order; only the first ones if there are many.
std::string to_text(const std::vector<Origin>& origins);

// Throws DataError for a source of another vocabulary than the model's.
void check_vocabulary(const models::TokenModel& model, const data::TokenSource& tokens);

}  // namespace heddle::training
