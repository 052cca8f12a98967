// Heddle's own reader of HDF5: it reads whatever the library writes for heddle, says what it does not read, and neither
// work nor memory grow beyond the file.
#include <fcntl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "formats/files.hpp"
#include "formats/hdf5/btree.hpp"
#include "formats/hdf5/column.hpp"
#include "formats/hdf5/driver.hpp"
#include "formats/hdf5/lookup3.hpp"
#include "formats/heddle/file.hpp"
#include "formats/heddle/history.hpp"
#include "formats/heddle/tensor_group.hpp"
#include "formats/library.hpp"
#include "formats/samples.hpp"
#include "support/patience.hpp"
#include "support/peak_memory.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// A file of the kind "tensors" whose root group `fill` fills.
template <class Fill>
std::string written_file(const TemporaryFolder& folder, const Fill& fill) {
  std::string path = folder.file("x.h5");
  OutputFile file(path, FileKind::tensors);
  fill(file.root());
  file.commit(start_provenance("test"));
  return path;
}

// All of a file as text: attributes, parts in their order, elements.
std::string text_of(const hdf5::Object& object) {
  std::string text = object.path() + "\n";
  for (const std::string& name : object.attribute_names()) text += "  " + name + "\n";
  return text;
}
std::string text_of(const hdf5::Dataset& dataset) {
  std::string text = text_of(static_cast<const hdf5::Object&>(dataset));
  text += hdf5::name_of(dataset.dtype()) + Shape(dataset.extents()).text() + " " +
          std::to_string(dataset.offset().value_or(-1)) + "\n";
  const auto add = [&]<class T>(T) {
    std::vector<T> elements(static_cast<std::size_t>(hdf5::bytes_of(dataset.layout(), "")) / sizeof(T));
    dataset.read(std::span(elements));
    text += checksum_of(elements.data(), elements.size() * sizeof(T)) + "\n";
  };
  switch (dataset.dtype()) {
    case hdf5::DType::text:
      return add(char()), text;
    case hdf5::DType::int8:
      return add(std::int8_t()), text;
    case hdf5::DType::int64:
      return add(std::int64_t()), text;
    case hdf5::DType::uint64:
      return add(std::uint64_t()), text;
    case hdf5::DType::uint16:
      return add(std::uint16_t()), text;
    case hdf5::DType::float32:
      return add(float()), text;
    case hdf5::DType::float64:
      return add(double()), text;
    default:
      return text;
  }
}
std::string text_of(const hdf5::Group& group) {
  std::string text = text_of(static_cast<const hdf5::Object&>(group));
  for (const std::string& name : group.names()) {
    text += std::visit([](const auto& part) { return text_of(part); }, group.part(name));
  }
  return text;
}

// Content of a file as heddle's reader shows it; the library must agree.
std::string read_alike(const std::string& path) {
  const std::string own = text_of(InputFile(path).root());
  const Trust trust;
  CHECK(own == text_of(InputFile(path).root()));
  return own;
}

}  // namespace

TEST_CASE("HDF5 reader: checksums are lookup3") {
  // Bob Jenkins's own examples (lookup3.c, driver5), and the lengths around a block of twelve bytes.
  const auto hash = [](std::string_view text) { return hdf5::lookup3(std::as_bytes(std::span(text))); };
  CHECK(hash("") == 0xdeadbeef);
  CHECK(hash("Four score and seven years ago") == 0x17770551);
}

TEST_CASE("HDF5 reader: every kind of file reads as the library reads it") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  for (const WeightType type : {WeightType::f32, WeightType::bf16, WeightType::int8}) {
    write_sample_model(path, start_provenance("test"), type);
    CHECK(contains(read_alike(path), "/weights/decoder/0/attention/query/weight"));
  }
}

TEST_CASE("HDF5 reader: groups of any number of parts keep their order") {
  const TemporaryFolder folder;
  // In the header, with continuations; in one block of a heap; in blocks of a table; in a table of tables.
  for (const Index count : {Index{0}, Index{1}, Index{64}, Index{65}, Index{600}, Index{9000}}) {
    CAPTURE(count);
    const std::string path = written_file(folder, [&](hdf5::OutputGroup root) {
      hdf5::OutputGroup group = root.create_group("group");
      for (Index i = 0; i < count; ++i) {
        const std::string name = "part-" + std::to_string((i * 7919) % 10007) + std::string(30, 'x');
        group.create_dataset(name, {.dtype = hdf5::DType::int8, .extents = {0}});
      }
    });
    const InputFile file(path);
    const std::vector<std::string> names = file.root().group("group").names();
    REQUIRE(static_cast<Index>(names.size()) == count);
    for (Index i = 0; i < count; ++i) {
      REQUIRE(names[static_cast<std::size_t>(i)].starts_with("part-" + std::to_string((i * 7919) % 10007) + "x"));
    }
    if (count < 1000) read_alike(path);
  }
}

TEST_CASE("HDF5 reader: attributes of any number and length") {
  const TemporaryFolder folder;
  const std::string path = written_file(folder, [&](hdf5::OutputGroup root) {
    hdf5::OutputGroup many = root.create_group("many"), long_ones = root.create_group("long");
    for (Index i = 0; i < 300; ++i) many.set_attribute<Index>("attribute-" + std::to_string(i), i);
    for (std::size_t size :
         {std::size_t{0}, std::size_t{3000}, std::size_t{60'000}, std::size_t{70'000}, std::size_t{1'000'000}}) {
      long_ones.set_attribute<std::string>("text-" + std::to_string(size), std::string(size, 'y'));
    }
    long_ones.set_attribute<bool>("yes", true);
    long_ones.set_attribute<bool>("no", false);
    long_ones.set_attribute<double>("number", -0.5);
  });
  read_alike(path);
  const InputFile file(path);
  const hdf5::Group many = file.root().group("many"), long_ones = file.root().group("long");
  for (Index i = 0; i < 300; ++i) REQUIRE(many.attribute<Index>("attribute-" + std::to_string(i)) == i);
  CHECK(long_ones.attribute<std::string>("text-0").empty());
  CHECK(long_ones.attribute<std::string>("text-70000") == std::string(70'000, 'y'));
  CHECK(long_ones.attribute<std::string>("text-1000000").size() == 1'000'000);
  CHECK(long_ones.attribute<bool>("yes"));
  CHECK_FALSE(long_ones.attribute<bool>("no"));
  CHECK(long_ones.attribute<double>("number") == -0.5);
  CHECK(contains(message_of([&] { long_ones.attribute<Index>("number"); }), "/long: attribute number is not a 64-bit"));
}

TEST_CASE("HDF5 reader: chunks of every part of their index, compressed and not") {
  const TemporaryFolder folder;
  // With one row per chunk: in the index block, in data blocks, in secondary blocks, and, from 131,060 on, in pages.
  for (const Index rows :
       {Index{0}, Index{1}, Index{4}, Index{5}, Index{20}, Index{260}, Index{5000}, Index{140'000}}) {
    for (const bool compress : {false, true}) {
      if (compress && rows > 5000) continue;
      CAPTURE(rows);
      CAPTURE(compress);
      std::vector<std::uint16_t> values(static_cast<std::size_t>(rows));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i * 40503);
      const std::string path = written_file(folder, [](const hdf5::OutputGroup&) {});
      change_by_library(path, [&](hid_t file) {
        const hsize_t extent = values.size(), unlimited = H5S_UNLIMITED, chunk = 1;
        const hid_t space = H5Screate_simple(1, &extent, &unlimited), properties = H5Pcreate(H5P_DATASET_CREATE);
        H5Pset_chunk(properties, 1, &chunk);
        if (compress) H5Pset_shuffle(properties), H5Pset_deflate(properties, 4);
        const hid_t data = H5Dcreate2(file, "data", H5T_STD_U16LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
        H5Dwrite(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(data);
      });
      const InputFile file(path);
      const hdf5::Dataset data = file.root().dataset("data");
      CHECK(data.layout().compress == compress);
      std::vector<std::uint16_t> found(values.size());
      data.read(std::span(found));
      CHECK(found == values);
    }
  }
}

namespace {

// The bytes of elements as the filters leave them: shuffled, then deflated, each unless its bit in the mask is set.
std::string filtered(const std::string& elements, std::size_t width, unsigned mask) {
  std::string bytes = elements;
  const std::size_t count = elements.size() / width;
  for (std::size_t i = 0; (mask & 1) == 0 && i < elements.size(); ++i) {
    bytes[i % width * count + i / width] = elements[i];
  }
  if ((mask & 2) != 0) return bytes;
  uLongf size = ::compressBound(bytes.size());
  std::string small(size, '\0');
  REQUIRE(::compress(reinterpret_cast<Bytef*>(small.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                     bytes.size()) == Z_OK);
  return small.substr(0, size);
}

}  // namespace

TEST_CASE("HDF5 reader: chunks that were stored without one of their filters, or without all of them") {
  const TemporaryFolder folder;
  constexpr std::size_t rows = 23, chunk = 5;
  std::vector<std::int64_t> values(rows);
  for (std::size_t i = 0; i < rows; ++i) values[i] = static_cast<std::int64_t>(i * i) - 70;
  for (const bool shuffles : {true, false}) {
    CAPTURE(shuffles);
    const std::string path = written_file(folder, [](const hdf5::OutputGroup&) {});
    change_by_library(path, [&](hid_t file) {
      const hsize_t extent = rows, unlimited = H5S_UNLIMITED, size = chunk;
      const hid_t space = H5Screate_simple(1, &extent, &unlimited), properties = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_chunk(properties, 1, &size);
      if (shuffles) H5Pset_shuffle(properties);
      H5Pset_deflate(properties, 6);
      const hid_t data = H5Dcreate2(file, "data", H5T_STD_I64LE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
      for (hsize_t first = 0; first < rows; first += chunk) {
        std::vector<std::int64_t> part(chunk, 0);
        std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(first), std::min<hsize_t>(chunk, rows - first),
                    part.begin());
        const std::string elements(reinterpret_cast<const char*>(part.data()), sizeof(std::int64_t) * chunk);
        // Bit 0 is for the first of two filters, or for a single one.
        const auto number = static_cast<unsigned>(first / chunk), mask = shuffles ? number % 4 : number % 2;
        const std::string bytes = filtered(elements, sizeof(std::int64_t), shuffles ? mask : 1 + 2 * mask);
        REQUIRE(H5Dwrite_chunk(data, H5P_DEFAULT, mask, &first, bytes.size(), bytes.data()) >= 0);
      }
      H5Dclose(data);
    });
    read_alike(path);
    const InputFile file(path);
    const hdf5::Dataset data = file.root().dataset("data");
    for (Index first = 0; first < static_cast<Index>(rows); ++first) {
      std::vector<std::int64_t> found(rows - static_cast<std::size_t>(first));
      data.read(first, std::ssize(found), std::span(found));
      CHECK(std::equal(found.begin(), found.end(), values.begin() + first));
    }
  }
}

TEST_CASE("HDF5 reader: what other programs may write is read, or refused by name, and read with trust") {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values{5, -1, 7, 7, 0, 3};
  const std::vector<float> floats{1, -2.5F, 0.25F, 3, 8, -9};
  const std::string own = written_file(folder, [](const hdf5::OutputGroup&) {}), path = folder.file("other.h5");
  // The oldest structures that the library writes: another superblock, groups and headers of objects.
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t from = H5Fopen(own.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t root = H5Gopen2(from, "/", H5P_DEFAULT);
  for (const char* name : {"format", "kind", "format_version", "created_by", "created_at", "command_line"}) {
    if (H5Aexists(root, name) <= 0) continue;
    const hid_t attribute = H5Aopen(root, name, H5P_DEFAULT), type = H5Aget_type(attribute);
    std::string value(H5Tget_size(type), '\0');
    H5Aread(attribute, type, value.data());
    const hid_t copy = H5Acreate2(file, name, type, H5Aget_space(attribute), H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(copy, type, value.data());
    H5Aclose(copy);
  }
  H5Ocopy(from, "provenance", file, "provenance", H5P_DEFAULT, H5P_DEFAULT);
  const auto add = [&](const char* name, hid_t stored, hid_t given, hid_t properties, const void* elements) {
    const hsize_t six = 6, most = H5S_UNLIMITED;
    const bool grows = H5Pget_layout(properties) == H5D_CHUNKED;
    const hid_t space = H5Screate_simple(1, &six, grows ? &most : nullptr);
    const hid_t data = H5Dcreate2(file, name, stored, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    REQUIRE(H5Dwrite(data, given, H5S_ALL, H5S_ALL, H5P_DEFAULT, elements) >= 0);
    H5Dclose(data);
  };
  const auto layout = [](H5D_layout_t kind, hsize_t chunk) {
    const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_layout(properties, kind);
    if (chunk > 0) H5Pset_chunk(properties, 1, &chunk);
    return properties;
  };
  add("contiguous", H5T_STD_I64LE, H5T_NATIVE_INT64, layout(H5D_CONTIGUOUS, 0), values.data());
  add("compact", H5T_STD_I64LE, H5T_NATIVE_INT64, layout(H5D_COMPACT, 0), values.data());
  add("chunked", H5T_STD_I64LE, H5T_NATIVE_INT64, layout(H5D_CHUNKED, 4), values.data());
  add("floats", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, layout(H5D_CHUNKED, 1), floats.data());
  add("big", H5T_STD_I64BE, H5T_NATIVE_INT64, layout(H5D_CONTIGUOUS, 0), values.data());
  add("short", H5T_STD_I16LE, H5T_NATIVE_INT64, layout(H5D_CONTIGUOUS, 0), values.data());
  const hid_t checked = layout(H5D_CHUNKED, 2);
  H5Pset_fletcher32(checked);
  add("checked", H5T_STD_I64LE, H5T_NATIVE_INT64, checked, values.data());
  // The second chunk was never written: its elements have the fill value.
  const hid_t sparse = layout(H5D_CHUNKED, 3);
  const hsize_t six = 6, most = H5S_UNLIMITED, first = 0, three = 3;
  const hid_t space = H5Screate_simple(1, &six, &most), memory = H5Screate_simple(1, &three, nullptr);
  const std::int64_t fill = 11;
  H5Pset_fill_value(sparse, H5T_NATIVE_INT64, &fill);
  const hid_t data = H5Dcreate2(file, "sparse", H5T_STD_I64LE, space, H5P_DEFAULT, sparse, H5P_DEFAULT);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, nullptr, &three, nullptr);
  H5Dwrite(data, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, values.data());
  H5Dclose(data);
  H5Gclose(root);
  H5Fclose(from);
  H5Fclose(file);

  CHECK(contains(message_of([&] { InputFile refused(path); }), "has a superblock of version 0"));
  const Trust trust;
  const InputFile trusted(path);
  const auto numbers = [&](const char* name) {
    std::vector<std::int64_t> found(6);
    trusted.root().dataset(name).read(std::span(found));
    return found;
  };
  CHECK(numbers("contiguous") == values);
  CHECK(numbers("chunked") == values);
  CHECK(numbers("sparse") == std::vector<std::int64_t>{5, -1, 7, 11, 11, 11});
  std::vector<float> found(6);
  trusted.root().dataset("floats").read(std::span(found));
  CHECK(found == floats);
  CHECK(contains(message_of([&] { numbers("compact"); }), "/compact: stored in a way that heddle does not use"));
  CHECK(contains(message_of([&] { numbers("big"); }), "/big: elements of a type that heddle does not support"));
  CHECK(contains(message_of([&] { numbers("short"); }), "/short: elements of a type that heddle does not support"));
  CHECK(numbers("checked") == values);
}

TEST_CASE("HDF5 reader: rows that begin and end within chunks, which compress and which do not") {
  const TemporaryFolder folder;
  constexpr Index rows = 100'000;
  for (const bool random : {false, true}) {
    CAPTURE(random);
    std::vector<std::uint64_t> values(rows);
    const RandomStream stream(3, random_site("test"));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random ? stream.below(i, ~std::uint64_t{0}) : i;
    const std::string path = written_file(folder, [&](hdf5::OutputGroup root) {
      ColumnWriter<std::uint64_t> column(root, "data", {.compress = true});
      column.append(std::span<const std::uint64_t>(values));
      column.finish();
    });
    CHECK(std::filesystem::file_size(path) / 8 < (random ? rows + 2000 : rows / 2));
    const InputFile file(path);
    CHECK(read_column<std::uint64_t>(file.root(), "data") == values);
    const hdf5::Dataset data = file.root().dataset("data");
    for (const auto& [first, count] :
         std::vector<std::pair<Index, Index>>{{0, 0}, {65'535, 2}, {rows - 1, 1}, {7, 99'000}}) {
      std::vector<std::uint64_t> part(static_cast<std::size_t>(count));
      data.read(first, count, std::span(part));
      CHECK(std::equal(part.begin(), part.end(), values.begin() + first));
    }
    std::vector<std::uint64_t> part(2);
    CHECK_THROWS_AS(data.read(rows - 1, 2, std::span(part)), DataError);
    CHECK_THROWS_AS(data.read(0, 3, std::span(part)), DataError);
  }
}

TEST_CASE("HDF5 reader: objects outlive the file's name and the object that opened it") {
  const TemporaryFolder folder;
  const std::string path = written_file(folder, [](hdf5::OutputGroup root) {
    write_column(root, "data", std::vector<double>{1, 2});
  });
  const hdf5::Dataset data = InputFile(path).root().dataset("data");
  std::filesystem::remove(path);
  std::vector<double> values(2);
  data.read(std::span(values));
  CHECK(values == std::vector<double>{1, 2});
}

TEST_CASE("HDF5 reader: what HDF5 has and heddle does not write is named, with the word of trust that reads it") {
  const TemporaryFolder folder;
  const std::string path = written_file(folder, [](hdf5::OutputGroup root) { root.create_group("group"); });
  const std::vector<std::int64_t> values{1, 2, 3, 4};
  const auto add = [&](hid_t group, const char* name, hid_t type, hid_t layout) {
    const hsize_t four = 4;
    const hid_t space = H5Screate_simple(1, &four, nullptr);
    const hid_t data = H5Dcreate2(group, name, type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
    if (type == H5T_STD_I64LE) H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(data);
  };
  change_by_library(path, [&](hid_t file) {
    const hid_t group = H5Gopen2(file, "group", H5P_DEFAULT), text = H5Tcopy(H5T_C_S1);
    const hid_t compact = H5Pcreate(H5P_DATASET_CREATE), chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t two = 2;
    H5Tset_size(text, H5T_VARIABLE);
    H5Pset_layout(compact, H5D_COMPACT);
    H5Pset_chunk(chunked, 1, &two);
    add(group, "text", text, H5P_DEFAULT);
    add(group, "compact", H5T_STD_I64LE, compact);
    add(group, "chunked", H5T_STD_I64LE, chunked);
    H5Aclose(H5Acreate2(group, "note", text, H5Screate(H5S_SCALAR), H5P_DEFAULT, H5P_DEFAULT));
    H5Gclose(group);
  });

  const hdf5::Group group = InputFile(path).root().group("group");
  const auto message = [](const hdf5::Group& place, const char* name) { return message_of([&] { place.part(name); }); };
  const std::string hint = ", which heddle does not write; --trust reads a file that you trust";
  CHECK(contains(message(group, "chunked"), path + ": /group/chunked: has chunks with an index of type 3" + hint));
  CHECK(contains(message(group, "text"), ": /group/text: elements of a type that heddle does not support"));
  CHECK(contains(message(group, "compact"), ": /group/compact: stored in a way that heddle does not use"));
  CHECK(contains(message_of([&] { group.attribute<std::string>("note"); }),
                 ": /group: attribute note is of a type that heddle does not write"));

  const Trust trust;
  const hdf5::Group trusted = InputFile(path).root();
  std::vector<std::int64_t> found(4);
  trusted.group("group").dataset("chunked").read(std::span(found));
  CHECK(found == values);
  CHECK(contains(message(trusted.group("group"), "text"),
                 ": /group/text: elements of a type that heddle does not support"));
}

TEST_CASE("HDF5 reader: a file that another program changed is still read") {
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("test"));
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  H5Ldelete(file, "training", H5P_DEFAULT);
  H5Ldelete(file, "/weights/decoder/1/norm/bias", H5P_DEFAULT);
  const hid_t space = H5Screate(H5S_SCALAR), group = H5Gcreate2(file, "new", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t data = H5Dcreate2(group, "data", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const double value = 7;
  H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value);
  H5Dclose(data);
  H5Gclose(group);
  H5Fclose(file);
  const ModelFile model(path);
  CHECK_FALSE(model.has_training());
  CHECK(model.weights().tensors().size() == sample_weights().size() - 1);
  double found = 0;
  model.file().root().group("new").dataset("data").read(std::span(&found, 1));
  CHECK(found == value);
  CHECK(model.verify().empty());
}

namespace {

// Replaces the only occurrence of a number in the header of an object, and makes the header's checksum right.
void replace_in_header(std::string& bytes, std::uint64_t from, std::uint64_t to) {
  const std::string old(reinterpret_cast<const char*>(&from), sizeof from);
  const std::size_t at = bytes.find(old);
  REQUIRE(at != std::string::npos);
  REQUIRE(bytes.find(old, at + 1) == std::string::npos);
  bytes.replace(at, sizeof to, reinterpret_cast<const char*>(&to), sizeof to);
  const std::size_t header = bytes.rfind("OHDR", at);
  REQUIRE(bytes.at(header + 5) == 1);  // the length has two bytes, and nothing stands before it
  std::uint16_t messages = 0;
  std::memcpy(&messages, bytes.data() + header + 6, sizeof messages);
  const std::size_t length = 8 + messages;
  const std::uint32_t checksum = hdf5::lookup3(std::as_bytes(std::span(bytes)).subspan(header, length));
  bytes.replace(header + length, sizeof checksum, reinterpret_cast<const char*>(&checksum), sizeof checksum);
}

std::string write_two_data_sets(const TemporaryFolder& folder) {
  return written_file(folder, [](hdf5::OutputGroup root) {
    for (const char* name : {"first", "second"}) {
      hdf5::OutputDataset data = root.create_dataset(name, {.dtype = hdf5::DType::float32, .extents = {50'000}});
      data.write(std::span<const float>(std::vector<float>(50'000)));
    }
  });
}

}  // namespace

TEST_CASE("HDF5 reader: data sets that lie over one another are no larger than the file together") {
  const TemporaryFolder folder;
  const std::string path = write_two_data_sets(folder);
  std::string bytes = read_bytes(path);
  const auto offset = [&](const char* name) {
    return static_cast<std::uint64_t>(InputFile(path).root().dataset(name).offset().value());
  };
  replace_in_header(bytes, offset("second"), offset("first"));
  // Room for one of them, and a little.
  const std::size_t end = static_cast<std::size_t>(offset("first")) + 250'000;
  bytes.resize(end);
  write_bytes(path, bytes);
  CHECK(contains(message_of([&] { InputFile file(path); }), ": is truncated"));
  bytes = bytes.substr(0, 28) + std::string(reinterpret_cast<const char*>(&end), 8) + bytes.substr(36);
  const std::uint32_t checksum = hdf5::lookup3(std::as_bytes(std::span(bytes)).first(44));
  bytes.replace(44, sizeof checksum, reinterpret_cast<const char*>(&checksum), sizeof checksum);
  write_bytes(path, bytes);
  const InputFile file(path);
  CHECK(file.root().dataset("first").size() == 50'000);
  CHECK(contains(message_of([&] { file.root().dataset("second"); }),
                 ": /second: claims more elements than the file can hold"));
}

TEST_CASE("HDF5 reader: one changed bit of a header is found by its checksum") {
  const TemporaryFolder folder;
  const std::string path = write_two_data_sets(folder);
  std::string bytes = read_bytes(path);
  bytes.at(bytes.find("first") + 1) ^= 4;
  write_bytes(path, bytes);
  CHECK(contains(message_of([&] { InputFile file(path); }), path + ": /: the checksum of a structure does not match"));
}

namespace {

template <class T>
std::string bytes_of(T number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}
std::string with_checksum(const std::string& bytes) {
  return bytes + bytes_of(hdf5::lookup3(std::as_bytes(std::span(bytes))));
}

// The problem with a tree of records of 11 bytes, whose root is a leaf with one record.
std::string tree_problem(std::uint32_t node_width, std::uint16_t depth, std::uint16_t records = 1) {
  const TemporaryFolder folder;
  const std::string header = with_checksum(
      "BTHD" + std::string("\0\x05", 2) + bytes_of(node_width) + bytes_of(std::uint16_t{11}) + bytes_of(depth) +
      std::string(2, '\0') + bytes_of(std::uint64_t{38}) + bytes_of(records) + bytes_of(std::uint64_t{1}));
  REQUIRE(header.size() == 38);
  const std::string leaf = with_checksum("BTLF" + std::string("\0\x05", 2) + "one record.");
  write_bytes(folder.file("x"), header + leaf + std::string(100, '\0'));
  hdf5::StructureReader file(std::make_shared<Descriptor>(Descriptor::open_for_reading(folder.file("x"))));
  std::string found;
  const std::string problem = message_of([&] {
    hdf5::visit_records(file, 0, hdf5::RecordType::link_by_name, 11, "tree", [&](hdf5::Bytes record) {
      found += std::string(reinterpret_cast<const char*>(record.data()), record.size());
    });
  });
  CHECK(found == (problem.empty() ? "one record." : ""));
  return problem;
}

}  // namespace

TEST_CASE("HDF5 reader: trees of records have nodes with room, and few levels") {
  CHECK(tree_problem(21, 0).empty());  // prefix, one record, checksum
  CHECK(tree_problem(512, 0).empty());
  const char* const impossible = "has an index of impossible proportions";
  CHECK(contains(tree_problem(20, 0), impossible));
  CHECK(contains(tree_problem(9, 0), impossible));
  CHECK(contains(tree_problem(0, 0), impossible));
  // Nodes that have no room for a record above the leaves: there is only one descendant, at any depth.
  CHECK(contains(tree_problem(23, 17), impossible));
  CHECK(contains(tree_problem(23, 65'535), impossible));
  CHECK_FALSE(contains(tree_problem(23, 16), impossible));
  CHECK(contains(tree_problem(40, 0, 3), "has an index with too many records in a node"));
}

TEST_CASE("HDF5 driver: bytes that cannot be read are an error at once") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(static_cast<unsigned>(testing::patient_seconds(20)));
    write_bytes(folder.file("inner"), "");
    hdf5::DriverFile file{::open(folder.path().c_str(), O_RDONLY)};  // a directory
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    const bool is_used = hdf5::use_descriptor(access, file);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    ::_exit(is_used && H5Fopen("x", H5F_ACC_RDONLY, access) < 0 ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

namespace {

// Limit of every reader: bytes of memory for a file.
std::size_t most_memory(const std::string& path) {
  return 20 * static_cast<std::size_t>(std::filesystem::file_size(path)) + (std::size_t{64} << 20);
}

}  // namespace

TEST_CASE("HDF5 reader: the columns of a history, and those of a provenance, take memory together as their file may") {
  const TemporaryFolder folder;
  const std::string path = written_file(folder, [](hdf5::OutputGroup root) {
    hdf5::OutputGroup history = root.create_group("history");
    constexpr Index rows = 2'000'000, chunk = 1 << 16;
    const std::vector<double> zeros(rows);
    for (int i = 0; i < 8; ++i) {
      hdf5::OutputDataset data = history.create_dataset(
          std::to_string(i), {.dtype = hdf5::DType::float64, .extents = {rows}, .chunk = chunk, .compress = true});
      data.write(std::span(zeros));
      data.set_attribute<std::string>("xxh128", checksum_of(zeros.data(), zeros.size() * sizeof(double)));
    }
  });
  CHECK(std::filesystem::file_size(path) < 500'000);
  const auto read = [&] { read_history(InputFile(path).root().group("history")); };
  CHECK(contains(message_of(read), "/history/1: with the columns before it has more rows than a file of "));
  CHECK(testing::peak_memory(read) < most_memory(path));

  Provenance long_story = start_provenance("end");
  for (int i = 0; i < 400'000; ++i) long_story.earlier.push_back({"x", "heddle", "now", {}});
  const std::string story = folder.file("story.h5");
  OutputFile(story, FileKind::tensors).commit(long_story);
  const auto read_story = [&] { InputFile(story).provenance(); };
  CHECK(contains(message_of(read_story), "/provenance: 400001 steps with 0 inputs are more than a file of "));
  CHECK(testing::peak_memory(read_story) < most_memory(story));
}

TEST_CASE("HDF5 reader: files made from very many inputs can be read, and become inputs in linear time") {
  const TemporaryFolder folder;
  constexpr int many = 30'000;
  const auto written = [&](const char* name, const Provenance& provenance) {
    OutputFile(folder.file(name), FileKind::tensors).commit(provenance);
    return InputFile(folder.file(name)).provenance();
  };
  Provenance of_texts = start_provenance("tokenize " + std::string(300'000, 'x'));
  for (int i = 0; i < many; ++i) {
    add_input(of_texts, {"text", std::to_string(i), 1, checksum_of(&i, sizeof i)});
  }
  CHECK(written("texts.h5", of_texts) == of_texts);
  Provenance of_files =
      start_provenance("pretrain " + std::string(100'000, 'x') + " \xc3\xa4 " + std::string(200'000, 'y'));
  for (int i = 0; i < many; ++i) {
    Provenance one = start_provenance("tokenize " + std::to_string(i));
    add_input(one, {"text", std::to_string(i), 1, checksum_of(&i, sizeof i)});
    add_input(of_files, {"train", std::to_string(i), 1, checksum_of(&i, sizeof i)}, &one);
  }
  const Provenance read = written("files.h5", of_files);
  CHECK(read.earlier == of_files.earlier);
  CHECK(read.own.inputs == of_files.own.inputs);
  // The column of command lines is as wide as its longest.
  CHECK(read.own.command_line.starts_with("pretrain xxx"));
  CHECK(read.own.command_line.ends_with("yyy"));
  CHECK(contains(read.own.command_line, "x ... y"));
  CHECK(std::filesystem::file_size(folder.file("files.h5")) < 64'000'000);
}

TEST_CASE("HDF5 writer: columns of very many rows are written so that they can be read, however alike they are") {
  const TemporaryFolder folder;
  const std::vector<std::string> letters(600'000, "a");
  const std::string path =
      written_file(folder, [&](hdf5::OutputGroup root) { write_column(root, "letters", letters); });
  CHECK(read_column<std::string>(InputFile(path).root(), "letters") == letters);
}

TEST_CASE("HDF5 writer: one long text among many short ones does not make their file large") {
  const TemporaryFolder folder;
  std::vector<std::string> pieces;
  for (int i = 0; i < 50'000; ++i) pieces.push_back("piece " + std::to_string(i));
  pieces[777] = std::string(300, 'x');
  const std::string path = written_file(folder, [&](hdf5::OutputGroup root) { write_column(root, "pieces", pieces); });
  CHECK(std::filesystem::file_size(path) < 1'000'000);  // fifteen million bytes with the padding
  CHECK(read_column<std::string>(InputFile(path).root(), "pieces") == pieces);
}

TEST_CASE("HDF5 reader: a column takes memory only as its file may, however well it is compressed") {
  const TemporaryFolder folder;
  constexpr Index rows = Index{1} << 24;
  SUBCASE("texts") {
    const std::string path = written_file(folder, [](hdf5::OutputGroup root) {
      hdf5::OutputDataset data = root.create_dataset(
          "data",
          {.dtype = hdf5::DType::text, .extents = {rows}, .text_width = 1, .chunk = Index{1} << 20, .compress = true});
      const std::vector<char> empty(1 << 20);
      for (Index first = 0; first < rows; first += 1 << 20) data.write<char>(first, 1 << 20, empty);
      data.set_attribute<std::string>("xxh128", "");
    });
    CHECK(std::filesystem::file_size(path) < 100'000);
    const auto read = [&] { read_column<std::string>(InputFile(path).root(), "data"); };
    CHECK(contains(message_of(read), "/data: 16777216 rows are more than a file of "));
    CHECK(testing::peak_memory(read) < most_memory(path));
  }
  SUBCASE("long texts") {
    const std::string path = written_file(folder, [](hdf5::OutputGroup root) {
      constexpr Index width = 1 << 16, count = 1 << 12;
      hdf5::OutputDataset data = root.create_dataset(
          "data", {.dtype = hdf5::DType::text, .extents = {count}, .text_width = width, .chunk = 4, .compress = true});
      std::vector<char> same(4 * width, 'x');
      for (Index i = 0; i < 4; ++i) same[static_cast<std::size_t>((i + 1) * width - 1)] = '\0';
      for (Index first = 0; first < count; first += 4) data.write<char>(first, 4, same);
      data.set_attribute<std::string>("xxh128", "");
    });
    CHECK(std::filesystem::file_size(path) < 2'000'000);
    const auto read = [&] { read_column<std::string>(InputFile(path).root(), "data"); };
    CHECK(contains(message_of(read), "/data: more text than a file of "));
    CHECK(testing::peak_memory(read) < most_memory(path));
  }
  SUBCASE("numbers") {
    const std::string path = written_file(folder, [](hdf5::OutputGroup root) {
      ColumnWriter<std::uint64_t> column(root, "data", {.compress = true});
      for (Index i = 0; i < rows; i += 1 << 16) column.append(std::vector<std::uint64_t>(1 << 16));
      column.finish();
    });
    CHECK(std::filesystem::file_size(path) < 400'000);
    const auto read = [&] { read_column<std::uint64_t>(InputFile(path).root(), "data"); };
    CHECK(contains(message_of(read), "/data: 16777216 rows are more than a file of "));
    CHECK(testing::peak_memory(read) < most_memory(path));
  }
}

namespace {

// Seconds of this program's processor time, the least of three.
template <class Body>
double processor_time(const Body& body) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const double start = now();
    body();
    least = std::min(least, now() - start);
  }
  return least;
}

}  // namespace

TEST_CASE("HDF5 reader: the time and memory of many empty tensors grow with their number") {
  const TemporaryFolder folder;
  const auto file_of = [&](Index count) {
    const std::string path = written_file(folder, [&](hdf5::OutputGroup root) {
      std::vector<NamedTensor> tensors;
      for (Index i = 0; i < count; ++i) tensors.push_back({std::to_string(i), Tensor(Shape{0})});
      write_tensors(root.create_group("weights"), tensors);
    });
    std::filesystem::rename(path, path + std::to_string(count));
    return path + std::to_string(count);
  };
  constexpr Index few = 250, many = 64 * few;
  const auto list = [](const std::string& path, Index count) {
    const InputFile file(path);
    const hdf5::Group weights = file.root().group("weights");
    if (std::ssize(TensorGroup(weights).tensors()) != count) std::abort();
    for (const std::string& name : weights.names()) weights.dataset(name);
  };
  const std::string small = file_of(few), large = file_of(many);
  CHECK(testing::peak_memory([&] { list(large, many); }) < most_memory(large));
  // 64 times the time if it is linear, 4,096 times if it is quadratic.
  const double ratio = processor_time([&] { list(large, many); }) / processor_time([&] { list(small, few); });
  CHECK(ratio < 600);
}
