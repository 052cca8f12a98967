#include "formats/huggingface/safetensors.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>

#include "formats/files.hpp"
#include "formats/huggingface/sharded_safetensors.hpp"
#include "formats/samples.hpp"
#include "libcore/tensor/half.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

std::string with_header(const std::string& header, const std::string& data = "") {
  const std::uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof(length)) + header + data;
}

template <class T>
std::string bytes_of(const std::vector<T>& elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

json entry(const std::string& type, const json& shape, Index begin, Index end) {
  return {{"dtype", type}, {"shape", shape}, {"data_offsets", {begin, end}}};
}

// Message of reading such a file, or its first tensor, without the file's name.
template <class Kind = DataError>
std::string safetensors_problem(const std::string& content) {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.safetensors");
  write_bytes(path, content);
  const std::string message = message_of<Kind>([&] {
    for (const Safetensor& tensor : read_safetensors(path)) to_tensor(tensor);
  });
  return message.starts_with(path) ? message.substr(path.size()) : message;
}

template <class Kind = DataError>
std::string safetensors_problem(const json& header, const std::string& data) {
  return safetensors_problem<Kind>(with_header(header.dump(), data));
}

}  // namespace

TEST_CASE("half precision: every number survives, and others are rounded to the nearest") {
  for (int bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float number = from_half(half);
    if (std::isnan(number)) {
      CHECK(std::isnan(from_half(to_half(number))));
    } else {
      REQUIRE(to_half(number) == half);
      // The oracle: sign, 5 bits of exponent, 10 of fraction.
      const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
      const float magnitude = exponent == 31 ? std::numeric_limits<float>::infinity()
                              : exponent > 0 ? std::ldexp(static_cast<float>(1024 + fraction), exponent - 25)
                                             : std::ldexp(static_cast<float>(fraction), -24);
      REQUIRE(number == (bits & 0x8000 ? -magnitude : magnitude));
    }
  }
  for (int bits = 0; bits < 0x7BFF; ++bits) {  // between neighbours
    const float low = from_half(static_cast<std::uint16_t>(bits)),
                high = from_half(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;
    REQUIRE(to_half(middle) == bits + bits % 2);
    REQUIRE(to_half(std::nextafter(middle, 0.0f)) == bits);
    REQUIRE(to_half(std::nextafter(middle, high)) == bits + 1);
  }
  CHECK(to_half(65519.0f) == 0x7BFF);
  CHECK(to_half(65520.0f) == 0x7C00);
  CHECK(to_half(-1e30f) == 0xFC00);
}

TEST_CASE("safetensors: all types of weights, wherever they lie") {
  const TemporaryFolder folder;
  const std::vector<float> numbers{1, -2.5F, 0.25F, 3};
  json header{{"__metadata__", {{"format", "pt"}}},    {"f64", entry("F64", {4}, 0, 32)},
              {"odd", entry("U8", {1}, 32, 33)},       {"f32", entry("F32", {2, 2}, 33, 49)},
              {"f16", entry("F16", {1, 4}, 49, 57)},   {"bf16", entry("BF16", {4, 1}, 57, 65)},
              {"empty", entry("F32", {0, 3}, 65, 65)}, {"scalar", entry("F32", json::array(), 65, 69)}};
  std::string data = bytes_of(std::vector<double>(numbers.begin(), numbers.end())) + "x" + bytes_of(numbers);
  std::vector<std::uint16_t> halves, bfloats;
  for (const float x : numbers) halves.push_back(to_half(x));
  for (const float x : numbers) bfloats.push_back(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16));
  data += bytes_of(halves) + bytes_of(bfloats) + bytes_of(std::vector<float>{7});
  write_bytes(folder.file("x.safetensors"), with_header(header.dump() + "   ", data));
  const std::vector<Safetensor> tensors = read_safetensors(folder.file("x.safetensors"));
  std::vector<std::string> names;
  for (const Safetensor& tensor : tensors) {
    names.push_back(tensor.name);
    if (tensor.name == "odd") continue;
    const Tensor value = to_tensor(tensor);
    CHECK(value.shape().extents() == tensor.shape);
    CHECK(value.dtype() == (tensor.name == "bf16" ? DType::bfloat16 : DType::real));
    if (tensor.name == "scalar") CHECK(value.elements() == std::vector<float>{7});
    if (value.size() == 4) CHECK(value.elements() == numbers);
  }
  CHECK(names == std::vector<std::string>{"f64", "odd", "f32", "f16", "bf16", "empty", "scalar"});
  CHECK(contains(message_of([&] { to_tensor(tensors[1]); }), "'odd': has type U8, which is not supported for weights"));
}

namespace {

// A tensor as its entry of a header says it, of 4-byte elements from `begin` on.
struct Entry {
  std::string name, shape;
  Index begin, count;
  std::string text() const {
    return " \"" + name + "\" :{\"data_offsets\":[" + std::to_string(4 * begin) + " ," +
           std::to_string(4 * (begin + count)) + "],\"shape\":" + shape + ",\"dtype\":\"F32\"}";
  }
};

}  // namespace

// Other writers order headers by name, by size or not at all.
TEST_CASE("safetensors: entries in any order, and empty tensors before, after and between others") {
  const std::vector<Entry> entries{{"none", "[0]", 0, 0},           {"z", "[2]", 0, 2},     {"nothing", "[3, 0]", 2, 0},
                                   {"also nothing", "[0,7]", 2, 0}, {"a", "[ 1,3 ]", 2, 3}, {"m", "[]", 5, 1},
                                   {"end", "[2,0,2]", 6, 0}};
  std::vector<float> numbers(6);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i) - 2;
  const RandomStream stream(3, random_site("orders"));
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    std::vector<Entry> order;
    for (const Entry& entry : entries) {
      order.insert(
          order.begin() + static_cast<std::ptrdiff_t>(stream.below(100 * seed + order.size(), order.size() + 1)),
          entry);
    }
    const std::string metadata = R"("__metadata__":{"format":"pt"})";
    std::string header = seed % 3 == 0 ? "{" + metadata + "," : seed % 3 == 1 ? "{\n " : "{";
    for (const Entry& entry : order) header += (&entry == &order.front() ? "" : ",") + entry.text();
    header += (seed % 3 == 2 ? "," + metadata : "") + "}" + std::string(seed % 5, ' ');
    CAPTURE(header);
    const TemporaryFolder folder;
    write_bytes(folder.file("x.safetensors"), with_header(header, bytes_of(numbers)));
    const std::vector<Safetensor> tensors = read_safetensors(folder.file("x.safetensors"));
    REQUIRE(tensors.size() == entries.size());
    for (const Entry& entry : entries) {
      const auto found = std::ranges::find(tensors, entry.name, &Safetensor::name);
      REQUIRE(found != tensors.end());
      const auto begin = numbers.begin() + entry.begin;
      CHECK(to_tensor(*found).elements() == std::vector<float>(begin, begin + entry.count));
    }
    for (std::size_t i = 1; i < tensors.size(); ++i)
      CHECK(tensors[i - 1].elements.data() <= tensors[i].elements.data());
  }
  // All of them empty, and none at all.
  CHECK(safetensors_problem(with_header(R"({"b":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)"
                                        R"("a":{"dtype":"I64","shape":[0,2],"data_offsets":[0,0]}})"))
            .find("I64") != std::string::npos);
  CHECK(safetensors_problem(with_header("{}   ")).empty());
}

TEST_CASE("safetensors: what is written is read, aligned, and the same bytes every time") {
  const TemporaryFolder folder;
  const Tensor matrix = random_tensor({3, 5}, 1), vector = random_tensor({7}, 2);
  const Tensor bfloats = random_tensor({4, 3}, 3).as(DType::bfloat16);
  const std::vector<SafetensorOutput> tensors{{"b", bfloats, Safetype::bf16},
                                              {"h", matrix, Safetype::f16},
                                              {"\"quoted\"\n", vector, Safetype::f32},
                                              {"transposed", matrix.swapped(0, 1), Safetype::f32}};
  for (const char* name : {"one", "two"}) write_safetensors(folder.file(name), tensors, {{"format", "pt"}});
  CHECK(read_bytes(folder.file("one")) == read_bytes(folder.file("two")));
  const std::vector<Safetensor> read = read_safetensors(folder.file("one"));
  REQUIRE(read.size() == 4);
  CHECK(read[0].name == "\"quoted\"\n");
  CHECK(reinterpret_cast<std::uintptr_t>(read[0].elements.data()) % 64 == 0);
  CHECK(to_tensor(read[0]).raw() == static_cast<const void*>(read[0].elements.data()));
  CHECK(to_tensor(read[0]).elements() == vector.elements());
  CHECK(to_tensor(read[1]).elements() == matrix.swapped(0, 1).copy().elements());
  CHECK(to_tensor(read[2]).elements() == bfloats.elements());
  for (Index i = 0; i < matrix.size(); ++i) CHECK(to_tensor(read[3])[i] == from_half(to_half(matrix[i])));
  const std::vector<SafetensorOutput> large{{"large", Tensor({2, 2}, Real(1e6)), Safetype::f16}};
  CHECK(
      contains(message_of([&] { write_safetensors(folder.file("one"), large, {}); }), "large: has weights too large"));
  CHECK(read_bytes(folder.file("one")) == read_bytes(folder.file("two")));
  CHECK(folder.names().size() == 2);
}

TEST_CASE("safetensors: hostile files are refused") {
  const std::string data(24, '\0');
  const json good{{"a", entry("F32", {2}, 0, 8)}, {"b", entry("F32", {4}, 8, 24)}};
  CHECK(safetensors_problem(good, data).empty());
  const std::string whole = with_header(good.dump(), data);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(safetensors_problem(whole.substr(0, size)).empty());
  }
  CHECK(contains(safetensors_problem(""), "has 0 bytes and no safetensors header"));
  CHECK(contains(safetensors_problem(std::string(8, '\xff') + "{}"),
                 "a header of 18446744073709551615 bytes in a file of 10"));
  CHECK(contains(safetensors_problem(with_header("[1]")), "the header is not a JSON object"));
  CHECK(contains(safetensors_problem(with_header("{\"a\": ")), "not valid JSON"));
  CHECK(contains(safetensors_problem(with_header("{\"a\": " + std::string(200'000, '['))), "of more than 128 levels"));
  CHECK(contains(safetensors_problem(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                                                 R"("a":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})",
                                                 std::string(16, '\0'))),
                 "repeats the key 'a'"));
  const auto with = [&](const std::function<void(json&)>& change) {
    json header = good;
    change(header);
    return safetensors_problem(header, data);
  };
  CHECK(with([](json& h) { h["a"]["dtype"] = "F31"; }).starts_with(": a.dtype: 'F31' is not one of F64, F32"));
  CHECK(contains(with([](json& h) { h["a"]["dtype"] = "I32"; }),
                 "'a': has type I32, which is not supported for weights"));
  CHECK(contains(with([](json& h) { h["a"]["dtype"] = "F16"; }), "has 8 bytes, which its type and shape do not fill"));
  CHECK(contains(with([](json& h) { h["a"]["shape"] = {-2}; }), "a.shape[0]: must be a whole number"));
  CHECK(contains(with([](json& h) { h["a"]["shape"] = {2.0}; }), "must be a whole number"));
  CHECK(contains(with([](json& h) { h["a"]["shape"] = {1 << 30, 1 << 30, 1 << 30}; }), "do not fill"));
  CHECK(contains(with([](json& h) { h["a"]["shape"] = "2"; }), "must be a list"));
  CHECK(contains(with([](json& h) { h["a"]["shape"] = {1, 1, 1, 1, 1, 1, 2}; }), "has 7 dimensions"));
  CHECK(contains(with([](json& h) { h["a"]["data_offsets"] = {0, 99}; }), "must be a whole number from 0 to 24"));
  CHECK(contains(with([](json& h) { h["a"]["data_offsets"] = {8, 0}; }), "must be a whole number from 0 to 0"));
  CHECK(contains(with([](json& h) { h["a"]["data_offsets"] = {0}; }), "must be where the tensor begins and ends"));
  CHECK(contains(with([](json& h) { h["a"]["data_offsets"] = {0, std::uint64_t(-1)}; }), "must be a whole number"));
  CHECK(contains(with([](json& h) { h["a"]["data_offsets"] = {4, 12}; }), "'a' follow bytes that belong to no"));
  CHECK(contains(with([](json& h) { h["b"]["data_offsets"] = {4, 20}; }), "'b' overlap those of another tensor"));
  CHECK(contains(with([](json& h) { h.erase("b"); }), "ends in 16 bytes that belong to no tensor"));
  CHECK(contains(with([](json& h) { h["a"]["extra"] = 1; }), "has 'extra', which heddle does not support"));
  CHECK(contains(with([](json& h) { h["a"] = nullptr; }), ": a: must be an object"));
  const std::vector<float> numbers{1, 2, std::nanf(""), 4};
  CHECK(contains(safetensors_problem<NumericError>({{"a", entry("F32", {2, 2}, 0, 16)}}, bytes_of(numbers)),
                 "'a': element 2 is not finite"));
}

TEST_CASE("safetensors: parts and their index") {
  const TemporaryFolder folder;
  const std::string directory = folder.path().string();
  const auto tensors = [](const char* name) {
    return std::vector<SafetensorOutput>{{name, Tensor({2}, Real(1)), Safetype::f32}};
  };
  CHECK(contains(message_of([&] { read_directory_tensors(directory); }), "holds no model.safetensors, nor"));
  write_bytes(folder.file("pytorch_model.bin"), "");
  CHECK(contains(message_of([&] { read_directory_tensors(directory); }), "is a Python pickle, which heddle does not"));
  write_safetensors(folder.file("model-1-of-2.safetensors"), tensors("a"), {});
  write_safetensors(folder.file("model-2-of-2.safetensors"), tensors("b"), {});
  const auto read = [&](const json& map) {
    write_bytes(folder.file("model.safetensors.index.json"), json{{"weight_map", map}}.dump());
    return read_directory_tensors(directory);
  };
  const json good{{"a", "model-1-of-2.safetensors"}, {"b", "model-2-of-2.safetensors"}};
  CHECK(read(good).tensors.size() == 2);
  CHECK(read(good).files.size() == 3);
  const auto with = [&](const std::string& name, const json& file) {
    json map = good;
    map[name] = file;
    return message_of([&] { read(map); });
  };
  CHECK(contains(with("c", "model-2-of-2.safetensors"), "lists 'c', which its file does not hold"));
  CHECK(contains(with("b", "model-1-of-2.safetensors"), "lists 'b', which its file does not hold"));
  CHECK(contains(with("a", "model-2-of-2.safetensors"), "lists 'a', which its file does not hold"));
  CHECK(contains(with("a", "../model.safetensors"), "weight_map.a: must be the name of a file beside this one"));
  CHECK(contains(with("a", "none.safetensors"), "none.safetensors: cannot open"));
  CHECK(contains(with("a", std::string("m\0.safetensors", 14)), "weight_map.a: must be the name of a file"));
  CHECK(contains(with(std::string("x\0y", 3), 7), "weight_map.'x\\x00y': must be text"));
  CHECK(contains(with("a", 7), "weight_map.a: must be text"));
  write_safetensors(folder.file("model-2-of-2.safetensors"), tensors("a"), {});
  CHECK(contains(message_of([&] { read(good); }), "'a': is not there according to"));
  CHECK(contains(message_of([&] { read(json::array()); }), "weight_map: must be an object"));
}
