// A model whose hidden states or embeddings inspect uses.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/task_file.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/base/visit.hpp"

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

// The field of --base.
inline Field base_field() {
  return Field("base", "base model of an adapter, if it is not in the adapter's directory").not_empty().takes("MODEL");
}

// The field of --layer, which analysis::chosen_layers() resolves; `which` describes the layers that there are,
// `several` what happens to several of them.
inline Field layer_field(const std::string& which, const std::string& several = "are averaged") {
  return Field("layer", which + "; negative numbers count from the last; several, or all, " + several)
      .word(-1, "last")
      .word(analysis::all_layers, "all")
      .not_empty()
      .takes("N,...");
}
inline Field hidden_layer_field(const std::string& otherwise = "") {
  return layer_field("layers of the hidden states: 0 is the input of the first block, N the output of block N" +
                     otherwise);
}

}  // namespace heddle
