// Models in Hugging Face's directories. Those in huggingface/ come with what PyTorch computes from them.
#include "heddle/formats/foreign_model.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/files.hpp"
#include "formats/samples.hpp"
#include "heddle/formats/load_model.hpp"
#include "heddle/formats/safetensors.hpp"
#include "heddle/formats/text_archive.hpp"
#include "heddle/formats/tokenizer_file.hpp"
#include "heddle/models/decoder.hpp"
#include "heddle/models/encoder.hpp"
#include "heddle/text/spelling.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

std::vector<std::string> fixtures(const std::string& beginning) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_HUGGINGFACE)) {
    if (entry.path().filename().string().starts_with(beginning)) paths.push_back(entry.path());
  }
  REQUIRE(paths.size() >= 3);
  return paths;
}

std::string fixture(const std::string& name) { return std::string(HEDDLE_HUGGINGFACE) + "/" + name; }

ModelParts read(const std::string& path) {
  std::vector<std::string> files;
  return read_model_directory(path, files);
}

template <class Model>
Model build(const ModelParts& parts) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : parts.weights) values.emplace(name, tensor);
  return {parts.config, ParameterSource::given([&](const Declaration& declaration) {
            std::vector<Real> elements;
            for (const std::string& name : declaration.names) {
              const std::vector<Real> part = values.at(name).elements();
              elements.insert(elements.end(), part.begin(), part.end());
            }
            return Tensor(declaration.stacked_shape(), elements);
          })};
}

Variable hidden_states(const models::Model& model, const std::vector<TokenId>& ids) {
  return model.hidden(TokenIds({1, static_cast<Index>(ids.size())}, ids));
}

std::vector<std::vector<double>> log_softmax(const Tensor& logits) {
  const Index vocab = logits.shape()[-1];
  std::vector<std::vector<double>> rows(static_cast<std::size_t>(logits.shape()[1]));
  for (std::size_t t = 0; t < rows.size(); ++t) {
    const Real* row = logits.data() + static_cast<Index>(t) * vocab;
    double sum = 0;
    for (Index i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(row[i]));
    for (Index i = 0; i < vocab; ++i) rows[t].push_back(row[i] - std::log(sum));
  }
  return rows;
}

// Logarithms of the probabilities of every token after each position, or at it: [time, vocab].
std::vector<std::vector<double>> log_probabilities(const models::Decoder& model, const std::vector<TokenId>& ids) {
  return log_softmax(model.logits(hidden_states(model, ids)).value());
}
std::vector<std::vector<double>> log_probabilities(const models::Encoder& model, const std::vector<TokenId>& ids) {
  return log_softmax(model.head()(hidden_states(model, ids)).value());
}

// A copy of a fixture that tests change.
class Copy {
 public:
  explicit Copy(const std::string& name) {
    std::filesystem::copy(fixture(name), folder_.path(), std::filesystem::copy_options::recursive);
  }

  std::string path() const { return folder_.path().string(); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  void set(const char* field, const json& value) const {
    json config = json::parse(read_bytes(file("config.json")));
    config[field] = value;
    write_bytes(file("config.json"), config.dump());
  }
  using Tensors = std::map<std::string, Tensor>;
  void change(const std::function<void(Tensors&)>& change) const {
    Tensors tensors;
    for (const Safetensor& tensor : read_safetensors(file("model.safetensors"))) {
      tensors.emplace(tensor.name, to_tensor(tensor));
    }
    change(tensors);
    std::vector<SafetensorOutput> outputs;
    for (const auto& [name, tensor] : tensors) outputs.push_back({name, tensor, Safetype::f32});
    write_safetensors(file("model.safetensors"), outputs, {});
  }
  void rename(const std::function<std::string(std::string)>& new_name) const {
    change([&](Tensors& tensors) {
      Tensors others;
      for (const auto& [name, tensor] : tensors) others.emplace(new_name(name), tensor);
      tensors = others;
    });
  }
  // What reading it says, without the directory's name.
  std::string problem() const {
    const std::string message = message_of([&] { read(path()); });
    return message.starts_with(path()) ? message.substr(path().size()) : message;
  }

 private:
  TemporaryFolder folder_;
};

bool equal(const ModelParts& a, const ModelParts& b) {
  return to_text(a.config) == to_text(b.config) && a.tokenizer == b.tokenizer &&
         std::ranges::equal(a.weights, b.weights, [](const NamedTensor& x, const NamedTensor& y) {
           return x.name == y.name && x.value.shape() == y.value.shape() && x.value.elements() == y.value.elements();
         });
}

}  // namespace

TEST_CASE("GPT-2 from a directory: likelihoods and greedy text are PyTorch's") {
  for (const std::string& path : fixtures("gpt2")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const auto model = build<models::Decoder>(parts);
    const text::Tokenizer tokenizer(parts.tokenizer);
    const json expected = json::parse(read_bytes(path + "/expected.json"));
    for (const json& line : expected["lines"]) {
      std::vector<TokenId> ids = tokenizer.encode(line["text"].get<std::string>());
      ids.resize(std::min(ids.size(), static_cast<std::size_t>(parts.config.context)));
      REQUIRE(ids == line["ids"].get<std::vector<TokenId>>());
      const auto rows = log_probabilities(model, ids);
      double sum = 0;
      for (std::size_t t = 1; t < ids.size(); ++t) sum += rows[t - 1][static_cast<std::size_t>(ids[t])];
      CHECK(sum == doctest::Approx(line["log_likelihood"].get<double>()).epsilon(1e-5));
      for (const json& top : line["last_logprobs_top5"]) {
        CHECK(rows.back()[top[0].get<std::size_t>()] == doctest::Approx(top[1].get<double>()).epsilon(1e-5));
      }
    }
    std::vector<TokenId> ids = tokenizer.encode(expected["greedy"]["prompt"].get<std::string>());
    for (const json& next : expected["greedy"]["ids"]) {
      const std::vector<double> row = log_probabilities(model, ids).back();
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

TEST_CASE("model directories: weights of other types") {
  const ModelParts parts = read(fixture("gpt2-wide"));
  for (const WeightType type : {WeightType::f16, WeightType::bf16, WeightType::int8}) {
    CAPTURE(to_text(type));
    ModelParts rounded = parts;
    for (NamedTensor& weight : rounded.weights) weight.value = convert(weight.value, type);
    const TemporaryFolder folder;
    write_model_directory(folder.path().string(), rounded, type);
    CHECK(equal(read(folder.path().string()), rounded));
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
  const ModelParts untied = read(copy.path());
  CHECK_FALSE(untied.config.tie_embeddings);
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
        "h.0.attn.c_attn.weight [24, 8] instead of [8, 24]; has tensors that heddle does not know: 'extra\\n', "
        "'h.3.ln_1.bias'");
  copy.change([](Copy::Tensors& tensors) { tensors = {{"wte.weight", Tensor({267, 8}, Real(0))}}; });
  CHECK(copy.problem().ends_with("transformer.h.0.attn.c_attn.weight, transformer.h.0.attn.c_attn.bias and 34 more"));
  copy.change([](Copy::Tensors& tensors) {
    tensors["transformer.wte.weight"] = Tensor({267, 8}, Real(0));
  });
  CHECK(contains(copy.problem(), "'wte.weight' and 'transformer.wte.weight' are the same tensor"));
}

TEST_CASE("model directories: what heddle cannot express is an error that names the field") {
  struct Case {
    const char* field;
    json value;
    std::string expected;
  };
  const std::vector<Case> cases{
      {"model_type", "llama", "model_type: is 'llama'; heddle has gpt2, bert, roberta"},
      {"model_type", nullptr, "model_type: must be text"},
      {"activation_function", "mish", "activation_function: is 'mish'; heddle has relu, gelu, gelu_new"},
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
  const models::ModelConfig config = read(copy.path()).config;
  CHECK(config.activation == Activation::relu);
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
  parts.config.bias = false;
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), parts, WeightType::keep);
  const ModelParts again = read(folder.path().string());
  CHECK(again.config.bias);
  const std::vector<TokenId> ids{1, 2, 3, 4, 5, 6};
  CHECK(log_probabilities(build<models::Decoder>(again), ids) ==
        log_probabilities(build<models::Decoder>(parts), ids));

  const auto problem = [&](const std::function<void(ModelParts&)>& change) {
    ModelParts other = parts;
    change(other);
    const TemporaryFolder target;
    return message_of([&] { write_model_directory(target.path().string(), other, WeightType::keep); });
  };
  CHECK(contains(problem([](ModelParts& p) { p.config.window = 8; }), "gpt2 has no window = 8"));
  CHECK(contains(problem([](ModelParts& p) {
                   p.config.norm = NormKind::rms;
                   p.config.positions = PositionKind::sinusoidal;
                 }),
                 "gpt2 has no norm = rms, positions = sinusoidal"));
  CHECK(contains(problem([](ModelParts& p) { p.tokenizer = byte_tokenizer_model(); }),
                 "a byte tokenizer cannot be written as tokenizer.json"));
}

TEST_CASE("BERT from a directory: pieces, hidden states and filled-in words are PyTorch's") {
  for (const std::string& path : fixtures("bert")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const auto model = build<models::Encoder>(parts);
    const text::Tokenizer tokenizer(parts.tokenizer);
    for (const json& line : json::parse(read_bytes(path + "/expected.json"))) {
      std::vector<TokenId> ids = tokenizer.encode(line["text"].get<std::string>());
      ids.insert(ids.begin(), static_cast<TokenId>(parts.tokenizer.classification));
      ids.push_back(static_cast<TokenId>(parts.tokenizer.separator));
      REQUIRE(ids == line["ids"].get<std::vector<TokenId>>());
      std::vector<std::string> pieces;
      for (const TokenId id : ids) pieces.push_back(tokenizer.piece(id));
      CHECK(pieces == line["pieces"].get<std::vector<std::string>>());
      const Tensor hidden = hidden_states(model, ids).value();
      for (std::size_t i = 0; i < line["cls"].size(); ++i) {
        CHECK(std::abs(hidden[static_cast<Index>(i)] - line["cls"][i].get<double>()) < 1e-5);
      }
      const auto rows = log_probabilities(model, ids);
      for (const json& mask : line["masks"]) {
        for (const json& top : mask["top5"]) {
          const auto id = static_cast<std::size_t>(tokenizer.id_of(top[0].get<std::string>()).value());
          CHECK(std::exp(rows[mask["position"].get<std::size_t>()][id]) ==
                doctest::Approx(top[1].get<double>()).epsilon(1e-5));
        }
      }
    }
  }
}

TEST_CASE("BERT to a directory and back: the same weights to the bit, the same names") {
  for (const std::string& path : fixtures("bert")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const TemporaryFolder folder;
    write_model_directory(folder.path().string(), parts, WeightType::keep);
    CHECK(equal(read(folder.path().string()), parts));
    std::map<std::string, std::vector<Real>> original, written;
    for (const Safetensor& tensor : read_safetensors(path + "/model.safetensors")) {
      original.emplace(tensor.name, to_tensor(tensor).elements());
    }
    for (const Safetensor& tensor : read_safetensors(folder.file("model.safetensors"))) {
      written.emplace(tensor.name, to_tensor(tensor).elements());
    }
    CHECK(written == original);
  }
}

TEST_CASE("BERT: older names, buffers, a pooler, a next sentence; without the prefix") {
  const ModelParts parts = read(fixture("bert-narrow"));
  CHECK_FALSE(parts.config.pooler);
  const Copy copy("bert-narrow");
  copy.rename([](std::string name) {
    const std::string norm = "LayerNorm.";
    if (const auto at = name.find(norm); at != name.npos) {
      name = name.substr(0, at + norm.size()) + (name.ends_with("weight") ? "gamma" : "beta");
    }
    return name.starts_with("bert.") ? name.substr(5) : name;
  });
  copy.change([](Copy::Tensors& tensors) {
    tensors.emplace("embeddings.position_ids", Tensor({1, 32}, Real(0)));
    tensors.emplace("cls.predictions.decoder.weight", tensors.at("embeddings.word_embeddings.weight"));
    tensors.emplace("cls.predictions.decoder.bias", tensors.at("cls.predictions.bias"));
  });
  CHECK(equal(read(copy.path()), parts));
  copy.change([](Copy::Tensors& tensors) {
    tensors["pooler.dense.weight"] = random_tensor({8, 8}, 1);
    tensors["pooler.dense.bias"] = random_tensor({8}, 2);
    tensors["cls.seq_relationship.weight"] = random_tensor({2, 8}, 3);
    tensors["cls.seq_relationship.bias"] = random_tensor({2}, 4);
  });
  const ModelParts whole = read(copy.path());
  CHECK(whole.config.pooler);
  CHECK(whole.config.next_sentence);
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), whole, WeightType::keep);
  CHECK(equal(read(folder.path().string()), whole));
  copy.change([](Copy::Tensors& tensors) { tensors["cls.predictions.decoder.bias"] = random_tensor({105}, 5); });
  CHECK(contains(copy.problem(), "has tensors that should be equal: cls.predictions.decoder.bias"));
}

TEST_CASE("BERT: vocab.txt's capitals, as tokenizer_config.json says") {
  const Copy copy("bert-narrow");
  CHECK(read(copy.path()).tokenizer.lowercase);
  write_bytes(copy.file("tokenizer_config.json"), "{\"do_lower_case\": false}");
  CHECK_FALSE(read(copy.path()).tokenizer.lowercase);
  CHECK_FALSE(read(copy.path()).tokenizer.strip_accents);
  write_bytes(copy.file("tokenizer_config.json"), "{\"do_lower_case\": 1}");
  CHECK(contains(copy.problem(), "tokenizer_config.json: do_lower_case: must be true or false"));
  copy.set("position_embedding_type", "relative_key");
  write_bytes(copy.file("tokenizer_config.json"), "{}");
  CHECK(contains(copy.problem(), "position_embedding_type: is \"relative_key\""));
}

TEST_CASE("RoBERTa: BERT with other names, and positions from 2 on") {
  const Copy copy("bert-wide");
  copy.rename([](std::string name) {
    const std::vector<std::pair<std::string, std::string>> changes{
        {"bert.", "roberta."},
        {"cls.predictions.transform.dense", "lm_head.dense"},
        {"cls.predictions.transform.LayerNorm", "lm_head.layer_norm"},
        {"cls.predictions.bias", "lm_head.bias"}};
    for (const auto& [from, to] : changes) {
      if (name.starts_with(from)) return to + name.substr(from.size());
    }
    return name;
  });
  copy.change([](Copy::Tensors& tensors) {
    const Tensor before = tensors.at("roberta.embeddings.position_embeddings.weight");
    const Tensor after = random_tensor({66, 24}, 1);
    after.narrowed(0, 2, 64).assign(before);
    tensors["roberta.embeddings.position_embeddings.weight"] = after;
    tensors["roberta.embeddings.token_type_embeddings.weight"] =
        tensors.at("roberta.embeddings.token_type_embeddings.weight").narrowed(0, 0, 1);
  });
  copy.set("model_type", "roberta");
  copy.set("max_position_embeddings", 66);
  copy.set("type_vocab_size", 1);
  copy.set("pad_token_id", 1);
  const ModelParts parts = read(copy.path());
  CHECK(parts.config.position_offset == 2);
  CHECK(parts.config.context == 64);
  const std::vector<TokenId> ids{2, 83, 84, 4, 86, 3};
  CHECK(log_probabilities(build<models::Encoder>(parts), ids) ==
        log_probabilities(build<models::Encoder>(read(fixture("bert-wide"))), ids));
  // The padding token of this vocabulary is 0: transformers would begin positions at 1.
  const TemporaryFolder folder;
  CHECK(contains(message_of([&] { write_model_directory(folder.path().string(), parts, WeightType::keep); }),
                 "has no position-offset = 2"));
  copy.set("max_position_embeddings", 1);
  CHECK(contains(copy.problem(), "config.json: context = -1 must be"));
}

TEST_CASE("RoBERTa to a directory and back; its tokenizer from either kind of files") {
  ModelParts parts;
  parts.config = read(fixture("bert-narrow")).config;
  parts.config.segments = 1;
  parts.config.position_offset = 2;
  parts.config.vocab_size = 261;
  parts.config.pooler = true;
  parts.tokenizer.kind = text::TokenizerKind::bpe;
  parts.tokenizer.pieces = {"<s>", "<pad>", "</s>", "<unk>"};
  for (int byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    parts.tokenizer.pieces.push_back(text::spell(text::TokenizerKind::bpe, {&letter, 1}));
  }
  parts.tokenizer.pieces.push_back("<mask>");
  const TemporaryFolder folder;
  write_bytes(folder.file("vocab.json"), [&] {
    json ids;
    for (std::size_t i = 0; i < parts.tokenizer.pieces.size(); ++i) ids[parts.tokenizer.pieces[i]] = i;
    return ids.dump();
  }());
  write_bytes(folder.file("merges.txt"), "#version: 0.2\n");
  parts.tokenizer = load_tokenizer(folder.path().string()).model();
  CHECK(parts.tokenizer.mask == 260);
  CHECK(parts.tokenizer.classification == 0);
  CHECK(parts.tokenizer.separator == 2);
  CHECK(parts.tokenizer.padding == 1);
  const models::Encoder model(parts.config, 1);
  parts.weights = named_tensors(model.parameters());
  write_model_directory(folder.path().string(), parts, WeightType::keep);
  const ModelParts again = read(folder.path().string());
  CHECK(equal(again, parts));
  for (const auto& one : {again.tokenizer, parts.tokenizer}) {
    CHECK(text::Tokenizer(one).encode("a <mask>").size() == 2);
  }
  std::vector<std::string> names;
  for (const Safetensor& tensor : read_safetensors(folder.file("model.safetensors"))) names.push_back(tensor.name);
  for (const char* name : {"roberta.embeddings.token_type_embeddings.weight", "roberta.pooler.dense.weight",
                           "roberta.encoder.layer.2.attention.output.LayerNorm.bias", "lm_head.layer_norm.weight",
                           "lm_head.dense.bias", "lm_head.bias"}) {
    CHECK(std::ranges::count(names, name) == 1);
  }
  CHECK(names.size() == 5 + 3 * 16 + 2 + 5);
}
