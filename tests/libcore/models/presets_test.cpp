// Shapes of published models, field by field, as their papers and released configurations have them (SPEC 4.2, 4.3).
#include "heddle/models/presets.hpp"

#include <doctest/doctest.h>

#include "heddle/models/decoder.hpp"
#include "heddle/models/encoder.hpp"

using namespace heddle;

namespace {

// Every field in the order of its visit(): what presets leave at a default is written out, too.
class FieldList : public models::FieldVisitor {
 public:
  static std::string of(models::ModelConfig config) {
    FieldList list;
    config.visit_own(list);
    return config.arch() + ":" + list.text_;
  }
  void operator()(const Field& field, bool& value) override { add(field, value ? "yes" : "no"); }
  void operator()(const Field& field, Index& value) override { add(field, std::to_string(value)); }
  void operator()(const Field& field, double& value) override { add(field, concatenate(value)); }
  void operator()(const Field& field, std::string& value) override { add(field, value); }

 private:
  void add(const Field& field, const std::string& value) { text_ += concatenate(" ", field.name, "=", value); }
  std::string text_;
};

std::string shape(Index layers, Index width, Index heads) {
  return concatenate(" layers=", layers, " distinct_layers=0 width=", width, " heads=", heads,
                     " kv_heads=0 head_width=0 ffn_width=0");
}

const std::string gpt2 =
    " activation=gelu-tanh gated=no norm=layer block=pre norm_epsilon=1e-05 positions=learned"
    " context=1024 attention=dot window=0 bias=yes attention_bias=yes layer_dropout=0 vocab_size=50257 "
    "sequence_length=0 dropout=0"
    " segments=0 embedding_norm=no tie_embeddings=yes";
const std::string bert =
    " activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 positions=learned"
    " context=512 attention=dot window=0 bias=yes attention_bias=yes layer_dropout=0 vocab_size=30522 "
    "sequence_length=0 dropout=0.1"
    " segments=2 embedding_norm=yes tie_embeddings=yes pooler=yes next_sentence=no";

const std::string vaswani =
    " activation=relu gated=no norm=layer block=post norm_epsilon=1e-05 positions=sinusoidal context=0 attention=dot"
    " window=0 bias=yes attention_bias=no layer_dropout=0 vocab_size=37000 sequence_length=0 dropout=";
const std::string vaswani_embeddings =
    " segments=0 embedding_norm=no tie_embeddings=yes source_vocab_size=0 encoder_layers=0 share_embeddings=yes"
    " start_token=-1 scale_logits=no logit_bias=no";

const std::string t5 =
    " activation=relu gated=no norm=rms block=pre norm_epsilon=1e-06 positions=relative-scalar context=0"
    " attention=dot:scale=1 window=0 bias=no attention_bias=yes layer_dropout=0 vocab_size=32128 sequence_length=0 "
    "dropout=0.1 "
    "segments=0"
    " embedding_norm=no tie_embeddings=yes source_vocab_size=0 encoder_layers=0 share_embeddings=yes start_token=0"
    " scale_logits=yes logit_bias=no";
const std::string bart =
    " activation=gelu gated=no norm=layer block=post norm_epsilon=1e-05 positions=learned:offset=2 context=1024"
    " attention=dot window=0 bias=yes attention_bias=yes layer_dropout=0 vocab_size=50265 sequence_length=0 "
    "dropout=0.1 segments=0"
    " embedding_norm=yes tie_embeddings=yes source_vocab_size=0 encoder_layers=0 share_embeddings=yes start_token=2"
    " scale_logits=no logit_bias=no";

const std::string recurrent_vocabularies = " encoder_layers=0 share_embeddings=no start_token=-1 tie_embeddings=no";

}  // namespace

TEST_CASE("presets: every field of every preset") {
  const std::vector<std::pair<std::string, std::string>> expected{
      {"nano", "decoder:" + shape(4, 128, 4) +
                   " activation=gelu-tanh gated=no norm=layer block=pre norm_epsilon=1e-05 positions=learned context=64"
                   " attention=dot window=0 bias=no attention_bias=yes layer_dropout=0 vocab_size=0 sequence_length=0 "
                   "dropout=0 segments=0"
                   " embedding_norm=no tie_embeddings=yes"},
      {"gpt2", "decoder:" + shape(12, 768, 12) + gpt2},
      {"gpt2-medium", "decoder:" + shape(24, 1024, 16) + gpt2},
      {"gpt2-large", "decoder:" + shape(36, 1280, 20) + gpt2},
      {"gpt2-xl", "decoder:" + shape(48, 1600, 25) + gpt2},
      {"bert-base", "encoder:" + shape(12, 768, 12) + bert},
      {"bert-large", "encoder:" + shape(24, 1024, 16) + bert},
      {"roberta-base",
       "encoder:" + shape(12, 768, 12) +
           " activation=gelu gated=no norm=layer block=post norm_epsilon=1e-05 positions=learned:offset=2 context=512"
           " attention=dot window=0 bias=yes attention_bias=yes layer_dropout=0 vocab_size=50265 sequence_length=0 "
           "dropout=0.1 "
           "segments=1"
           " embedding_norm=yes tie_embeddings=yes pooler=yes next_sentence=no"},
      {"transformer-base",
       "encoder-decoder: layers=6 distinct_layers=0 width=512 heads=8 kv_heads=0 head_width=0 ffn_width=2048" +
           vaswani + "0.1" + vaswani_embeddings},
      {"transformer-big",
       "encoder-decoder: layers=6 distinct_layers=0 width=1024 heads=16 kv_heads=0 head_width=0 ffn_width=4096" +
           vaswani + "0.3" + vaswani_embeddings},
      {"t5-small", "encoder-decoder:" + shape(6, 512, 8) + t5},
      {"t5-base", "encoder-decoder:" + shape(12, 768, 12) + t5},
      {"t5-large", "encoder-decoder:" + shape(24, 1024, 16) + t5},
      {"bart-base", "encoder-decoder:" + shape(6, 768, 12) + bart},
      {"bart-large", "encoder-decoder:" + shape(12, 1024, 16) + bart},
      {"rctm-2013",
       "rnn: layers=1 distinct_layers=0 width=256 embedding_width=0 encoder_width=0 readout_width=0 cell=tanh "
       "source_encoder=convolution"
       " bidirectional=no reverse_source=no source_attention=none context_vector=every-step input_feeding=no "
       "readout=auto"
       " bias=no vocab_size=30000 sequence_length=0 dropout=0 source_vocab_size=0" +
           recurrent_vocabularies},
      {"seq2seq-2014",
       "rnn: layers=4 distinct_layers=0 width=1000 embedding_width=0 encoder_width=0 readout_width=0 cell=lstm "
       "source_encoder=recurrent"
       " bidirectional=no"
       " reverse_source=yes source_attention=none context_vector=initial input_feeding=no readout=auto bias=no"
       " vocab_size=80000 sequence_length=0 dropout=0 source_vocab_size=160000" +
           recurrent_vocabularies},
      {"rnnsearch-2015",
       "rnn: layers=1 distinct_layers=0 width=1000 embedding_width=620 encoder_width=2000 readout_width=500 cell=cho"
       " source_encoder=recurrent bidirectional=yes"
       " reverse_source=no source_attention=additive context_vector=initial input_feeding=no readout=auto bias=no"
       " vocab_size=30000 sequence_length=0 dropout=0 source_vocab_size=0" +
           recurrent_vocabularies}};
  std::vector<std::string> names;
  for (const auto& [name, fields] : expected) {
    CAPTURE(name);
    CHECK(FieldList::of(models::preset(name)) == fields);
    names.push_back(name);
  }
  CHECK(models::preset_names() == names);
}
