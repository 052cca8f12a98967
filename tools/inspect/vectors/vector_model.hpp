// A model whose hidden states or embeddings verbs use.
#pragma once

#include <string>

#include "formats/heddle/task_file.hpp"
#include "tools/inspect/model_fields.hpp"

namespace heddle {

// Opens a model file, or an adapter and its base. Throws DataError for a model that has no hidden states.
struct VectorModel {
  VectorModel(const std::string& path, const std::string& base, std::string_view user)
      : loaded(formats::load_body(path, base)),
        tokenizer(loaded.of_sources()),
        vectors(models::require<models::ContextualVectors>(*loaded.model, user, path)) {}

  formats::LoadedModel loaded;
  const text::Tokenizer& tokenizer;
  const models::ContextualVectors& vectors;
};

// The field of --layer of hidden states.
inline Field hidden_layer_field(const std::string& otherwise = "") {
  return layer_field("layers of the hidden states: 0 is the input of the first block, N the output of block N" +
                     otherwise);
}

}  // namespace heddle
