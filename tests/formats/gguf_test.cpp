// GGUF: the layout of files, what is in them, and models.
#include "formats/gguf/gguf.hpp"

#include <cstdint>
#include <cstring>

#include "formats/foreign_models.hpp"
#include "formats/gguf/gguf_model.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/huggingface/foreign_parts.hpp"
#include "formats/samples.hpp"
#include "libcore/models/decoder.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace gguf_tests {

namespace {

// Bytes as the format's description has them.
template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof(number)};
}
std::string counted(const std::string& text) {
  return bytes_of(static_cast<std::uint64_t>(text.size())) + text;
}
std::string start(std::uint64_t tensors, std::uint64_t values) {
  return "GGUF" + bytes_of(std::uint32_t{3}) + bytes_of(tensors) + bytes_of(values);
}
std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 31) / 32 * 32, '\0');
  return bytes;
}
std::string matrix(const std::string& name, std::uint64_t rows, std::uint64_t columns, std::uint32_t type,
                   std::uint64_t offset) {
  return counted(name) + bytes_of(std::uint32_t{2}) + bytes_of(columns) + bytes_of(rows) + bytes_of(type) +
         bytes_of(offset);
}

const auto unexamined = [](const std::string&) {};

std::string problem_with(const std::string& bytes) {
  const TemporaryFolder folder;
  write_bytes(folder.file("x.gguf"), bytes);
  return message_of([&] {
    const GgufFile file(folder.file("x.gguf"));
    for (const GgufTensor& tensor : file.tensors()) file.tensor(tensor);
  });
}

models::DecoderConfig gpt2_config(Index width) {
  models::DecoderConfig config;
  config.layers = 2;
  config.width = width;
  config.heads = 2;
  config.context = 8;
  config.vocab_size = 300;
  config.positions = "learned";
  config.activation = "gelu-tanh";
  return config;
}

// A byte vocabulary with one merge.
text::TokenizerModel sample_bpe() {
  text::TokenizerModel model = byte_tokenizer_model();
  model.kind = text::TokenizerKind::bpe;
  model.pieces.push_back("th");
  model.merges = {'t', 'h'};
  return model;
}

ModelParts parts_of(const models::DecoderConfig& config, text::TokenizerModel tokenizer) {
  const auto model = models::make_model(config, 3);
  return {config, std::move(tokenizer), named_tensors(model->parameters())};
}

std::string refusal(const ModelParts& parts) {
  const TemporaryFolder folder;
  const std::string problem =
      message_of([&] { write_gguf_model(folder.file("m.gguf"), parts, WeightType::keep, unexamined); });
  CHECK(folder.names().empty() == !problem.empty());
  return problem;
}

}  // namespace

TEST_CASE("gguf: a file is laid out as its description says") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.gguf");
  const Tensor above({1, 3}, {1, 2, 3}), below({1, 3}, {4, 5, 6});
  write_gguf(path, {{"a", Index{7}}, {"b", std::string("x")}}, {{"m", {above, below}, GgufType::f32}}, unexamined);
  std::string expected = start(1, 2) + counted("a") + bytes_of(std::uint32_t{4}) + bytes_of(std::uint32_t{7}) +
                         counted("b") + bytes_of(std::uint32_t{8}) + counted("x") + matrix("m", 2, 3, 0, 0);
  expected = padded(expected);
  for (const float number : {1.F, 2.F, 3.F, 4.F, 5.F, 6.F}) expected += bytes_of(number);
  CHECK(read_bytes(path) == padded(expected));
}

TEST_CASE("gguf: values of all types are read") {
  const TemporaryFolder folder;
  std::string bytes = start(0, 14);
  const auto add = [&](const std::string& key, std::uint32_t type, const std::string& value) {
    bytes += counted(key) + bytes_of(type) + value;
  };
  add("u8", 0, bytes_of(std::uint8_t{200}));
  add("i8", 1, bytes_of(std::int8_t{-3}));
  add("u16", 2, bytes_of(std::uint16_t{60000}));
  add("i16", 3, bytes_of(std::int16_t{-300}));
  add("u32", 4, bytes_of(std::uint32_t{4000000000}));
  add("i32", 5, bytes_of(std::int32_t{-70000}));
  add("f32", 6, bytes_of(0.5F));
  add("flag", 7, bytes_of(std::uint8_t{1}));
  add("text", 8, counted("ab"));
  add("u64", 10, bytes_of(std::uint64_t{1} << 40));
  add("i64", 11, bytes_of(-(std::int64_t{1} << 40)));
  add("f64", 12, bytes_of(0.1));
  add("texts", 9, bytes_of(std::uint32_t{8}) + bytes_of(std::uint64_t{2}) + counted("a") + counted(""));
  add("numbers", 9, bytes_of(std::uint32_t{1}) + bytes_of(std::uint64_t{2}) + bytes_of(std::int8_t{-1}) + "\x05");
  write_bytes(folder.file("x.gguf"), bytes);
  const GgufFile file(folder.file("x.gguf"));
  CHECK(file.get<Index>("u8") == 200);
  CHECK(file.get<Index>("i8") == -3);
  CHECK(file.get<Index>("u16") == 60000);
  CHECK(file.get<Index>("i16") == -300);
  CHECK(file.get<Index>("u32") == 4000000000);
  CHECK(file.get<Index>("i32") == -70000);
  CHECK(file.get<double>("f32") == 0.5);
  CHECK(file.get<bool>("flag"));
  CHECK(file.get<std::string>("text") == "ab");
  CHECK(file.get<Index>("u64") == Index{1} << 40);
  CHECK(file.get<Index>("i64") == -(Index{1} << 40));
  CHECK(file.get<double>("f64") == 0.1);
  CHECK(file.get<std::vector<std::string>>("texts") == std::vector<std::string>{"a", ""});
  CHECK(file.get<std::vector<Index>>("numbers") == std::vector<Index>{-1, 5});
  CHECK(file.find<Index>("none") == nullptr);
  CHECK(message_of([&] { file.get<Index>("none"); }).ends_with("x.gguf: 'none' is missing"));
  CHECK(message_of([&] { file.get<Index>("text"); }).ends_with("'text' is of another type than heddle expects"));
}

TEST_CASE("gguf: tensors of all types, and where they lie") {
  const TemporaryFolder folder;
  // Q8_0: a scale of 0.5 and the numbers 0, 1, ...; Q4_0: a scale of 2 and bits 8 + 1, 8 + 2.
  std::string q8 = bytes_of(std::uint16_t{0x3800}), q4 = bytes_of(std::uint16_t{0x4000}) + std::string(16, '\xA9');
  for (char i = 0; i < 32; ++i) q8 += i;
  std::string bytes = start(4, 1) + counted("general.alignment") + bytes_of(std::uint32_t{4}) +
                      bytes_of(std::uint32_t{8}) + matrix("f16", 1, 2, 1, 0) + matrix("q4", 1, 32, 2, 8) +
                      matrix("bf16", 1, 2, 30, 32) + matrix("q8", 1, 32, 8, 40);
  bytes.resize((bytes.size() + 7) / 8 * 8, '\0');
  const std::size_t begin = bytes.size();
  bytes += bytes_of(std::uint16_t{0x3C00}) + bytes_of(std::uint16_t{0xC000});
  bytes.resize(begin + 8, '\0');
  bytes += q4;
  bytes.resize(begin + 32, '\0');
  bytes += bytes_of(std::uint16_t{0x3F80}) + bytes_of(std::uint16_t{0xC040});
  bytes.resize(begin + 40, '\0');
  bytes += q8;
  write_bytes(folder.file("x.gguf"), bytes);
  const GgufFile file(folder.file("x.gguf"));
  REQUIRE(file.tensors().size() == 4);
  CHECK(file.tensor(file.tensors()[0]).elements() == std::vector<Real>{1, -2});
  const std::vector<Real> four = file.tensor(file.tensors()[1]).elements();
  CHECK(four.front() == 2);  // lower bits are elements 0 to 15
  CHECK(four.back() == 4);
  CHECK(file.tensor(file.tensors()[2]).elements() == std::vector<Real>{1, -3});
  CHECK(file.tensor(file.tensors()[3]).elements()[31] == Real(15.5));
}

TEST_CASE("gguf: tensors out of order, over one another and apart, with alignments that are no power of two") {
  for (const std::uint32_t alignment : {1U, 12U, 20U, 32U, 64U, 100U}) {
    CAPTURE(alignment);
    const auto after = [&](std::uint64_t bytes) { return (bytes + alignment - 1) / alignment * alignment; };
    // "b" is first among the elements, "c" last, "a" between; "same" has the elements of "a".
    const std::uint64_t b = 0, a = after(12), c = after(a + 8) + alignment;
    std::string bytes = start(4, 2) + counted("general.alignment") + bytes_of(std::uint32_t{4}) + bytes_of(alignment) +
                        counted("x") + bytes_of(std::uint32_t{7}) + std::string(1, '\0') + matrix("c", 2, 1, 0, c) +
                        matrix("a", 1, 2, 0, a) + matrix("same", 2, 1, 0, a) + matrix("b", 1, 3, 0, b);
    bytes.resize(after(bytes.size()), '\0');
    const std::size_t begin = bytes.size();
    bytes += bytes_of(1.F) + bytes_of(2.F) + bytes_of(3.F);
    bytes.resize(begin + a, '\xFF');
    bytes += bytes_of(4.F) + bytes_of(5.F);
    bytes.resize(begin + c, '\xFF');
    bytes += bytes_of(6.F) + bytes_of(7.F);
    const TemporaryFolder folder;
    write_bytes(folder.file("x.gguf"), bytes);
    const GgufFile file(folder.file("x.gguf"));
    std::map<std::string, std::vector<Real>> found;
    for (const GgufTensor& tensor : file.tensors()) found[tensor.name] = file.tensor(tensor).elements();
    CHECK(found ==
          std::map<std::string, std::vector<Real>>{{"a", {4, 5}}, {"b", {1, 2, 3}}, {"c", {6, 7}}, {"same", {4, 5}}});
  }
}

TEST_CASE("gguf: damage is named, wherever a file ends") {
  const std::string tensor =
      padded(start(1, 1) + counted("k") + bytes_of(std::uint32_t{8}) + counted("value") + matrix("m", 1, 2, 0, 0));
  const std::string whole = tensor + bytes_of(1.F) + bytes_of(2.F);
  CHECK(problem_with(whole).empty());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_FALSE(problem_with(whole.substr(0, length)).empty());
  }
  const auto has = [](const std::string& bytes, const char* problem) {
    CHECK(problem_with(bytes).find(problem) != std::string::npos);
  };
  has("GGUF" + bytes_of(std::uint32_t{1}), "GGUF of version 1");
  CHECK(problem_with("GGUF" + bytes_of(std::uint32_t{2}) + whole.substr(8)).empty());
  has(start(0, 1) + bytes_of(std::uint64_t{1} << 60) + "k", "ends within its header");
  has(start(std::uint64_t{1} << 62, 0), "entries of a kind");
  const std::string flag = counted("k") + bytes_of(std::uint32_t{7}) + std::string(1, '\1');
  has(start(0, 2) + flag + flag, "'k' comes twice");
  has(start(2, 0) + matrix("m", 1, 1, 0, 0) + matrix("m", 1, 1, 0, 0), "'m' comes twice");
  has(start(0, 1) + counted("k") + bytes_of(std::uint32_t{77}), "unknown type 77");
  has(start(0, 1) + counted("k") + bytes_of(std::uint32_t{9}) + bytes_of(std::uint32_t{9}) + bytes_of(std::uint64_t{0}),
      "a list of lists");
  has(start(1, 0) + matrix("m", 0, 1, 0, 0), "is too large");
  has(start(1, 0) + matrix("m", std::uint64_t{1} << 33, std::uint64_t{1} << 33, 0, 0), "is too large");
  has(padded(start(1, 0) + matrix("m", 1, 2, 0, std::uint64_t{0} - 4)), "beyond the end of the file");
  for (const std::uint64_t offset : {std::uint64_t{4}, std::uint64_t{8}, std::uint64_t{12}, std::uint64_t{60}}) {
    CAPTURE(offset);
    for (const std::uint32_t type : {0U, 12U}) {
      if (type == 12 && offset <= 8) continue;  // of a type that is not known, only the beginning is
      has(padded(start(1, 0) + matrix("m", 1, 2, type, offset)) + bytes_of(1.F) + bytes_of(2.F),
          "beyond the end of the file");
    }
  }
  for (const std::uint64_t number : {std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    has(start(0, 1) + counted("k") + bytes_of(std::uint32_t{10}) + bytes_of(number),
        concatenate("has the number ", number, ", which is too large").c_str());
  }
  has(start(0, 1) + counted("general.alignment") + bytes_of(std::uint32_t{4}) + bytes_of(std::uint32_t{0}),
      "general.alignment is 0");
  has(padded(start(1, 0) + matrix("m", 1, 256, 12, 0)), "of ggml's type 12");
  const TemporaryFolder folder;
  write_bytes(folder.file("x.gguf"),
              padded(start(1, 0) + matrix("m", 1, 1, 0, 0)) + bytes_of(std::uint32_t{0x7F800000}));
  const GgufFile file(folder.file("x.gguf"));
  CHECK(message_of<NumericError>([&] { file.tensor(file.tensors()[0]); }).ends_with("has numbers that are not finite"));
}

TEST_CASE("gguf: GPT-2 to a file and back has the same weights to the bit and the same tokenizer") {
  for (const std::string& path : fixtures("gpt2")) {
    CAPTURE(path);
    const ModelParts parts = read(path);
    const TemporaryFolder folder;
    bool is_examined = false;
    write_gguf_model(folder.file("m.gguf"), parts, WeightType::keep, [&](const std::string& temporary) {
      is_examined = is_gguf(temporary) && !is_gguf(folder.file("m.gguf"));
    });
    CHECK(is_examined);
    const ModelParts back = read_gguf_model(folder.file("m.gguf"));
    CHECK(back.tokenizer == parts.tokenizer);
    // Other programs add a begin token where this is missing.
    CHECK_FALSE(GgufFile(folder.file("m.gguf")).get<bool>("tokenizer.ggml.add_bos_token"));
    REQUIRE(back.weights.size() == parts.weights.size());
    for (std::size_t i = 0; i < parts.weights.size(); ++i) {
      CAPTURE(parts.weights[i].name);
      CHECK(back.weights[i].name == parts.weights[i].name);
      CHECK(back.weights[i].value.elements() == parts.weights[i].value.elements());
    }
    auto config = *back.config.as<models::DecoderConfig>();
    config.dropout = parts.config.as<models::DecoderConfig>()->dropout;
    CHECK(lost_fields(parts.config, config).empty());
  }
}

TEST_CASE("gguf: weights of other types, biases that a model lacks, places without a token") {
  for (const WeightType type : {WeightType::f16, WeightType::bf16, WeightType::q8, WeightType::q4}) {
    CAPTURE(to_text(type));
    models::DecoderConfig config = gpt2_config(64);
    config.bias = false;
    ModelParts parts = parts_of(config, sample_bpe());
    for (NamedTensor& weight : parts.weights) weight.value = convert(weight.value, type);
    const TemporaryFolder folder;
    write_gguf_model(folder.file("m.gguf"), parts, type, unexamined);
    const ModelParts back = read_gguf_model(folder.file("m.gguf"));
    CHECK(back.tokenizer == parts.tokenizer);
    CHECK(back.config.tokens().vocab_size == 300);
    std::map<std::string, Tensor> values;
    for (const NamedTensor& weight : parts.weights) values.emplace(weight.name, weight.value);
    Index added = 0;
    for (const auto& [name, value] : back.weights) {
      CAPTURE(name);
      if (values.contains(name)) {
        CHECK(value.elements() == values.at(name).elements());
      } else {
        CHECK(value.elements() == std::vector<Real>(static_cast<std::size_t>(value.size()), 0));
        ++added;
      }
    }
    CHECK(added == 2 * 8 + 1);
  }
}

TEST_CASE("gguf: what such a file cannot hold is refused by name, and nothing is written") {
  models::DecoderConfig config = gpt2_config(64);
  CHECK(refusal(parts_of(config, sample_bpe())).empty());
  config.positions = "rope";
  config.kv_heads = 1;
  CHECK(refusal(parts_of(config, sample_bpe())) ==
        "a decoder of GGUF's architecture gpt2 has no kv-heads = 1, positions = rope; write a heddle file: -o "
        "NAME.h5");
  config = gpt2_config(40);
  ModelParts parts = parts_of(config, sample_bpe());
  for (NamedTensor& weight : parts.weights) weight.value = convert(weight.value, WeightType::q8);
  CHECK(refusal(parts) == "token_embd.weight: has 40 columns, and q8 of GGUF needs a multiple of 32");
  config = gpt2_config(64);
  text::TokenizerModel tokenizer = sample_bpe();
  tokenizer.cuts = {"whole"};
  CHECK(refusal(parts_of(config, tokenizer)).find("cuts text otherwise than GPT-2's") != std::string::npos);
  tokenizer.kind = text::TokenizerKind::byte;
  CHECK(refusal(parts_of(config, tokenizer)) == "a byte tokenizer cannot be written as GGUF; bpe can");
}

TEST_CASE("gguf: models that heddle cannot have are refused by name") {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.gguf");
  write_gguf_model(path, parts_of(gpt2_config(64), sample_bpe()), WeightType::keep, unexamined);
  const GgufFile file(path);
  std::vector<GgufOutput> tensors;
  for (const GgufTensor& tensor : file.tensors())
    tensors.push_back({tensor.name, {file.tensor(tensor)}, GgufType::f32});
  const auto problem = [&](GgufValues values, const std::vector<GgufOutput>& with) {
    const std::string changed = folder.file("changed.gguf");
    write_gguf(changed, values, with, unexamined);
    const std::string message = message_of([&] { read_gguf_model(changed); });
    return message.empty() ? message : message.substr(message.find(": ") + 2);
  };
  CHECK(problem(file.values(), tensors).empty());
  GgufValues values = file.values();
  values["general.architecture"] = std::string("llama");
  CHECK(problem(values, tensors) == "is a model of llama.cpp's architecture 'llama'; heddle reads gpt2");
  values = file.values();
  values["tokenizer.ggml.pre"] = std::string("qwen2");
  CHECK(problem(values, tensors) == "tokenizer.ggml.pre is 'qwen2'; heddle reads gpt-2");
  values = file.values();
  values["tokenizer.ggml.merges"] = std::vector<std::string>{"ab"};
  CHECK(problem(values, tensors) == "the merge 'ab' is not two tokens with a space between them");
  values = file.values();
  values["gpt2.attention.head_count"] = Index{3};
  CHECK(problem(values, tensors).find("heads") != std::string::npos);
  values = file.values();
  values["gpt2.embedding_length"] = Index{32};
  CHECK(problem(values, tensors) == "the tensor token_embd.weight has the shape [300, 64], not [300, 32]");
  const std::vector<GgufOutput> fewer(tensors.begin(), tensors.end() - 1);
  CHECK(problem(file.values(), fewer).ends_with("is missing"));
  tensors.push_back({"blk.0.other", {Tensor({1}, Real(1))}, GgufType::f32});
  CHECK(problem(file.values(), tensors) == "the tensor 'blk.0.other' is unknown");
}

}  // namespace gguf_tests
