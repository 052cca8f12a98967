// The contents of a file as inspect shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/ensemble_file.hpp"
#include "formats/heddle/history.hpp"
#include "formats/heddle/provenance.hpp"
#include "formats/heddle/tensor_group.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/models/config.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/text/tokenizer_model.hpp"
#include "libcore/training/objectives.hpp"
#include "tools/inspect/files/graph_statistics.hpp"
#include "tools/inspect/files/token_statistics.hpp"

namespace heddle {

// The parts of a file to show; none means all that it has.
struct Parts {
  bool config = false, weights = false, tokens = false, tokenizer = false, history = false, provenance = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("config", "the configuration of a model").essential(), self.config);
    visitor(Field("weights", "the parameters: names, shapes, counts").essential(), self.weights);
    visitor(Field("tokens",
                  "statistics of the tokens of a token or pairs file; of other files the vocabulary, one id and its "
                  "piece per "
                  "line")
                .essential(),
            self.tokens);
    visitor(Field("tokenizer", "kind, size, special tokens, some pieces").essential(), self.tokenizer);
    visitor(Field("history", "the losses and other metrics during training").essential(), self.history);
    visitor(Field("provenance", "the commands and inputs that made the file").essential(), self.provenance);
  }
  bool any() const { return config || weights || tokens || tokenizer || history || provenance; }
};

// Counts of a token file, or of a side of a pairs file.
struct TokenCounts {
  Index tokens, documents, vocabulary;
  Index text_bytes;                                // bytes of the text, without special tokens
  std::optional<TokenStatistics> statistics = {};  // if requested
};

struct PairCounts {
  Index pairs;
  TokenCounts source, target;
};

// The requested parts that the file has.
struct Summary {
  std::string name;         // the file's, or the preset's
  std::string description;  // "model file, 1,234 bytes, made by heddle 0.1.0 at …"; empty when parts were asked for
  std::string kind;
  std::optional<Index> parameters = {};       // parameters of an encoder, without the head
  std::optional<Index> head_parameters = {};  // parameters of an encoder's head
  std::optional<models::ModelConfig> config = {};
  std::optional<training::ObjectiveChoice> objective = {};  // objective of the last training, with the configuration
  std::optional<models::TaskConfig> task = {};              // task of a fine-tuned model, with the configuration
  std::optional<LowRankOptions> adapters = {};              // adapters of an adapter file, with the configuration
  std::optional<formats::EnsembleMembers> ensemble = {};
  std::optional<std::vector<formats::TensorInfo>> weights = {};
  std::optional<TokenCounts> tokens = {};
  std::optional<PairCounts> pairs = {};
  std::optional<GraphStatistics> graphs = {};
  std::optional<std::vector<std::string>> pieces = {};  // pieces of the vocabulary, if requested
  std::optional<text::TokenizerModel> tokenizer = {};
  std::optional<text::TokenizerModel> source_tokenizer = {};  // tokenizer of the sources, if it differs
  std::optional<formats::History> history = {};
  std::optional<formats::Provenance> provenance = {};
};

// Reads no weights, and tokens only for their statistics. Throws DataError for files that are damaged or not heddle's,
// and for a requested part that is missing.
Summary summarize_file(const std::string& path, const Parts& parts, Index most_frequent = 10);

// The summary of a preset, with exact parameter counts but without memory for weights. Throws UsageError that lists the
// presets.
Summary summarize_preset(const std::string& name, const Parts& parts);

// The names and shapes that a model of this configuration has.
std::vector<formats::TensorInfo> weights_of(const models::ModelConfig& config);
// The same with the head of a task.
std::vector<formats::TensorInfo> weights_of(const models::ModelConfig& config, const models::TaskConfig& task);

// For people.
std::string as_text(const Summary& summary);
// A chart of the losses, and the last and lowest values.
std::string history_text(const formats::History& history);
// A blank line, the title, and the content indented.
std::string text_section(const std::string& title, const std::string& content);

// For programs.
formats::Json as_json(const Summary& summary);
// One list per column; missing values are null.
formats::Json as_json(const formats::History& history);

}  // namespace heddle
