// Texts whose tokens a model has scored.
#pragma once

#include <cmath>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

#include "formats/heddle/load_model.hpp"
#include "libcore/data/task_examples.hpp"
#include "libcore/decoding/score.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/inspect/texts/cut_text.hpp"

namespace heddle {

// Kind of a model's probabilities.
struct Likelihood {
  std::string_view name, sentence;
  bool is_pseudo = false;   // their product is no probability of the text
  bool has_source = false;  // texts are targets, each of which has a source
};

struct Totals {
  Index tokens = 0, bytes = 0;  // number scored
  double nats = 0;

  double nats_per_token() const { return nats / static_cast<double>(tokens); }
  double perplexity() const { return std::exp(nats_per_token()); }
  double bits_per_byte() const { return nats / std::numbers::ln2 / static_cast<double>(bytes); }
  void add(const Totals& other) {
    tokens += other.tokens;
    bytes += other.bytes;
    nats += other.nats;
  }
};

struct ScoredCut {
  CutText cut;
  std::vector<decoding::TokenPrediction> predictions;  // predictions of its last tokens
  Index bytes = 0;                                     // bytes that these tokens encode
  std::string source = {};

  std::size_t unscored() const { return cut.tokens.size() - predictions.size(); }
  const decoding::TokenPrediction* prediction(std::size_t token) const {
    return token < unscored() ? nullptr : &predictions[token - unscored()];
  }
  Totals totals() const {
    Totals totals{static_cast<Index>(predictions.size()), bytes, 0};
    for (const decoding::TokenPrediction& each : predictions) totals.nats -= each.log_probability;
    return totals;
  }
};

struct Scored {
  const text::Tokenizer& tokenizer;
  std::string name;  // name of the model's file
  Likelihood likelihood;
  std::vector<ScoredCut> texts;

  Totals totals() const {
    Totals totals;
    for (const ScoredCut& text : texts) totals.add(text.totals());
    return totals;
  }
};

struct ScoringOptions {
  Index top;  // most probable tokens to keep in each token's place
  data::Overlong overlong;
};

// By the model's role: next tokens, target tokens of lines SOURCE, tab, TARGET, or tokens masked one by one. Throws
// DataError for models of other roles and for texts that do not fit, UsageError for splitting what cannot be split.
Scored score_texts(const formats::LoadedModel& loaded, const std::vector<InputText>& inputs,
                   const ScoringOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
