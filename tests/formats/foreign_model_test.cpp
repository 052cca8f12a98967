// GPT-2 in Hugging Face's directories, and what is the same for all models in them.
#include <cstdint>
#include <cstring>

#include "formats/foreign_models.hpp"
#include "formats/golden.hpp"
#include "formats/huggingface/foreign_tokenizer.hpp"
#include "formats/samples.hpp"
#include "libcore/models/decoder.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

models::DecoderConfig& decoder_config(ModelParts& parts) {
  REQUIRE(parts.config.as<models::DecoderConfig>() != nullptr);
  return *parts.config.as<models::DecoderConfig>();
}

json safetensors_header(const std::string& path) {
  const std::string bytes = read_bytes(path);
  std::uint64_t length = 0;
  REQUIRE(bytes.size() > sizeof(length));
  std::memcpy(&length, bytes.data(), sizeof(length));
  return json::parse(bytes.substr(sizeof(length), length));
}

}  // namespace

TEST_CASE("GPT-2 from a directory: likelihoods and greedy text are PyTorch's") {
  for (const std::string& path : fixtures("gpt2")) {
    CAPTURE(path);
    ModelParts parts = read(path);
    const auto model = build(parts);
    const text::Tokenizer tokenizer(parts.tokenizer);
    const json expected = json::parse(read_bytes(path + "/expected.json"));
    for (const json& line : expected["lines"]) {
      std::vector<TokenId> ids = tokenizer.encode(line["text"].get<std::string>());
      ids.resize(std::min(ids.size(), static_cast<std::size_t>(decoder_config(parts).context)));
      REQUIRE(ids == line["ids"].get<std::vector<TokenId>>());
      const auto rows = log_probabilities(*model, ids);
      double sum = 0;
      for (std::size_t t = 1; t < ids.size(); ++t) sum += rows[t - 1][static_cast<std::size_t>(ids[t])];
      CHECK(sum == doctest::Approx(line["log_likelihood"].get<double>()).epsilon(1e-5));
      for (const json& top : line["last_logprobs_top5"]) {
        CHECK(rows.back()[top[0].get<std::size_t>()] == doctest::Approx(top[1].get<double>()).epsilon(1e-5));
      }
    }
    std::vector<TokenId> ids = tokenizer.encode(expected["greedy"]["prompt"].get<std::string>());
    for (const json& next : expected["greedy"]["ids"]) {
      const std::vector<double> row = log_probabilities(*model, ids).back();
      CHECK(std::ranges::max_element(row) - row.begin() == next.get<Index>());
      ids.push_back(next.get<TokenId>());
    }
  }
}

TEST_CASE("GPT-2 to a directory and back: the same weights to the bit, the same tokenizer") {
  for (const std::string& path : fixtures("gpt2")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const TemporaryFolder folder;
    write_model_directory(folder.path().string(), parts, WeightType::keep);
    CHECK(equal(read(folder.path().string()), parts));
    // Hugging Face's own names of the tensors, and their elements.
    std::map<std::string, Tensor> original;
    for (const Safetensor& tensor : read_safetensors(path + "/model.safetensors")) {
      original.emplace(tensor.name, to_tensor(tensor));
    }
    const std::vector<Safetensor> written = read_safetensors(folder.file("model.safetensors"));
    CHECK(written.size() == original.size());
    for (const Safetensor& tensor : written) {
      REQUIRE(tensor.name.starts_with("transformer."));
      const Tensor& before = original.at(tensor.name.substr(std::string("transformer.").size()));
      CHECK(tensor.shape == before.shape().extents());
      CHECK(to_tensor(tensor).elements() == before.elements());
    }
  }
}

TEST_CASE("GPT-2 to a directory: what other programs need beside the weights") {
  for (const std::string& path : fixtures("gpt2")) {
    CAPTURE(path);
    const TemporaryFolder folder;
    write_model_directory(folder.path().string(), read(path), WeightType::keep);
    // Transformers refuses weights without this entry.
    CHECK(safetensors_header(folder.file("model.safetensors"))["__metadata__"] == json{{"format", "pt"}});
    const json before = json::parse(read_bytes(path + "/config.json"));
    json after = json::parse(read_bytes(folder.file("config.json")));
    REQUIRE(before.contains("bos_token_id"));
    REQUIRE(before.contains("eos_token_id"));
    for (const auto& [name, value] : before.items()) {
      CAPTURE(name);
      CHECK(after[name] == value);
    }
    json roles = json::parse(read_bytes(folder.file("tokenizer_config.json")));
    CHECK(roles["tokenizer_class"] == "GPT2Tokenizer");
    for (const char* role : {"bos_token", "eos_token", "unk_token"}) CHECK(roles[role] == "<|endoftext|>");
    for (const char* role : {"cls_token", "sep_token", "mask_token", "pad_token"}) CHECK(roles[role].is_null());
  }
}

TEST_CASE("model directories: weights of other types") {
  const ModelParts parts = read(fixture("gpt2-wide"));
  const std::map<WeightType, std::string> names_in_torch{{WeightType::f32, "float32"},
                                                         {WeightType::f16, "float16"},
                                                         {WeightType::bf16, "bfloat16"},
                                                         {WeightType::int8, "float32"}};
  for (const auto& [type, name] : names_in_torch) {
    CAPTURE(name);
    ModelParts rounded = parts;
    for (NamedTensor& weight : rounded.weights) weight.value = convert(weight.value, type);
    const TemporaryFolder folder;
    write_model_directory(folder.path().string(), rounded, type);
    CHECK(equal(read(folder.path().string()), rounded));
    CHECK(json::parse(read_bytes(folder.file("config.json"))).at("torch_dtype") == name);
    if (type == WeightType::bf16) {  // as they are
      const TemporaryFolder kept;
      write_model_directory(kept.path().string(), rounded, WeightType::keep);
      CHECK(json::parse(read_bytes(kept.file("config.json"))).at("torch_dtype") == name);
    }
    for (const Safetensor& tensor : read_safetensors(folder.file("model.safetensors"))) {
      const Safetype matrices = type == WeightType::f16    ? Safetype::f16
                                : type == WeightType::bf16 ? Safetype::bf16
                                                           : Safetype::f32;
      CHECK(tensor.type == (tensor.shape.size() == 2 ? matrices : Safetype::f32));
    }
  }
}

TEST_CASE("model directories: names with and without prefix, an untied head, buffers and copies") {
  const ModelParts parts = read(fixture("gpt2-narrow"));
  const Copy copy("gpt2-narrow");
  copy.change([](Copy::Tensors& tensors) {
    Copy::Tensors others;
    for (const auto& [name, tensor] : tensors) others.emplace("transformer." + name, tensor);
    others.emplace("transformer.h.2.attn.bias", Tensor({1, 1, 32, 32}, Real(1)));
    others.emplace("transformer.h.0.attn.masked_bias", Tensor(Shape{}, Real(-1e4)));
    others.emplace("lm_head.weight", tensors.at("wte.weight"));
    tensors = others;
  });
  CHECK(equal(read(copy.path()), parts));
  copy.change([](Copy::Tensors& tensors) { tensors["lm_head.weight"] = random_tensor({267, 8}, 3); });
  CHECK(contains(copy.problem(), "has tensors that should be equal: lm_head.weight and transformer.wte.weight"));
  copy.set("tie_word_embeddings", false);
  ModelParts untied = read(copy.path());
  CHECK_FALSE(decoder_config(untied).tie_embeddings);
  CHECK(untied.weights.back().name == "head/weight");
  CHECK(untied.weights.back().value.elements() == random_tensor({267, 8}, 3).elements());
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), untied, WeightType::keep);
  CHECK(equal(read(folder.path().string()), untied));
}

TEST_CASE("model directories: tensors that do not fit are named") {
  const Copy copy("gpt2-narrow");
  copy.change([](Copy::Tensors& tensors) {
    tensors.erase("h.1.ln_1.bias");
    tensors["wpe.weight"] = Tensor({16, 8}, Real(0));
    tensors["h.0.attn.c_attn.weight"] = Tensor({24, 8}, Real(0));
    tensors["h.3.ln_1.bias"] = Tensor({8}, Real(0));
    tensors["extra\n"] = Tensor({8}, Real(0));
  });
  CHECK(copy.problem() ==
        ": lacks transformer.h.1.ln_1.bias; has in another shape: wpe.weight [16, 8] instead of [32, 8], "
        "h.0.attn.c_attn.weight [24, 8] instead of [8, 24]; has tensors that heddle does not support: 'extra\\n', "
        "'h.3.ln_1.bias'");
  copy.change([](Copy::Tensors& tensors) { tensors = {{"wte.weight", Tensor({267, 8}, Real(0))}}; });
  CHECK(copy.problem().ends_with("transformer.h.0.attn.c_attn.weight, transformer.h.0.attn.c_attn.bias and 34 more"));
  copy.change([](Copy::Tensors& tensors) { tensors["transformer.wte.weight"] = Tensor({267, 8}, Real(0)); });
  CHECK(contains(copy.problem(), "'wte.weight' and 'transformer.wte.weight' are the same tensor"));
}

TEST_CASE("model directories: what heddle cannot express is an error that names the field") {
  struct Case {
    const char* field;
    json value;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"model_type", "llama", "model_type: is 'llama'; heddle supports gpt2, bert, roberta, t5, bart, marian"},
      {"model_type", nullptr, "model_type: must be text"},
      {"activation_function", "mish", "activation_function: is 'mish'; heddle supports relu, gelu, gelu_new"},
      {"scale_attn_by_inverse_layer_idx", true, "scale_attn_by_inverse_layer_idx: is true"},
      {"scale_attn_weights", false, "scale_attn_weights: is false"},
      {"add_cross_attention", true, "add_cross_attention: is true"},
      {"n_layer", -1, "n_layer: must be a whole number"},
      {"n_layer", 1'000'000, "config.json: layers = 1000000 must be from 0 to 10000"},
      {"n_embd", nullptr, "n_embd: must be a whole number"},
      {"n_head", 3, "config.json: width = 8 is not divisible by heads = 3"},
      {"n_embd", 1 << 30, "config.json: width = 1073741824 must be"},
      {"n_inner", 16, "has in another shape: h.0.mlp.c_fc.weight [8, 32] instead of [8, 16]"},
      {"vocab_size", 266, "the tokenizer has 267 pieces and config.json says vocab_size = 266"},
      {"layer_norm_epsilon", "small", "layer_norm_epsilon: must be a number"},
      {"layer_norm_epsilon", 0, "config.json: norm_epsilon = 0 must be"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.field);
    CAPTURE(one.value);
    const Copy copy("gpt2-narrow");
    copy.set(one.field, one.value);
    CHECK_MESSAGE(contains(copy.problem(), one.expected), copy.problem());
  }
  const Copy copy("gpt2-narrow");
  copy.set("activation_function", "relu");
  copy.set("n_inner", nullptr);
  copy.set("resid_pdrop", 0.25);
  ModelParts parts = read(copy.path());
  const models::DecoderConfig& config = decoder_config(parts);
  CHECK(config.activation == "relu");
  CHECK(config.inner_width() == 32);
  CHECK(config.dropout == 0.25);
  write_bytes(copy.file("config.json"), "{\n\"model_type\": ");
  CHECK(contains(copy.problem(), "config.json:2: not valid JSON"));
  std::filesystem::remove(copy.file("config.json"));
  CHECK_FALSE(is_model_directory(copy.path()));
}

TEST_CASE("model directories: a model without biases gets zeros; what the format lacks is named") {
  ModelParts parts = read(fixture("gpt2-narrow"));
  std::erase_if(parts.weights, [](const NamedTensor& weight) { return weight.name.ends_with("/bias"); });
  decoder_config(parts).bias = false;
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), parts, WeightType::keep);
  ModelParts again = read(folder.path().string());
  CHECK(decoder_config(again).bias);
  const std::vector<TokenId> ids{1, 2, 3, 4, 5, 6};
  CHECK(log_probabilities(*build(again), ids) == log_probabilities(*build(parts), ids));

  const auto problem = [&](const std::function<void(ModelParts&)>& change) {
    ModelParts other = parts;
    change(other);
    const TemporaryFolder target;
    return message_of([&] { write_model_directory(target.path().string(), other, WeightType::keep); });
  };
  CHECK(contains(problem([](ModelParts& p) { decoder_config(p).window = 8; }), "gpt2 has no window = 8"));
  decoder_config(parts).zero_outputs = true;  // how training began
  const TemporaryFolder begun;
  write_model_directory(begun.path().string(), parts, WeightType::keep);
  CHECK(log_probabilities(*build(read(begun.path().string())), ids) == log_probabilities(*build(parts), ids));
  CHECK(contains(problem([](ModelParts& p) {
                   decoder_config(p).norm = "rms";
                   decoder_config(p).positions = "sinusoidal";
                 }),
                 "gpt2 has no norm = rms, positions = sinusoidal"));
  CHECK(contains(problem([](ModelParts& p) { p.tokenizer = byte_tokenizer_model(); }),
                 "a byte tokenizer cannot be written as tokenizer.json"));
}

TEST_CASE("model directories: the tokenizers of GPT-2, BERT and RoBERTa, written and read") {
  const std::string data = shared_tokenizers();
  if (data.empty()) return;
  const std::string text = "Héllo <mask> [MASK]  world, it's 2024!\n\t naïve 你好 <|endoftext|> <s> 🙂";
  for (const char* name : {"gpt2", "bert-base-uncased", "bert-base-cased", "roberta-base"}) {
    CAPTURE(name);
    const text::TokenizerModel model = read_shared(data, name);
    const TemporaryFolder folder;
    write_directory_tokenizer(folder.path().string(), model);
    CHECK(read_directory_tokenizers(folder.path().string()).target == model);
    // The file that older programs read.
    std::filesystem::remove(folder.file("tokenizer.json"));
    const text::Tokenizer older(read_directory_tokenizers(folder.path().string()).target);
    CHECK(older.encode(text) == text::Tokenizer(model).encode(text));
    CHECK(older.model().mask == model.mask);
    CHECK(older.model().classification == model.classification);
    CHECK(older.model().end_of_text == model.end_of_text);
  }
}
