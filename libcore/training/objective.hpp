// What a model learns: how batches are made, what their loss is, and how well the model does. The training loop knows
// no more of it, so a new objective is one class.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/data/token_source.hpp"
#include "heddle/models/model.hpp"

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
struct Figure {
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

  // Its parameters are what is trained.
  virtual models::Model& model() const = 0;
  virtual Index samples_per_epoch() const = 0;
  // Samples [first, first + count) of all epochs, one after the other: a function of the objective and these numbers
  // alone.
  virtual MicroBatch batch(Index first, Index count) const = 0;
  // A document for each of these samples, or an example.
  virtual std::vector<Origin> origins(Index first, Index count) const = 0;
  // Floating-point operations to train on one token, on average.
  virtual double flops_per_token() const = 0;

  virtual bool can_evaluate() const = 0;
  // The first figure decides which model is best, and whether lower or higher is better. `stop` is asked now and then;
  // when it says yes, the figures mean nothing. Precondition: can_evaluate().
  virtual std::vector<Figure> evaluate(const std::function<bool()>& stop) const = 0;
  virtual Better better() const { return Better::lower; }
};

Origin origin_of(const data::TokenSource& tokens, Index offset);

// "documents of train.h5: 3, 8, 9; examples: 4", each once, in order; of very many the first ones.
std::string to_text(const std::vector<Origin>& origins);

// Throws DataError for a source of another vocabulary than the model's.
void check_vocabulary(const models::Model& model, const data::TokenSource& tokens);

}  // namespace heddle::training
