// Shapes of published models as their papers and released configurations have them (SPEC 4.2, 4.3).
#include "libcore/models/presets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "libcore/models/decoder.hpp"
#include "libcore/models/encoder.hpp"

using namespace heddle;

namespace presets_tests {

namespace {

// Every field in the order of its visit().
class FieldList : public FieldVisitor {
 public:
  static std::vector<std::string> of(models::ModelConfig config) {
    FieldList list;
    config.visit_own(list);
    return list.fields_;
  }
  void operator()(const Field& field, bool& value) override { add(field, value ? "yes" : "no"); }
  void operator()(const Field& field, Index& value) override { add(field, std::to_string(value)); }
  void operator()(const Field& field, double& value) override { add(field, concatenate(value)); }
  void operator()(const Field& field, std::string& value) override { add(field, value); }

 private:
  void add(const Field& field, const std::string& value) { fields_.push_back(concatenate(field.name, "=", value)); }
  std::vector<std::string> fields_;
};

// The architecture, and the fields that differ from its defaults.
std::string changes_of(const models::ModelConfig& config) {
  const std::vector<std::string> fields = FieldList::of(config),
                                 defaults = FieldList::of(models::ModelConfig::of(config.arch()));
  REQUIRE(fields.size() == defaults.size());
  std::string text = config.arch() + ":";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] != defaults[i]) text += " " + fields[i];
  }
  return text;
}

}  // namespace

TEST_CASE("presets: the defaults of transformers") {
  const auto with = [](const std::string& width, const std::string& feed_forward, const std::string& norm,
                       const std::string& positions) {
    return "layers=4 distinct_layers=0 width=" + width +
           " heads=4 kv_heads=0 head_width=0 ffn_width=0 activation=" + feed_forward + " norm=" + norm +
           " block=pre norm_epsilon=1e-05 positions=" + positions +
           " context=0 attention=dot window=0 bias=yes attention_bias=yes projections=standard attention_output=yes "
           "head_norm=no head_gates=no input_mix=no zero_outputs=no layer_dropout=0 vocab_size=0 "
           "sequence_length=0 dropout=0 segments=0 embedding_norm=no tie_embeddings=yes";
  };
  const auto fields = [](const std::string& arch) { return join(FieldList::of(models::ModelConfig::of(arch)), " "); };
  CHECK(fields("decoder") ==
        with("128", "gelu-tanh gated=no", "layer", "rope") + " memory=0 logit_cap=0 fills_masks=no value_embeddings=0");
  CHECK(fields("encoder") ==
        with("256", "silu gated=yes", "rms", "rope") +
            " pooler=no masked_head=yes next_sentence=no embedding_width=0 generator_width=0 generator_layers=0 "
            "value_embeddings=0");
  CHECK(fields("encoder-decoder") ==
        with("128", "gelu-tanh gated=no", "layer", "sinusoidal") +
            " source_vocab_size=0 encoder_layers=0 share_embeddings=yes start_token=-1 scale_logits=no "
            "logit_bias=no");
  CHECK(fields("two-stream") ==
        with("128", "gelu-tanh gated=no", "layer", "transformer-xl") + " relative_segments=yes");
}

TEST_CASE("presets: layers have four times the width inside, gated ones as many parameters (SPEC 3.4)") {
  models::StackConfig config;
  config.width = 96;
  CHECK(config.inner_width() == 384);
  config.gated = true;
  CHECK(config.inner_width() == 256);
  config.width = 97;  // 258.67
  CHECK(config.inner_width() == 288);
  config.width = 1;
  CHECK(config.inner_width() == 32);
  config.ffn_width = 7;
  CHECK(config.inner_width() == 7);
  CHECK(models::EncoderConfig().inner_width() == 704);
}

TEST_CASE("presets: the defaults of the other architectures") {
  const auto fields = [](const std::string& arch) { return join(FieldList::of(models::ModelConfig::of(arch)), " "); };
  CHECK(fields("rnn") ==
        "layers=1 width=256 embedding_width=0 encoder_width=0 readout_width=0 cell=gru source_encoder=recurrent "
        "bidirectional=yes reverse_source=no source_attention=additive context_vector=initial input_feeding=no "
        "readout=auto bias=yes vocab_size=0 sequence_length=0 dropout=0 source_vocab_size=0 encoder_layers=0 "
        "share_embeddings=yes start_token=-1 tie_embeddings=yes orthogonal=no forget_bias=-1000 embedding_init=0");
  CHECK(fields("lstm") ==
        "layers=2 width=128 cell=lstm vocab_size=0 sequence_length=0 dropout=0 tie_embeddings=yes orthogonal=no "
        "forget_bias=-1000 embedding_init=0");
  CHECK(fields("bilm") ==
        "layers=2 width=128 projection=0 cell=lstm skip=yes vocab_size=0 sequence_length=0 dropout=0 "
        "tie_embeddings=yes orthogonal=no forget_bias=-1000 embedding_init=0");
  CHECK(fields("bag") == "width=0 ngrams=2 buckets=0 vocab_size=0 sequence_length=0 dropout=0");
}

TEST_CASE("presets: what every preset changes of its architecture's defaults") {
  const std::vector<std::pair<std::string, std::string>> expected{
      {"nano", "decoder: context=64 bias=no"},
      {"gpt1",
       "decoder: layers=12 width=768 heads=12 block=post positions=learned context=512 vocab_size=40478 dropout=0.1"},
      {"gpt2", "decoder: layers=12 width=768 heads=12 positions=learned context=1024 vocab_size=50257"},
      {"gpt2-medium", "decoder: layers=24 width=1024 heads=16 positions=learned context=1024 vocab_size=50257"},
      {"gpt2-large", "decoder: layers=36 width=1280 heads=20 positions=learned context=1024 vocab_size=50257"},
      {"gpt2-xl", "decoder: layers=48 width=1600 heads=25 positions=learned context=1024 vocab_size=50257"},
      {"gpt3", "decoder: layers=96 width=12288 heads=96 positions=learned context=2048 vocab_size=50257"},
      {"llama-7b",
       "decoder: layers=32 width=4096 heads=32 ffn_width=11008 activation=silu gated=yes norm=rms "
       "norm_epsilon=1e-06 context=2048 bias=no vocab_size=32000 tie_embeddings=no"},
      {"llama3-8b",
       "decoder: layers=32 width=4096 heads=32 kv_heads=8 ffn_width=14336 activation=silu gated=yes "
       "norm=rms positions=rope:base=500000 context=8192 bias=no vocab_size=128256 tie_embeddings=no"},
      {"llama3-70b",
       "decoder: layers=80 width=8192 heads=64 kv_heads=8 ffn_width=28672 activation=silu gated=yes "
       "norm=rms positions=rope:base=500000 context=8192 bias=no vocab_size=128256 tie_embeddings=no"},
      {"llama3-405b",
       "decoder: layers=126 width=16384 heads=128 kv_heads=8 ffn_width=53248 activation=silu gated=yes "
       "norm=rms positions=rope:base=500000 context=8192 bias=no vocab_size=128256 tie_embeddings=no"},
      {"smollm-135m",
       "decoder: layers=30 width=576 heads=9 kv_heads=3 ffn_width=1536 activation=silu gated=yes "
       "norm=rms context=2048 bias=no vocab_size=49152"},
      {"palm-8b",
       "decoder: layers=32 width=4096 heads=16 kv_heads=1 ffn_width=16384 activation=silu gated=yes block=parallel "
       "context=2048 bias=no vocab_size=256000"},
      {"t5-decoder",
       "decoder: layers=6 width=512 heads=8 activation=relu norm=rms norm_epsilon=1e-06 "
       "positions=relative-scalar attention=dot:scale=1 bias=no vocab_size=32128 dropout=0.1"},
      {"transformer-xl-enwik8",
       "decoder: layers=12 width=512 heads=8 ffn_width=2048 activation=relu block=post positions=transformer-xl "
       "attention_bias=no vocab_size=204 sequence_length=512 dropout=0.1 memory=512"},
      {"transformer-xl",
       "decoder: layers=16 width=410 heads=10 ffn_width=2100 activation=relu block=post positions=transformer-xl "
       "attention_bias=no vocab_size=267735 sequence_length=150 dropout=0.1 memory=150"},
      {"small-encoder", "encoder:"},
      {"bert-base",
       "encoder: layers=12 width=768 heads=12 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 "
       "positions=learned "
       "context=512 "
       "vocab_size=30522 dropout=0.1 segments=2 embedding_norm=yes pooler=yes"},
      {"bert-large",
       "encoder: layers=24 width=1024 heads=16 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 "
       "positions=learned "
       "context=512 vocab_size=30522 dropout=0.1 segments=2 embedding_norm=yes pooler=yes"},
      {"roberta-base",
       "encoder: layers=12 width=768 heads=12 activation=gelu gated=no norm=layer block=post "
       "positions=learned:offset=2 "
       "context=512 vocab_size=50265 dropout=0.1 segments=1 embedding_norm=yes pooler=yes"},
      {"bert-base-relative",
       "encoder: layers=12 width=768 heads=12 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 "
       "positions=relative-vector:reach=511 vocab_size=30522 dropout=0.1 segments=2 embedding_norm=yes "
       "pooler=yes"},
      {"deberta-base",
       "encoder: layers=12 width=768 heads=12 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-07 "
       "positions=disentangled vocab_size=50265 dropout=0.1 embedding_norm=yes pooler=yes"},
      {"electra-small",
       "encoder: layers=12 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 positions=learned "
       "context=512 "
       "vocab_size=30522 dropout=0.1 segments=2 embedding_norm=yes embedding_width=128 generator_width=64"},
      {"electra-base",
       "encoder: layers=12 width=768 heads=12 activation=gelu gated=no norm=layer block=post norm_epsilon=1e-12 "
       "positions=learned "
       "context=512 "
       "vocab_size=30522 dropout=0.1 segments=2 embedding_norm=yes generator_width=256"},
      {"xlnet-base",
       "two-stream: layers=12 width=768 heads=12 activation=gelu block=post norm_epsilon=1e-12 attention_bias=no "
       "vocab_size=32000 sequence_length=512 dropout=0.1"},
      {"transformer-base",
       "encoder-decoder: layers=6 width=512 heads=8 ffn_width=2048 activation=relu block=post "
       "attention_bias=no vocab_size=37000 dropout=0.1"},
      {"transformer-big",
       "encoder-decoder: layers=6 width=1024 heads=16 ffn_width=4096 activation=relu block=post "
       "attention_bias=no vocab_size=37000 dropout=0.3"},
      {"t5-small",
       "encoder-decoder: layers=6 width=512 heads=8 activation=relu norm=rms norm_epsilon=1e-06 "
       "positions=relative-scalar attention=dot:scale=1 bias=no vocab_size=32128 dropout=0.1 "
       "start_token=0 scale_logits=yes"},
      {"t5-base",
       "encoder-decoder: layers=12 width=768 heads=12 activation=relu norm=rms norm_epsilon=1e-06 "
       "positions=relative-scalar attention=dot:scale=1 bias=no vocab_size=32128 dropout=0.1 "
       "start_token=0 scale_logits=yes"},
      {"t5-large",
       "encoder-decoder: layers=24 width=1024 heads=16 activation=relu norm=rms norm_epsilon=1e-06 "
       "positions=relative-scalar attention=dot:scale=1 bias=no vocab_size=32128 dropout=0.1 "
       "start_token=0 scale_logits=yes"},
      {"bart-base",
       "encoder-decoder: layers=6 width=768 heads=12 activation=gelu block=post "
       "positions=learned:offset=2 context=1024 vocab_size=50265 dropout=0.1 embedding_norm=yes "
       "start_token=2"},
      {"bart-large",
       "encoder-decoder: layers=12 width=1024 heads=16 activation=gelu block=post "
       "positions=learned:offset=2 context=1024 vocab_size=50265 dropout=0.1 embedding_norm=yes "
       "start_token=2"},
      {"rctm-2013",
       "rnn: cell=tanh source_encoder=convolution bidirectional=no source_attention=none "
       "context_vector=every-step bias=no vocab_size=30000 share_embeddings=no tie_embeddings=no"},
      {"seq2seq-2014",
       "rnn: layers=4 width=1000 cell=lstm bidirectional=no reverse_source=yes source_attention=none "
       "bias=no vocab_size=80000 source_vocab_size=160000 share_embeddings=no tie_embeddings=no"},
      {"rnnsearch-2015",
       "rnn: width=1000 embedding_width=620 encoder_width=2000 readout_width=500 cell=cho bias=no "
       "vocab_size=30000 share_embeddings=no tie_embeddings=no"}};
  std::vector<std::string> names;
  for (const auto& [name, changes] : expected) {
    CAPTURE(name);
    CHECK(changes_of(models::preset(name)) == changes);
    names.push_back(name);
  }
  CHECK(models::preset_names() == names);
}

TEST_CASE("presets: a model's file spells out what its settings leave to defaults, and says the same") {
  const std::string small = "layers=2,width=16,vocab_size=30";
  const std::vector<std::pair<std::string, std::vector<std::string>>> all{
      {"decoder:heads=2,positions=learned," + small,
       {"kv_heads=2", "head_width=8", "ffn_width=64", "context=64", "sequence_length=64"}},
      {"decoder:heads=4,kv_heads=2,positions=rope,sequence_length=8," + small,
       {"kv_heads=2", "head_width=4", "context=0", "sequence_length=8"}},
      {"encoder:heads=2," + small, {"kv_heads=2", "head_width=8", "ffn_width=64", "sequence_length=64"}},
      {"encoder-decoder:heads=2," + small,
       {"kv_heads=2", "head_width=8", "ffn_width=64", "encoder_layers=2", "source_vocab_size=30",
        "sequence_length=64"}},
      {"rnn:" + small, {"embedding_width=16", "source_vocab_size=0", "sequence_length=64"}},
      {"lstm:" + small, {"sequence_length=64"}}};
  for (const auto& [text, wanted] : all) {
    CAPTURE(text);
    models::ModelConfig spelled(models::ModelConfig::from(text));
    spelled->spell_out();
    const std::vector<std::string> fields = FieldList::of(spelled);
    for (const std::string& field : wanted) {
      CAPTURE(field);
      CHECK(std::find(fields.begin(), fields.end(), field) != fields.end());
    }
    models::ModelConfig again = spelled;
    again->spell_out();
    CHECK(FieldList::of(again) == fields);
    const auto model = models::make_model(models::ModelConfig::from(text), 1), same = models::make_model(spelled, 1);
    REQUIRE(model->parameters().all().size() == same->parameters().all().size());
    for (const Parameter& parameter : model->parameters().all()) {
      REQUIRE(same->parameters().find(parameter.name) != nullptr);
      CHECK(same->parameters().find(parameter.name)->value().shape() == parameter.value().shape());
    }
  }
}

TEST_CASE("presets: new matrices are drawn so that outputs of many layers add up to the variance of one") {
  const auto stddev_of = [](const std::string& text, const std::string& name) {
    const auto model = models::make_model(models::ModelConfig::from(text), 1);
    const Tensor& weight = model->parameters().find(name)->value();
    double squares = 0;
    for (Index i = 0; i < weight.size(); ++i)
      squares += static_cast<double>(weight[i]) * static_cast<double>(weight[i]);
    return std::sqrt(squares / static_cast<double>(weight.size()));
  };
  const std::string shape = "decoder:width=64,heads=2,vocab_size=30,layers=";
  const double input = stddev_of(shape + "8", "decoder/7/attention/query/weight");
  for (const auto& [layers, factor] : {std::pair{"1", 2.0}, std::pair{"8", 16.0}}) {
    for (const std::string name : {"decoder/0/attention/output/weight", "decoder/0/feed_forward/down/weight"}) {
      CAPTURE(name);
      CHECK(stddev_of(shape + layers, name) == doctest::Approx(input / std::sqrt(factor)).epsilon(0.05));
    }
  }
}

}  // namespace presets_tests
