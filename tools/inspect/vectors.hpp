// A model whose hidden states or embeddings inspect uses.
#pragma once

#include <string>
#include <vector>

#include "heddle/base/visit.hpp"
#include "heddle/formats/heddle/load_model.hpp"

namespace heddle {

// Opens a model file. Throws DataError for a model that has no hidden states.
struct VectorModel {
  VectorModel(const std::string& path, std::string_view user)
      : loaded(formats::load_model(formats::ModelFile(path))),
        tokenizer(loaded.of_sources()),
        vectors(models::require<models::ContextualVectors>(*loaded.model, user, path)) {}

  formats::LoadedModel loaded;
  const text::Tokenizer& tokenizer;
  const models::ContextualVectors& vectors;
};

// The field of --layer; `otherwise` describes its default.
inline Field layer_field(const std::string& otherwise) {
  return Field(
             "layer",
             "layer of the hidden states: 0 is the input of the first block, i the output of block i; negative numbers "
             "count from the last, -1; several are averaged; by default " +
                 otherwise)
      .not_empty()
      .takes("N,...");
}

}  // namespace heddle
