// BERT and RoBERTa in Hugging Face's directories.
#include "formats/foreign_models.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/samples.hpp"
#include "libcore/models/encoder.hpp"
#include "libcore/models/task_model.hpp"
#include "libcore/text/spelling.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

const models::EncoderConfig& encoder_config(const ModelParts& parts) {
  REQUIRE(parts.config.as<models::EncoderConfig>() != nullptr);
  return *parts.config.as<models::EncoderConfig>();
}

// Checks the token that a written directory gives to each role.
void check_roles(const TemporaryFolder& folder, const json& expected) {
  json written = json::parse(read_bytes(folder.file("tokenizer_config.json")));
  for (const auto& [role, token] : expected.items()) {
    CAPTURE(role);
    CHECK(written[role] == token);
  }
}

}  // namespace

TEST_CASE("BERT from a directory: pieces, hidden states and filled-in words are PyTorch's") {
  for (const std::string& path : fixtures("bert")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const auto model = build(parts);
    const text::Tokenizer tokenizer(parts.tokenizer);
    for (const json& line : json::parse(read_bytes(path + "/expected.json"))) {
      std::vector<TokenId> ids = tokenizer.encode(line["text"].get<std::string>());
      ids.insert(ids.begin(), static_cast<TokenId>(parts.tokenizer.classification));
      ids.push_back(static_cast<TokenId>(parts.tokenizer.separator));
      REQUIRE(ids == line["ids"].get<std::vector<TokenId>>());
      std::vector<std::string> pieces;
      for (const TokenId id : ids) pieces.push_back(tokenizer.piece(id));
      CHECK(pieces == line["pieces"].get<std::vector<std::string>>());
      const Tensor hidden = hidden_states(*model, ids).value();
      for (std::size_t i = 0; i < line["cls"].size(); ++i) {
        CHECK(std::abs(hidden[static_cast<Index>(i)] - line["cls"][i].get<double>()) < 1e-5);
      }
      const auto rows = log_probabilities(*model, ids);
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
    const json before = json::parse(read_bytes(path + "/config.json"));
    json after = json::parse(read_bytes(folder.file("config.json")));
    for (const auto& [name, value] : before.items()) {
      CAPTURE(name);
      CHECK(after[name] == value);
    }
    check_roles(folder, {{"tokenizer_class", "BertTokenizer"},
                         {"unk_token", "[UNK]"},
                         {"cls_token", "[CLS]"},
                         {"sep_token", "[SEP]"},
                         {"mask_token", "[MASK]"},
                         {"pad_token", "[PAD]"},
                         {"do_lower_case", parts.tokenizer.lowercase},
                         {"strip_accents", parts.tokenizer.strip_accents}});
  }
}

TEST_CASE("BERT: older names, buffers, a pooler, a next sentence; without the prefix") {
  const ModelParts parts = read(fixture("bert-narrow"));
  CHECK_FALSE(encoder_config(parts).pooler);
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
  CHECK(encoder_config(whole).pooler);
  CHECK(encoder_config(whole).next_sentence);
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), whole, WeightType::keep);
  CHECK(equal(read(folder.path().string()), whole));
  copy.change([](Copy::Tensors& tensors) { tensors["cls.predictions.decoder.bias"] = random_tensor({105}, 5); });
  CHECK(contains(copy.problem(), "has tensors that should be equal: cls.predictions.decoder.bias"));
}

namespace {

// BERT's tensors without the head for masked tokens, as most encoders of sentences are published.
void drop_head(Copy::Tensors& tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return tensor.first.starts_with("cls."); });
}

}  // namespace

TEST_CASE("BERT without its head: the same hidden states, no predictions, and back") {
  const Copy copy("bert-narrow");
  const ModelParts with_head = read(copy.path());
  copy.change(drop_head);
  const ModelParts parts = read(copy.path());
  CHECK_FALSE(encoder_config(parts).masked_head);
  CHECK_FALSE(parts.task.has_value());
  const auto model = build(parts);
  CHECK(model->as<models::MaskedPredictor>() == nullptr);
  const std::vector<TokenId> ids{2, 7, 9, 11, 3};
  CHECK(hidden_states(*model, ids).value().elements() == hidden_states(*build(with_head), ids).value().elements());
  const TemporaryFolder folder;
  write_model_directory(folder.path().string(), parts, WeightType::keep);
  CHECK(equal(read(folder.path().string()), parts));
  CHECK(json::parse(read_bytes(folder.file("config.json")))["architectures"] == json{"BertModel"});
}

TEST_CASE("BERT with a classifier of texts: its logits and labels, as loops compute them") {
  const Copy copy("bert-narrow");
  copy.change([](Copy::Tensors& tensors) {
    drop_head(tensors);
    tensors["bert.pooler.dense.weight"] = random_tensor({8, 8}, 1);
    tensors["bert.pooler.dense.bias"] = random_tensor({8}, 2);
    tensors["classifier.weight"] = random_tensor({3, 8}, 3);
    tensors["classifier.bias"] = random_tensor({3}, 4);
  });
  copy.set("architectures", {"BertForSequenceClassification"});
  copy.set("id2label", {{"2", "good"}, {"0", "bad"}, {"1", "so-so"}});
  const ModelParts parts = read(copy.path());
  REQUIRE(parts.task.has_value());
  CHECK(parts.task->task == models::Task::classify);
  CHECK(parts.task->labels == std::vector<std::string>{"bad", "so-so", "good"});
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : parts.weights) values.emplace(name, tensor);
  const ParameterSource source = ParameterSource::given([&](const Declaration& declaration) {
    const Tensor whole(declaration.stacked_shape());
    const Index rows = declaration.shape[0];
    for (std::size_t i = 0; i < declaration.names.size(); ++i) {
      whole.narrowed(0, static_cast<Index>(i) * rows, rows).assign(values.at(declaration.names[i]));
    }
    return whole;
  });
  const models::TaskModel model(models::make_model(parts.config, source), *parts.task);
  const models::Sequences text(TokenIds({1, 5}, {2, 7, 9, 11, 3}));
  const Tensor logits = model.sequence_logits(text).value(), first = model.vectors().hidden(text).value();
  for (Index c = 0; c < 3; ++c) {
    double expected = values.at("task/bias")[c];
    for (Index j = 0; j < 8; ++j) {
      double pooled = values.at("encoder/pooler/bias")[j];
      for (Index i = 0; i < 8; ++i) pooled += values.at("encoder/pooler/weight")[j * 8 + i] * first[i];
      expected += values.at("task/weight")[c * 8 + j] * std::tanh(pooled);
    }
    CHECK(logits[c] == doctest::Approx(expected).epsilon(1e-4));
  }
  copy.set("problem_type", "multi_label_classification");
  CHECK(read(copy.path()).task->task == models::Task::multilabel);
  CHECK(read(copy.path()).task->labels.size() == 3);
  copy.set("problem_type", "ranking");
  CHECK(contains(copy.problem(), "config.json: problem_type: is \"ranking\""));
  copy.set("problem_type", nullptr);
  copy.set("architectures", {"BertForMultipleChoice"});
  CHECK(contains(copy.problem(), "config.json: architectures: names no model"));
  copy.set("architectures", {"BertForTokenClassification"});
  copy.set("id2label", {{"0", "O"}, {"1", "B-x"}, {"2", "I-x"}});
  CHECK(read(copy.path()).task->task == models::Task::label);
  copy.set("id2label", {{"0", "O"}, {"1", "B-x"}});
  CHECK(contains(copy.problem(), "has in another shape: classifier.weight"));
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
  CHECK(encoder_config(parts).positions == "learned:offset=2");
  CHECK(encoder_config(parts).context == 64);
  const std::vector<TokenId> ids{2, 83, 84, 4, 86, 3};
  CHECK(log_probabilities(*build(parts), ids) == log_probabilities(*build(read(fixture("bert-wide"))), ids));
  // The padding token of this vocabulary is 0: transformers would begin positions at 1.
  const TemporaryFolder folder;
  CHECK(contains(message_of([&] { write_model_directory(folder.path().string(), parts, WeightType::keep); }),
                 "has no positions = learned:offset=2"));
  // Its classifier of texts begins with a layer in the pooler's place.
  copy.change([](Copy::Tensors& tensors) {
    std::erase_if(tensors, [](const auto& tensor) { return tensor.first.starts_with("lm_head."); });
    tensors["classifier.dense.weight"] = random_tensor({24, 24}, 1);
    tensors["classifier.dense.bias"] = random_tensor({24}, 2);
    tensors["classifier.out_proj.weight"] = random_tensor({2, 24}, 3);
    tensors["classifier.out_proj.bias"] = random_tensor({2}, 4);
  });
  copy.set("architectures", {"RobertaForSequenceClassification"});
  const ModelParts classifier = read(copy.path());
  CHECK(encoder_config(classifier).pooler);
  CHECK(classifier.task->labels == std::vector<std::string>{"LABEL_0", "LABEL_1"});
  for (const auto& [name, tensor] : classifier.weights) {
    if (name == "encoder/pooler/weight") CHECK(tensor.elements() == random_tensor({24, 24}, 1).elements());
    if (name == "task/weight") CHECK(tensor.elements() == random_tensor({2, 24}, 3).elements());
  }
  copy.set("max_position_embeddings", 1);
  CHECK(contains(copy.problem(), "config.json: context = -1 must be"));
}

TEST_CASE("RoBERTa to a directory and back; its tokenizer from either kind of files") {
  ModelParts parts;
  models::EncoderConfig config = encoder_config(read(fixture("bert-narrow")));
  config.segments = 1;
  config.positions = "learned:offset=2";
  config.vocab_size = 261;
  config.pooler = true;
  parts.config = config;
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
  CHECK(parts.tokenizer.pair_separators == 2);
  CHECK(parts.tokenizer.padding == 1);
  const models::Encoder model(config, 1);
  parts.weights = named_tensors(model.parameters());
  write_model_directory(folder.path().string(), parts, WeightType::keep);
  const ModelParts again = read(folder.path().string());
  CHECK(equal(again, parts));
  json written = json::parse(read_bytes(folder.file("config.json")));
  CHECK(written["bos_token_id"] == 0);
  CHECK(written["pad_token_id"] == 1);
  CHECK(written["eos_token_id"] == 2);
  check_roles(folder, {{"tokenizer_class", "RobertaTokenizer"},
                       {"bos_token", "<s>"},
                       {"eos_token", "</s>"},
                       {"cls_token", "<s>"},
                       {"sep_token", "</s>"},
                       {"mask_token", "<mask>"},
                       {"pad_token", "<pad>"}});
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
