#include "libcore/models/rnn_config.hpp"

#include "libcore/base/strings.hpp"
#include "libcore/models/source_encoder.hpp"

namespace heddle::models {

std::string detail::source_encoder_help() {
  std::vector<std::string> names;
  for (const SourceEncoderKind& kind : source_encoders()) names.emplace_back(kind.name);
  return "what reads the source, NAME[:KEY=VALUE,...]: one of " + join(names);
}

bool RnnConfig::has_annotations() const {
  return source_encoder_kind(source_encoder).annotates;
}

std::string RnnConfig::readout_kind() const {
  if (readout != "auto") return readout;
  if (!has_annotations()) return "state";
  if (attends_after()) return "tanh";
  return has_context_input() ? "maxout" : "state";
}

void RnnConfig::check(Naming naming) const {
  const auto name = [naming](const char* field) { return named(field, naming); };
  const auto refuse = [](bool wrong, const auto&... parts) { heddle::check<UsageError>(!wrong, parts...); };
  check_vocabularies(vocab_size, naming);
  check_source_encoder(*this, naming);
  refuse(has_attention() && !has_annotations(), name("source_attention"), " = ", source_attention, ": the encoder ",
         source_encoder, " gives one vector for the whole source; give none");
  refuse(source_attention == "dot" && annotation_width() != width, name("encoder_width"), " = ", annotation_width(),
         " and ", name("width"), " = ", width, " differ, so states and annotations have no dot product; use bilinear");
  refuse(has_attention() && context_vector != "initial", name("context_vector"),
         ": with attention there is no fixed context vector");
  refuse(input_feeding && !attends_after(), name("input_feeding"), " needs dot or bilinear ", name("source_attention"));
  refuse(readout_kind() == "state" && attends_after(), name("readout"),
         " = state does not use what the decoder attends to");
  refuse(readout_kind() == "state" && output_width() != width, name("readout"), " = state has the ", name("width"), " ",
         width, " instead of ", name("readout_width"), " = ", output_width());
  refuse(tie_embeddings && output_width() != embedding(), name("readout_width"), " = ", output_width(), " and ",
         name("embedding_width"), " = ", embedding(), " differ, so the output cannot share the embeddings; give ",
         naming == Naming::options ? "--no-tie-embeddings" : "tie_embeddings = false");
}

}  // namespace heddle::models
