// A model whose vectors inspect looks at: of texts, words, senses.
#pragma once

#include <string>
#include <vector>

#include "heddle/base/visit.hpp"
#include "heddle/formats/heddle/load_model.hpp"

namespace heddle {

// A model file whose vectors are asked for. Throws DataError for a model that gives none.
struct VectorModel {
  VectorModel(const std::string& path, std::string_view user)
      : loaded(formats::load_model(formats::ModelFile(path))),
        tokenizer(loaded.tokenizer),
        vectors(models::require<models::ContextualVectors>(*loaded.model, user, path)) {}

  formats::LoadedModel loaded;
  const text::Tokenizer& tokenizer;
  const models::ContextualVectors& vectors;
};

// The field of --layer, whose default is described in `otherwise`.
inline Field layer_field(const std::string& otherwise) {
  return Field("layer",
               "whose states: 0 is what enters the first block, i what leaves block i, -1 the last; of several "
               "their mean; by default " +
                   otherwise)
      .takes("N,...");
}

}  // namespace heddle
