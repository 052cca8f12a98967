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

void RnnConfig::spell_out() {
  TokenConfig::spell_out();
  spell_out_init(ops::cell(cell));
  readout = readout_kind();
  const Index read_out = output_width();
  embedding_width = embedding();
  readout_width = read_out;
  if (!has_annotations()) return;  // a single vector for the whole source has neither
  encoder_width = annotation_width();
  encoder_layers = encoder_depth();
}

void RnnConfig::validate() const {
  const auto refuse = [](bool wrong, const auto&... parts) { check<UsageError>(!wrong, parts...); };
  check_vocabularies(vocab_size);
  check_source_encoder(*this);
  check_init(ops::cell(cell), bias ? nn::Bias::yes : nn::Bias::no);
  refuse(has_attention() && !has_annotations(), "`source_attention` = ", source_attention, ": the encoder ",
         source_encoder, " gives one vector for the whole source; give none");
  refuse(source_attention == "dot" && annotation_width() != width, "`encoder_width` = ", annotation_width(),
         " and `width` = ", width, " differ, so states and annotations have no dot product; use bilinear");
  refuse(has_attention() && context_vector != "initial",
         "`context_vector`: with attention there is no fixed context vector");
  refuse(input_feeding && !attends_after(), "`input_feeding` needs dot or bilinear `source_attention`");
  refuse(readout_kind() == "state" && attends_after(), "`readout` = state does not use what the decoder attends to");
  refuse(readout_kind() == "state" && output_width() != width, "`readout` = state has `width` = ", width,
         " instead of `readout_width` = ", output_width());
  refuse(tie_embeddings && output_width() != embedding(), "`readout_width` = ", output_width(),
         " and `embedding_width` = ", embedding(),
         " differ, so the output cannot share the embeddings; give `tie_embeddings` = false");
}

}  // namespace heddle::models
