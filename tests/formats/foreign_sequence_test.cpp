// T5, BART and Marian in Hugging Face's directories.
#include <set>

#include "formats/foreign_models.hpp"
#include "formats/samples.hpp"
#include "libcore/data/framing.hpp"
#include "libcore/decoding/beam_search.hpp"
#include "libcore/decoding/generate.hpp"
#include "libcore/decoding/score.hpp"
#include "libcore/models/encoder_decoder.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

const std::vector<std::string> families{"t5-", "bart-", "marian-"};

models::EncoderDecoderConfig& config_of(ModelParts& parts) {
  REQUIRE(parts.config.as<models::EncoderDecoderConfig>() != nullptr);
  return *parts.config.as<models::EncoderDecoderConfig>();
}

using Ids = std::vector<TokenId>;
Ids ids_in(const json& list) {
  return list.get<Ids>();
}

std::map<std::string, Safetensor> tensors_in(const std::string& path) {
  std::map<std::string, Safetensor> tensors;
  for (const Safetensor& tensor : read_safetensors(path + "/model.safetensors")) tensors.emplace(tensor.name, tensor);
  return tensors;
}

Ids greedy(const models::Generator& model, const json& pair, Index end, Index vocab) {
  Ids text;
  decoding::generate(model, {ids_in(pair["prompt"])}, 0,
                     {.sampling = {.temperature = 0},
                      .max_tokens = pair["max_tokens"].get<Index>(),
                      .end = static_cast<TokenId>(end),
                      .vocab_size = vocab},
                     [&](Index, const decoding::Choice& token) {
                       text.push_back(token.id);
                       return true;
                     },
                     {ids_in(pair["source_ids"])});
  return text;
}

// Fields that published configurations of a family have and heddle does not write: those of training, and others that
// programs do without.
std::set<std::string> fields_not_written(const std::string& family) {
  std::set<std::string> fields{"attention_dropout", "activation_dropout", "encoder_layerdrop",
                               "decoder_layerdrop", "init_std",           "initializer_factor",
                               "use_cache",         "n_positions",        "forced_eos_token_id"};
  if (family == "marian-") fields.insert("bos_token_id");  // its texts begin with no token
  if (family == "bart-") fields.insert("normalize_embedding");
  return fields;
}

// Written and read again.
ModelParts again(const ModelParts& parts, WeightType type = WeightType::keep) {
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), parts, type);
  return read(folder.path().string());
}

std::string writing_problem(ModelParts parts, const std::function<void(ModelParts&)>& change) {
  change(parts);
  const TemporaryFolder folder;
  return message_of([&] { write_model_directory(folder.path().string(), parts, WeightType::keep); });
}

}  // namespace

TEST_CASE("T5, BART, Marian from directories: ids, likelihoods, greedy and beam search are PyTorch's") {
  for (const std::string& family : families) {
    for (const std::string& path : fixtures(family)) {
      CAPTURE(path);
      const ModelParts parts = read(path);
      const auto model = build(parts);
      const text::Tokenizer tokenizer(parts.tokenizer), of_sources(parts.source_tokenizer.value_or(parts.tokenizer));
      const data::TextFrame frame = data::text_frame(tokenizer, "the test");
      const auto& reader = *model->as<models::SequenceToSequence>();
      const auto& generator = *model->as<models::Generator>();
      const bool padding_is_last = parts.tokenizer.padding == tokenizer.vocab_size() - 1;
      const Index vocab = tokenizer.vocab_size() - (padding_is_last ? 1 : 0);
      for (const json& pair : json::parse(read_bytes(path + "/expected.json"))["pairs"]) {
        const Ids source = frame.around(of_sources.encode(pair["source"].get<std::string>()));
        REQUIRE(source == ids_in(pair["source_ids"]));
        Ids target{reader.start_token().value()};
        if (frame.begin) target.push_back(*frame.begin);
        REQUIRE(target == ids_in(pair["prompt"]));
        const auto from = static_cast<Index>(target.size());
        for (const TokenId id : tokenizer.encode(pair["target"].get<std::string>())) target.push_back(id);
        target.push_back(frame.end);
        REQUIRE(Ids(target.begin() + from, target.end()) == ids_in(pair["target_ids"]));
        const decoding::GivenTokens given{target, from, source};
        const std::vector<double> scores = decoding::token_log_probabilities(reader, std::span(&given, 1)).front();
        for (std::size_t t = 0; t < scores.size(); ++t) {
          CHECK(scores[t] == doctest::Approx(pair["log_probabilities"][t].get<double>()).epsilon(1e-5));
        }
        CHECK(greedy(generator, pair, frame.end, vocab) == ids_in(pair["greedy"]));
        const auto found = decoding::beam_search(generator, {ids_in(pair["prompt"])}, 0,
                                                 {.width = 4,
                                                  .length_penalty = 0.6,
                                                  .max_tokens = pair["max_tokens"].get<Index>(),
                                                  .end = frame.end,
                                                  .vocab_size = vocab},
                                                 {source});
        Ids best;
        for (const decoding::Choice& token : found.front().front().tokens) best.push_back(token.id);
        CHECK(best == ids_in(pair["beam"]));
        CHECK(found.front().front().score == doctest::Approx(pair["beam_score"].get<double>()).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("T5, BART, Marian to directories and back: the same tensors, the same tokenizer, the same configuration") {
  for (const std::string& family : families) {
    for (const std::string& path : fixtures(family)) {
      CAPTURE(path);
      const ModelParts parts = read(path);
      if (parts.source_tokenizer) continue;  // heddle does not write these
      const TemporaryFolder folder;
      write_model_directory(folder.path().string(), parts, WeightType::keep);
      CHECK(equal(read(folder.path().string()), parts));
      const auto original = tensors_in(path), written = tensors_in(folder.path().string());
      CHECK(written.size() == original.size());
      for (const auto& [name, tensor] : written) {
        CAPTURE(name);
        REQUIRE(original.contains(name));
        CHECK(tensor.shape == original.at(name).shape);
        CHECK(std::ranges::equal(tensor.elements, original.at(name).elements));
      }
      // The others are written with the values that they had.
      json roles = json::parse(read_bytes(folder.file("tokenizer_config.json")));
      CHECK(roles["model_input_names"] ==
            (roles["tokenizer_class"] == "PreTrainedTokenizerFast" ? json{"input_ids", "attention_mask"} : json()));
      const json before = json::parse(read_bytes(path + "/config.json"));
      json after = json::parse(read_bytes(folder.file("config.json")));
      const std::set<std::string> left_out = fields_not_written(family);
      for (const auto& [name, value] : before.items()) {
        CAPTURE(name);
        if (after.contains(name) || !left_out.contains(name)) CHECK(after[name] == value);
      }
    }
  }
  ModelParts rounded = read(fixture("bart-scaled"));
  for (NamedTensor& weight : rounded.weights) weight.value = convert(weight.value, WeightType::f16);
  CHECK(equal(again(rounded, WeightType::f16), rounded));
}

TEST_CASE("T5: embeddings that files hold several times, and a table that nothing uses") {
  const ModelParts parts = read(fixture("t5-narrow"));
  const Copy copy("t5-narrow");
  copy.change([](Copy::Tensors& tensors) {
    for (const char* name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}) {
      tensors.emplace(name, tensors.at("shared.weight"));
    }
    tensors.emplace("decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight",
                    random_tensor({32, 2}, 1));
  });
  CHECK(equal(read(copy.path()), parts));
  const Index vocab = parts.config.tokens().vocab_size;
  copy.change([=](Copy::Tensors& tensors) { tensors["lm_head.weight"] = random_tensor({vocab, 16}, 2); });
  CHECK(contains(copy.problem(), "has tensors that should be equal: lm_head.weight and shared.weight"));
  copy.set("tie_word_embeddings", false);
  ModelParts untied = read(copy.path());
  CHECK_FALSE(config_of(untied).tie_embeddings);
  CHECK_FALSE(config_of(untied).scale_logits);
}

TEST_CASE("T5: newer files, whose flag of tied embeddings is not about the output") {
  const Copy gated("t5-gated"), narrow("t5-narrow");
  gated.set("tie_word_embeddings", true);
  gated.set("scale_decoder_outputs", false);
  CHECK(equal(read(gated.path()), read(fixture("t5-gated"))));
  narrow.set("scale_decoder_outputs", true);
  CHECK(equal(read(narrow.path()), read(fixture("t5-narrow"))));
  narrow.set("scale_decoder_outputs", false);
  ModelParts unscaled = read(narrow.path());
  CHECK(config_of(unscaled).tie_embeddings);
  CHECK_FALSE(config_of(unscaled).scale_logits);
}

TEST_CASE("BART and Marian: names without prefix, copies, positions that are computed; a bias of the logits or none") {
  const Copy bart("bart-scaled"), marian("marian-narrow");
  const ModelParts of_bart = read(bart.path()), of_marian = read(marian.path());
  bart.rename([](const std::string& name) { return name.starts_with("model.") ? name.substr(6) : name; });
  bart.change([](Copy::Tensors& tensors) {
    for (const char* name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}) {
      tensors.emplace(name, tensors.at("shared.weight"));
    }
  });
  CHECK(equal(read(bart.path()), of_bart));
  bart.change([](Copy::Tensors& tensors) { tensors.erase("final_logits_bias"); });
  ModelParts unbiased = read(bart.path());
  CHECK_FALSE(config_of(unbiased).logit_bias);
  CHECK(equal(again(unbiased), unbiased));
  bart.change([&](Copy::Tensors& tensors) {  // as published files have it
    tensors["final_logits_bias"] = Tensor({1, unbiased.config.tokens().vocab_size}, Real(0));
  });
  CHECK(equal(read(bart.path()), unbiased));
  marian.change([](Copy::Tensors& tensors) {
    tensors.emplace("model.encoder.embed_positions.weight", random_tensor({96, 16}, 1));
    tensors.emplace("model.decoder.embed_positions.weight", random_tensor({96, 16}, 1));
  });
  CHECK(equal(read(marian.path()), of_marian));
}

TEST_CASE("T5, BART, Marian: tensors that do not fit are named") {
  const Copy copy("t5-gated");
  copy.change([](Copy::Tensors& tensors) {
    tensors.erase("decoder.block.2.layer.1.EncDecAttention.q.weight");
    tensors["encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"] = Tensor({16, 2}, Real(0));
    tensors["encoder.block.0.layer.1.DenseReluDense.wi.weight"] = Tensor({24, 16}, Real(0));
  });
  CHECK(copy.problem() ==
        ": lacks decoder.block.2.layer.1.EncDecAttention.q.weight; has in another shape: "
        "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight [16, 2] instead of [32, 2]; has tensors "
        "that heddle does not support: 'encoder.block.0.layer.1.DenseReluDense.wi.weight'");
  // Gated or not, the other tensors are lacking.
  const Copy plain("t5-gated");
  plain.set("feed_forward_proj", "relu");
  CHECK(contains(plain.problem(), "lacks encoder.block.0.layer.1.DenseReluDense.wi.weight"));
  CHECK(contains(plain.problem(), "does not support: 'decoder.block.0.layer.2.DenseReluDense.wi_0.weight'"));
  const Copy bart("bart-scaled");
  bart.change([](Copy::Tensors& tensors) { tensors["final_logits_bias"] = Tensor({3}, Real(1)); });
  CHECK(contains(bart.problem(), "final_logits_bias [3] instead of [1, "));
}

TEST_CASE("T5, BART, Marian: what heddle cannot express is an error that names the field") {
  struct Case {
    const char* fixture;
    const char* field;
    json value;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"t5-narrow", "feed_forward_proj", "gated-mish", "feed_forward_proj: is 'gated-mish'; heddle supports relu"},
      {"t5-narrow", "is_decoder", true, "is_decoder: is true"},
      {"t5-narrow", "relative_attention_num_buckets", 31, "config.json: relative-scalar:buckets=31 must be"},
      {"t5-narrow", "d_kv", 4, "SelfAttention.q.weight [16, 16] instead of [8, 16]"},
      {"t5-narrow", "d_kv", nullptr, "d_kv: must be a whole number"},
      {"t5-narrow", "num_decoder_layers", 3, "lacks decoder.block.2.layer.0."},
      {"t5-narrow", "decoder_start_token_id", 99999, "start_token = 99999 is outside the vocabulary"},
      {"t5-narrow", "eos_token_id", 5, "eos_token_id: is 5, but the tokenizer ends texts with 1"},
      {"t5-narrow", "vocab_size", 40, "pieces and config.json says vocab_size = 40"},
      {"bart-narrow", "activation_function", "mish", "activation_function: is 'mish'; heddle supports relu"},
      {"bart-narrow", "normalize_before", true, "normalize_before: is true"},
      {"bart-narrow", "normalize_embedding", false, "normalize_embedding: is false"},
      {"bart-narrow", "static_position_embeddings", true, "static_position_embeddings: is true"},
      {"bart-narrow", "add_final_layer_norm", true, "add_final_layer_norm: is true"},
      {"bart-narrow", "decoder_ffn_dim", 32, "decoder_ffn_dim: is 32 and encoder_ffn_dim is 24"},
      {"bart-narrow", "decoder_attention_heads", 4, "decoder_attention_heads: is 4 and encoder_attention_heads is 2"},
      {"bart-narrow", "max_position_embeddings", 95, "embed_positions.weight [98, 16] instead of [97, 16]"},
      {"bart-narrow", "tie_word_embeddings", false, "lacks lm_head.weight"},
      {"marian-narrow", "share_encoder_decoder_embeddings", false, "lacks model.encoder.embed_tokens.weight"},
      {"marian-narrow", "decoder_vocab_size", 12, "is 12 and vocab_size is 45, but share_encoder_decoder_embeddings"},
      {"marian-separate", "share_encoder_decoder_embeddings", true, "but share_encoder_decoder_embeddings is true"},
      {"marian-separate", "vocab_size", 30, "the tokenizer has 39 pieces and the vocabulary of sources 30"},
      {"marian-opus", "eos_token_id", 5, "eos_token_id: is 5, but the tokenizer ends texts with 0"},
      {"marian-narrow", "static_position_embeddings", false, "static_position_embeddings: is false"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.field);
    CAPTURE(one.value);
    const Copy copy(one.fixture);
    copy.set(one.field, one.value);
    CHECK_MESSAGE(contains(copy.problem(), one.expected), copy.problem());
  }
  const Copy copy("marian-narrow");
  std::filesystem::remove(copy.file("tokenizer.json"));
  CHECK(contains(copy.problem(), ": is a directory without a tokenizer"));
  write_bytes(copy.file("source.spm"), "x");
  CHECK(contains(copy.problem(), "/source.spm: heddle reads it beside target.spm and vocab.json"));
  std::filesystem::rename(copy.file("source.spm"), copy.file("sentencepiece.bpe.model"));
  CHECK(contains(copy.problem(), "/sentencepiece.bpe.model: has other ids than the model"));
}

TEST_CASE("Marian: source.spm and target.spm cut texts in two ways into one vocabulary") {
  const ModelParts parts = read(fixture("marian-opus"));
  REQUIRE(parts.source_tokenizer.has_value());
  const text::TokenizerModel &source = *parts.source_tokenizer, &target = parts.tokenizer;
  CHECK(source.pieces == target.pieces);
  CHECK(source.segments != target.segments);
  for (const text::TokenizerModel* model : {&source, &target}) {
    CHECK(model->end_of_text == 0);
    CHECK(model->unknown == 1);
    CHECK(model->padding == static_cast<Index>(model->pieces.size()) - 1);
    CHECK(model->special_tokens.size() == 4);  // and the target's language
  }
  ModelParts separate = read(fixture("marian-separate"));
  CHECK_FALSE(config_of(separate).share_embeddings);
  CHECK(config_of(separate).source_vocab_size == static_cast<Index>(separate.source_tokenizer->pieces.size()));
  CHECK(separate.source_tokenizer->pieces != separate.tokenizer.pieces);

  // The same model of pieces on both sides is one tokenizer.
  const Copy copy("marian-opus");
  write_bytes(copy.file("target.spm"), read_bytes(copy.file("source.spm")));
  CHECK_FALSE(read(copy.path()).source_tokenizer.has_value());
  // Vocabularies must be one where embeddings are shared, and have their special tokens.
  const json ids = json::parse(read_bytes(copy.file("vocab.json")));
  json others = ids;
  others["another"] = ids["s"];
  others.erase("s");
  write_bytes(copy.file("target_vocab.json"), others.dump());
  CHECK(contains(copy.problem(), "tokenizer_config.json: separate_vocabs: is false, but there is a target_vocab.json"));
  std::filesystem::remove(copy.file("tokenizer_config.json"));
  CHECK(contains(copy.problem(), "have vocabularies of their own, but the model shares their embeddings"));
  std::filesystem::remove(copy.file("target_vocab.json"));
  write_bytes(copy.file("tokenizer_config.json"), json{{"separate_vocabs", true}}.dump());
  CHECK(contains(copy.problem(), "separate_vocabs: is true, but there is no target_vocab.json"));
  write_bytes(copy.file("tokenizer_config.json"), "{}");
  CHECK(copy.problem() == "");
  others = ids;
  others["another"] = 0;
  others.erase("</s>");
  write_bytes(copy.file("vocab.json"), others.dump());
  CHECK(contains(copy.problem(), "/vocab.json: lacks </s>"));
  write_bytes(copy.file("vocab.json"), "[]");
  CHECK(contains(copy.problem(), "/vocab.json: is not a JSON object from pieces to ids"));
  write_bytes(copy.file("target.spm"), "\n");
  CHECK(contains(copy.problem(), "/target.spm: at byte 1: "));
}

TEST_CASE("Marian: embeddings of their own, written and read again with one tokenizer; a copy of the output's matrix") {
  ModelParts parts = read(fixture("marian-separate"));
  parts.source_tokenizer.reset();
  parts.tokenizer = read(fixture("marian-narrow")).tokenizer;  // smaller than both vocabularies
  for (NamedTensor& weight : parts.weights) {
    if (contains(weight.name, "encoder/embedding")) weight.value = random_tensor({61, 16}, 1);
  }
  config_of(parts).source_vocab_size = 61;
  ModelParts written = again(parts);
  CHECK(equal(written, parts));
  CHECK(config_of(written).source_vocab_size == 61);
  const Copy copy("marian-separate");
  copy.change([](Copy::Tensors& tensors) {
    tensors.emplace("lm_head.weight", tensors.at("model.decoder.embed_tokens.weight"));
  });
  CHECK(copy.problem() == "");
  copy.change(
      [](Copy::Tensors& tensors) { tensors["lm_head.weight"] = tensors.at("model.encoder.embed_tokens.weight"); });
  CHECK(contains(copy.problem(), "has tensors that should be equal: lm_head.weight and model.decoder.embed_tokens"));
}

TEST_CASE("Marian and BART: fields that a configuration leaves out") {
  for (const auto& [name, field] : {std::pair{"marian-narrow", "share_encoder_decoder_embeddings"},
                                    std::pair{"marian-narrow", "decoder_vocab_size"}}) {
    CAPTURE(field);
    const Copy copy(name);
    copy.set(field, nullptr);
    CHECK(equal(read(copy.path()), read(fixture(name))));
  }
}

TEST_CASE("T5: the fields of a published configuration, which leaves some out") {
  const Copy copy("t5-narrow");
  for (const char* field : {"feed_forward_proj", "num_decoder_layers", "tie_word_embeddings", "dropout_rate",
                            "relative_attention_max_distance", "decoder_start_token_id", "layer_norm_epsilon"}) {
    copy.set(field, nullptr);
  }
  CHECK(equal(read(copy.path()), read(fixture("t5-narrow"))));
  for (const auto& [text, activation, gated] :
       std::vector<std::tuple<std::string, std::string, bool>>{{"relu", "relu", false},
                                                               {"gelu", "gelu", false},
                                                               {"gelu_new", "gelu-tanh", false},
                                                               {"gated-gelu", "gelu-tanh", true},
                                                               {"gated-silu", "silu", true},
                                                               {"gated-relu", "relu", true}}) {
    const Copy other(gated ? "t5-gated" : "t5-narrow");
    other.set("feed_forward_proj", text);
    ModelParts parts = read(other.path());
    CHECK(config_of(parts).activation == activation);
    CHECK(config_of(parts).gated == gated);
    CHECK(equal(again(parts), parts));
  }
}

TEST_CASE("T5, BART, Marian: models of heddle's own, their start token, and what a format lacks") {
  ModelParts bart = read(fixture("bart-narrow"));
  // Biases that are absent become zeros; a start token by default is the one that ends texts, by its id.
  std::erase_if(bart.weights, [](const NamedTensor& weight) {
    return weight.name.ends_with("/bias") && contains(weight.name, "attention/");
  });
  config_of(bart).attention_bias = false;
  config_of(bart).start_token = -1;
  config_of(bart).encoder_layers = 0;
  ModelParts written = again(bart);
  CHECK(config_of(written).attention_bias);
  CHECK(config_of(written).start_token == 2);
  CHECK(config_of(written).encoder_layers == config_of(bart).layers);
  CHECK(contains(writing_problem(bart, [](ModelParts& p) { config_of(p).window = 8; }), "bart has no window = 8"));
  CHECK(contains(writing_problem(bart, [](ModelParts& p) { config_of(p).kv_heads = 1; }), "kv-heads = 1"));
  CHECK(contains(writing_problem(bart, [](ModelParts& p) { p.source_tokenizer = p.tokenizer; }),
                 "the model has a tokenizer of its own for sources"));
  const ModelParts t5 = read(fixture("t5-narrow"));
  // For other programs, texts end as they do here.
  ModelParts own = t5;
  own.tokenizer.separator = own.tokenizer.padding = -1;
  own.tokenizer.special_tokens.erase(std::ranges::find(own.tokenizer.special_tokens, Index{0}));
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), own, WeightType::keep);
  const json single = json::parse(read_bytes(folder.file("tokenizer.json")))["post_processor"]["single"];
  REQUIRE(single.size() == 2);
  CHECK(single[1]["SpecialToken"]["id"] == "</s>");
  CHECK(json::parse(read_bytes(folder.file("config.json")))["pad_token_id"] == 1);
  CHECK(contains(writing_problem(t5, [](ModelParts& p) { config_of(p).attention = "dot"; }),
                 "t5 has no attention = dot"));
  CHECK(contains(writing_problem(t5, [](ModelParts& p) { config_of(p).scale_logits = false; }),
                 "t5 has no scale-logits = false"));
  CHECK(
      contains(writing_problem(t5, [](ModelParts& p) { config_of(p).gated = true, config_of(p).activation = "gelu"; }),
               "t5 has no activation = gelu"));
  own = t5;  // settings that are written out
  config_of(own).positions = "relative-scalar:max-distance=128,buckets=32";
  CHECK(config_of(written = again(own)).positions == "relative-scalar");
  const ModelParts marian = read(fixture("marian-narrow"));
  CHECK(contains(writing_problem(marian, [](ModelParts& p) { config_of(p).positions = "sinusoidal"; }),
                 "marian has no positions = sinusoidal"));
  CHECK(contains(writing_problem(marian, [](ModelParts& p) { config_of(p).norm_epsilon = 1e-6; }),
                 "norm-epsilon = 1e-06"));
}
