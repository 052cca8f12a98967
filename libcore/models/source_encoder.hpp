// Source encoders of recurrent sequence-to-sequence models: the interface of the encoders of source_encoders.def.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/settings.hpp"
#include "libcore/models/rnn_config.hpp"
#include "libcore/models/roles.hpp"
#include "libcore/nn/recurrent.hpp"

namespace heddle::models {

class SourceEncoder {
 public:
  virtual ~SourceEncoder() = default;

  struct Result {
    Variable annotations;  // annotation of each token, [batch, time, annotation width], 0 at padding; may be empty
    Variable vector;       // vector of the whole source, [batch, vector_width()]
    // The states that each layer's direction ends with, the forward one (or the only one) first; empty without.
    std::vector<std::vector<nn::Recurrent::State>> last;
  };
  // x [batch, time, embedding width]; empty lengths: all are full. A row has the same values in any batch. An observer
  // sees the input and the output of each layer, with annotations; throws DataError where they are narrower than x.
  virtual Result operator()(const Variable& x, const std::vector<Index>& lengths, const Pass& pass,
                            const ContextualVectors::Observer& observe = {}) const = 0;
  virtual Index vector_width() const = 0;
};

struct SourceEncoderKind {
  std::string_view name{}, summary{};
  bool annotates;   // gives annotations, to which a decoder can attend; else the vector is the decoder's context itself
  bool has_states;  // ends with states of layers, with which a decoder can start
  std::unique_ptr<SourceEncoder> (*make)(Settings& settings, const Scope& scope, const RnnConfig& config);
  // Throws UsageError for fields of the configuration that it cannot have; make() does for settings.
  void (*check)(const RnnConfig& config);
};

// All of them, in the order of source_encoders.def.
const std::vector<SourceEncoderKind>& source_encoders();
// The kind in "NAME[:KEY=VALUE,...]". Throws UsageError that lists the kinds.
const SourceEncoderKind& source_encoder_kind(const std::string& text);
// Throws UsageError for an encoder that does not exist, and for settings and fields that it cannot have.
void check_source_encoder(const RnnConfig& config);
// The one that the configuration names. Precondition: its check() has passed.
std::unique_ptr<SourceEncoder> make_source_encoder(const Scope& scope, const RnnConfig& config);

}  // namespace heddle::models
