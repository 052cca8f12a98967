// Decoders in files: what is mapped computes what was written, whatever the types of the weights.
#include "formats/heddle/load_model.hpp"

#include <doctest/doctest.h>

#include <cmath>

#include "formats/files.hpp"
#include "formats/library.hpp"
#include "formats/samples.hpp"
#include "support/models.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

constexpr std::array types{WeightType::f32, WeightType::bf16, WeightType::int8, WeightType::q8, WeightType::q4};

models::DecoderConfig small_config(Index width = 64) {
  return testing::decoder({.layers = 2, .width = width, .heads = 4, .context = 40, .vocab_size = 257});
}

// Larger weights than training starts from, so that tokens differ.
models::Decoder random_model(const models::DecoderConfig& config) {
  models::Decoder model(config, 5);
  for (const Parameter& parameter : model.parameters().all()) {
    const RandomStream stream(11, random_site(parameter.name));
    for (Index i = 0; i < parameter.size(); ++i) {
      parameter.value()[i] += static_cast<Real>(0.1 * stream.normal(static_cast<std::uint64_t>(i)));
    }
  }
  return model;
}

void write_model(const std::string& path, const models::Decoder& model, WeightType type) {
  std::vector<NamedTensor> weights = named_tensors(model.parameters());
  for (NamedTensor& tensor : weights) tensor.value = convert(tensor.value, type);
  ModelWriter file(path);
  file.config(model.config());
  file.tokenizer(byte_tokenizer_model());
  file.weights(weights);
  file.commit(start_provenance("test"));
}

TokenIds some_ids(Index time) {
  TokenIds ids(Shape{2, time});
  for (std::size_t i = 0; i < ids.ids.size(); ++i) ids.ids[i] = static_cast<TokenId>(i * i * 7 % 257);
  return ids;
}

Tensor logits_of(const models::Model& model, const TokenIds& ids) {
  return model.as<models::TokenLoss>()->next_token_head()(model.as<models::ContextualVectors>()->hidden(ids)).value();
}

double relative_difference(const Tensor& a, const Tensor& b) {
  return rounding_error(b.copy(), a.copy());
}

// The logits of all positions, from a prompt of `prompt` tokens and then one token after the other.
Tensor cached_logits(const models::Model& any, const TokenIds& ids, Index prompt, DType cache) {
  const auto& model = models::require<models::Generator>(any, "the test", "model.h5");
  const Index time = ids.shape[1], vocab = model.vocab_size();
  const Tensor all({2, time - prompt + 1, vocab});
  const auto state = model.start({2, time, cache});
  for (Index seen = 0; seen < time;) {
    const Index added = seen == 0 ? prompt : 1;
    TokenIds part(Shape{2, added});
    for (Index b = 0; b < 2; ++b) {
      std::copy_n(ids.ids.begin() + b * time + seen, added, part.ids.begin() + b * added);
    }
    const Tensor logits = model.step(part, {added, added}, *state);
    seen += added;
    for (Index b = 0; b < 2; ++b) {
      all.narrowed(0, b, 1).narrowed(1, seen - prompt, 1).assign(logits.narrowed(0, b, 1).reshaped({1, 1, vocab}));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("load model: mapped weights are those written, in their types; weights to train are Reals") {
  const TemporaryFolder folder;
  const models::Decoder model = random_model(small_config());
  for (const WeightType type : types) {
    CAPTURE(to_text(type));
    write_model(folder.file("model.h5"), model, type);
    const ModelFile file(folder.file("model.h5"));
    CHECK(file.verify().empty());
    const LoadedModel mapped = load_model(file);
    const bool is_trainable = type != WeightType::q4;
    if (!is_trainable) {
      CHECK(contains(message_of<DataError>([&] { load_model_to_train(file); }),
                     "weight as q4, which has too few bits to be trained"));
    }
    const LoadedModel read =
        is_trainable ? load_model_to_train(file) : LoadedModel{load_weights(file), file.tokenizer()};
    for (const Parameter& parameter : model.parameters().all()) {
      CAPTURE(parameter.name);
      const Tensor expected = convert(parameter.value(), type);
      const Tensor found = mapped.model->parameters().find(parameter.name)->value();
      CHECK(found.dtype() == expected.dtype());
      CHECK(found.elements() == expected.elements());
      if (!is_trainable) continue;
      const Tensor trained = read.model->parameters().find(parameter.name)->value();
      CHECK(trained.dtype() == DType::real);
      CHECK(trained.elements() == expected.elements());
      trained.fill(1);  // may be written to
    }
    CHECK(load_model(ModelFile(folder.file("model.h5"))).model->parameters().all()[0].value().elements() ==
          mapped.model->parameters().all()[0].value().elements());
  }
}

TEST_CASE("load model: a mapped model outlives its file") {
  const TemporaryFolder folder;
  write_model(folder.file("model.h5"), random_model(small_config()), WeightType::int8);
  const LoadedModel loaded = load_model(ModelFile(folder.file("model.h5")));
  const Tensor before = logits_of(*loaded.model, some_ids(30));
  write_model(folder.file("model.h5"), models::Decoder(small_config(), 1), WeightType::f32);
  CHECK(logits_of(*loaded.model, some_ids(30)).elements() == before.elements());
}

TEST_CASE("load model: query, key and value lie together and are used where they lie; else they are copied together") {
  const TemporaryFolder folder;
  for (const WeightType type : types) {
    CAPTURE(to_text(type));
    for (const Index width : {Index{64}, Index{12}}) {  // 12 * 12 elements do not fill multiples of 64 bytes
      CAPTURE(width);
      write_model(folder.file("model.h5"), random_model(small_config(width)), type);
      const ModelFile file(folder.file("model.h5"));
      std::vector<const TensorInfo*> parts;
      for (const char* name : {"query", "key", "value"}) {
        for (const TensorInfo& info : file.weights().tensors()) {
          if (info.name == "decoder/1/attention/" + std::string(name) + "/weight") parts.push_back(&info);
        }
      }
      REQUIRE(parts.size() == 3);
      const Index bytes = width * bytes_of_row(parts[0]->dtype, width);
      CHECK((parts[1]->offset == parts[0]->offset + bytes) == (bytes % 64 == 0));
      CHECK((parts[2]->offset == parts[1]->offset + bytes) == (bytes % 64 == 0));
      const auto mapping = std::make_shared<const MappedFile>(file.file().descriptor());
      const std::vector<std::string> names{parts[0]->name, parts[1]->name, parts[2]->name};
      const Tensor whole = file.weights().map(names, mapping);
      const auto* first = static_cast<const std::byte*>(whole.raw());
      CHECK((first == mapping->data() + parts[0]->offset) == (bytes % 64 == 0));
      CHECK(whole.shape() == Shape{3 * width, width});
      for (Index i = 0; i < 3; ++i) {
        CHECK(whole.narrowed(0, i * width, width).elements() ==
              file.weights().map(std::span(names).subspan(static_cast<std::size_t>(i), 1), mapping).elements());
      }
    }
  }
}

TEST_CASE("load model: cached decoding equals recomputation, for every type of weights and of cache") {
  const TemporaryFolder folder;
  const models::Decoder model = random_model(small_config());
  const TokenIds ids = some_ids(40);
  const Tensor exact = logits_of(model, ids);
  for (const WeightType type : types) {
    CAPTURE(to_text(type));
    write_model(folder.file("model.h5"), model, type);
    const LoadedModel loaded = load_model(ModelFile(folder.file("model.h5")));
    const Tensor whole = logits_of(*loaded.model, ids);
    // Rounding errors of the types: 0.2 % per weight, and as much again if products round activations too.
    CHECK(relative_difference(whole, exact) < (type == WeightType::f32 ? 1e-6 : type == WeightType::q4 ? 0.3 : 0.03));
    for (const DType cache : {DType::real, DType::bfloat16}) {
      for (const Index prompt : {Index{1}, Index{30}}) {
        CAPTURE(prompt);
        const Tensor cached = cached_logits(*loaded.model, ids, prompt, cache);
        const bool exactly = type == WeightType::f32 && cache == DType::real;
        CHECK(relative_difference(cached, whole.narrowed(1, prompt - 1, 41 - prompt)) < (exactly ? 1e-5 : 0.02));
      }
    }
  }
}

TEST_CASE("load model: models of versions that had other configurations are refused, with what to do") {
  const TemporaryFolder folder;
  const models::Decoder model(small_config(), 1);
  for (const WeightType type : types) {
    write_model(folder.file("model.h5"), model, type);
    const bool in_blocks = type == WeightType::q8 || type == WeightType::q4;
    CHECK(ModelFile(folder.file("model.h5")).file().header().format_version == (in_blocks ? 7 : 4));
  }
  for (const Index version : {Index{1}, Index{3}}) {
    OutputFile old(folder.file("old.h5"), FileKind::model);
    old.needs_version(version);
    old.root().create_group("config");
    old.root().create_group("weights");
    old.commit({});
    CHECK_THROWS_WITH_AS(ModelFile(folder.file("old.h5")),
                         doctest::Contains("this program reads models of version 4 and newer; use that program, or "
                                           "train the model again with this one"),
                         DataError);
  }
}

TEST_CASE("load model: a configuration that asks for thousands of layers is refused before they are made") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  const models::Decoder model(small_config(), 1);
  models::DecoderConfig deep = small_config();
  deep.layers = 10'000;
  ModelWriter file(path);
  file.config(models::ModelConfig(deep));
  file.tokenizer(byte_tokenizer_model());
  file.weights(named_tensors(model.parameters()));
  file.commit(start_provenance("test"));
  const std::string message = message_of([&] { load_model(ModelFile(path)); });
  CHECK(message.starts_with(path + ": /weights: lacks decoder/"));
  CHECK(message.ends_with(" and 100 more tensors, which the model needs"));
}

TEST_CASE("load model: a configuration is checked against the weights' shapes, without memory for those it says") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  const models::Decoder model(small_config(), 5);
  write_model(path, model, WeightType::f32);
  CHECK(checked_config(ModelFile(path)).tokens().vocab_size == 257);
  const models::DecoderConfig wide = small_config(1 << 19);
  ModelWriter file(path);
  file.config(models::ModelConfig(wide));
  file.tokenizer(byte_tokenizer_model());
  file.weights(named_tensors(model.parameters()));
  file.commit(start_provenance("test"));
  CHECK_THROWS_WITH_AS(checked_config(ModelFile(path)), doctest::Contains("in the file and"), DataError);
}

TEST_CASE("load model: int8 without its scales, or with others, is refused") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5"), name = "/weights/decoder/embedding/token/weight.scales";
  const models::Decoder model(small_config(), 1);
  const auto message = [&](const auto& change) {
    write_model(path, model, WeightType::int8);
    change_by_library(path, change);
    return message_of<Error>([&] { load_model(ModelFile(path)); });
  };
  const auto replace = [&](hid_t file, hid_t type, hsize_t rows) {
    H5Ldelete(file, name.c_str(), H5P_DEFAULT);
    const hid_t space = H5Screate_simple(1, &rows, nullptr);
    const hid_t set = H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    const std::vector<float> ones(rows, 1);
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, ones.data());
    H5Dclose(set);
    H5Sclose(space);
  };
  CHECK(contains(message([&](hid_t file) { H5Ldelete(file, name.c_str(), H5P_DEFAULT); }),
                 "/weights/decoder/embedding/token/weight: has int8 weights without scales"));
  const std::string refused = "weight.scales: is not a contiguous float32 vector with a scale for each row";
  CHECK(contains(message([&](hid_t file) { replace(file, H5T_IEEE_F32LE, 256); }), refused));
  CHECK(contains(message([&](hid_t file) { replace(file, H5T_IEEE_F64LE, 257); }), refused));
  CHECK(contains(message([&](hid_t file) {
                   H5Lmove(file, name.c_str(), file, "/weights/decoder/norm/gain.scales", H5P_DEFAULT, H5P_DEFAULT);
                 }),
                 "gain.scales: is not a contiguous float32 vector"));
  const std::string not_finite = message([&](hid_t file) {
    const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
    std::vector<float> scales(257, std::nanf(""));
    H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, scales.data());
    H5Dclose(set);
  });
  CHECK(contains(not_finite, "weight.scales: element 0 is not finite"));
  CHECK_FALSE(ModelFile(path).verify().empty());
}

TEST_CASE("load model: blocks of another size or format are refused, and scales that are not finite found") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5"), name = "/weights/decoder/embedding/token/weight";
  const models::Decoder model(small_config(Index{40}), 1);
  const auto message = [&](WeightType type, const auto& change) {
    write_model(path, model, type);
    change_by_library(path, [&](hid_t file) {
      const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
      change(set);
      H5Dclose(set);
    });
    return message_of<Error>([&] { load_model(ModelFile(path)); });
  };
  const auto set_columns = [](hid_t set, std::int64_t columns) {
    const hid_t attribute = H5Aopen(set, "columns", H5P_DEFAULT);
    H5Awrite(attribute, H5T_NATIVE_INT64, &columns);
    H5Aclose(attribute);
  };
  const std::string refused = "token/weight: is not a contiguous tensor of float32 or bfloat16";
  for (const WeightType type : {WeightType::q8, WeightType::q4}) {
    for (const std::int64_t columns : {std::int64_t{32}, std::int64_t{65}, std::int64_t{-1}, INT64_MAX}) {
      CHECK(contains(message(type, [&](hid_t set) { set_columns(set, columns); }), refused));
    }
    CHECK(contains(message(type, [&](hid_t set) { set_columns(set, 50); }), "has shape [257, 50] in the file"));
    CHECK(contains(message(type, [&](hid_t set) { H5Adelete(set, "format"); }), "has int8 weights without scales"));
    const auto overwrite = [&](hid_t set) {
      const Index row = bytes_of_row(type == WeightType::q8 ? DType::q8 : DType::q4, 40);
      std::vector<std::int8_t> bytes(static_cast<std::size_t>(257 * row));
      bytes[static_cast<std::size_t>(3 * row + 1)] = 0x7C;  // infinite, in the first block of row 3
      H5Dwrite(set, H5T_NATIVE_INT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data());
      const std::string sum = checksum_of(bytes.data(), bytes.size());
      const hid_t attribute = H5Aopen(set, "xxh128", H5P_DEFAULT), text = H5Aget_type(attribute);
      const char* const pointer = sum.c_str();
      H5Awrite(attribute, text, H5Tis_variable_str(text) > 0 ? static_cast<const void*>(&pointer) : pointer);
      H5Tclose(text);
      H5Aclose(attribute);
    };
    message(type, overwrite);
    CHECK(contains(join(ModelFile(path).verify()), "token/weight: element 120 is not finite"));
    CHECK_THROWS_AS(ModelFile(path).weights().require_sound(), NumericError);
  }
}

TEST_CASE("load model: weights shortened after opening are not mapped") {
  const TemporaryFolder folder;
  write_model(folder.file("model.h5"), models::Decoder(small_config(), 1), WeightType::f32);
  const ModelFile file(folder.file("model.h5"));
  std::filesystem::resize_file(folder.file("model.h5"), std::filesystem::file_size(folder.file("model.h5")) / 2);
  CHECK_FALSE(message_of([&] { load_model(file); }).empty());
}
