#include <doctest/doctest.h>
#include <sys/stat.h>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/files.hpp"
#include "formats/files/content_type.hpp"
#include "formats/heddle/content.hpp"
#include "formats/heddle/file.hpp"
#include "formats/library.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

std::string message_for(const std::string& path) {
  return message_of([&] { InputFile file(path); });
}

std::string message_for_content(const std::string& content) {
  const TemporaryFolder folder;
  write_bytes(folder.file("x"), content);
  const std::string message = message_for(folder.file("x")), prefix = folder.file("x") + ": ";
  REQUIRE(message.substr(0, prefix.size()) == prefix);
  CHECK(message.find('\n') == std::string::npos);
  return message.substr(prefix.size());
}

void write_small_file(const std::string& path) {
  OutputFile file(path, FileKind::tensors);
  hdf5::OutputGroup group = file.root().create_group("group");
  write_column(group, "numbers", std::vector<double>{1, 2, 3});
  file.commit(start_provenance("test"));
}

}  // namespace

TEST_CASE("foreign files are recognised for what they are") {
  CHECK(message_for_content("") == "is empty");
  CHECK(message_for_content("Once upon a time\n") == "is plain text, not a heddle file");
  CHECK(message_for_content("{\"a\": 1}") == "is JSON, not a heddle file");
  CHECK(message_for_content("\x1f\x8b\x08 …") == "is compressed with gzip; decompress it first");
  CHECK(message_for_content(std::string("\xfd"
                                        "7zXZ\0",
                                        6)) == "is compressed with xz; decompress it first");
  CHECK(message_for_content("BZh91AY&SY…") == "is compressed with bzip2; decompress it first");
  CHECK(message_for_content("\x28\xb5\x2f\xfd…") == "is compressed with zstd; decompress it first");
  CHECK(message_for_content("BZh is no name\n") == "is plain text, not a heddle file");
  CHECK(contains(message_for_content("PK\3\4…"), "is a zip archive"));
  CHECK(contains(message_for_content("GGUF\3"), "is a GGUF file"));
  CHECK(contains(message_for_content(std::string("\x10\0\0\0\0\0\0\0{\"a\":", 13)), "is a safetensors file"));
  CHECK(contains(message_for_content(std::string(5000, '\0')), "contains only zeros"));
  CHECK(message_for_content("\x80\x01\x02") == "is not a heddle file");
  // A character of four bytes that continues beyond what was read, and more than one can lack.
  CHECK(message_for_content("text \xf0\x9f\x98") == "is plain text, not a heddle file");
  CHECK(message_for_content("text \x80\x80\x80\x80") == "is not a heddle file");
  CHECK(contains(message_for_content("\x89HDF\r\n\x1a\n"), "The file is damaged or not heddle's"));
}

TEST_CASE("foreign files: objects of JSON are recognised after blanks and a byte order mark") {
  const auto is_json = [](const std::string& content) {
    const TemporaryFolder folder;
    write_bytes(folder.file("x"), content);
    return looks_like_json(Descriptor::open_for_reading(folder.file("x")));
  };
  for (const std::string before : {"", " ", "\t", "\n", "\r\n \n", "\xEF\xBB\xBF", "\xEF\xBB\xBF\n"}) {
    CHECK(is_json(before + "{}"));
    CHECK_FALSE(is_json(before + "[{}]"));
    CHECK_FALSE(is_json(before));
  }
}

TEST_CASE("paths that are no files") {
  const TemporaryFolder folder;
  CHECK(message_for(folder.file("absent")) == folder.file("absent") + ": cannot open: No such file or directory");
  CHECK(contains(message_for(folder.path().string()), "is a directory; a file is needed"));
  REQUIRE(::mkfifo(folder.file("pipe").c_str(), 0600) == 0);
  CHECK(contains(message_for(folder.file("pipe")), "is not a regular file"));
}

TEST_CASE("HDF5 files of others are refused, as are heddle's of another kind or a newer version") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  const hid_t foreign = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(foreign >= 0);
  H5Fclose(foreign);
  CHECK(message_for(path) == path + ": is an HDF5 file, but not a heddle file");
  write_bytes(path, read_bytes(path) + "heddle");  // as an attribute of a file of heddle's that was written anew
  CHECK(message_for(path) == path +
                                 ": has a superblock of version 0, which heddle does not write; --trust reads a file "
                                 "that you trust with the HDF5 library");
  {
    const Trust trust;
    CHECK(message_for(path) == path + ": is an HDF5 file, but not a heddle file");
  }

  write_small_file(path);
  CHECK(kind_of(path) == FileKind::tensors);
  CHECK(message_of([&] { InputFile(path).expect(FileKind::model); }) ==
        path + ": is a tensors file; a model file is needed");

  const std::int64_t newer = format_version + 1;
  change_by_library(path, [&](hid_t file) {
    const hid_t version = H5Aopen(file, "format_version", H5P_DEFAULT);
    H5Awrite(version, H5T_NATIVE_INT64, &newer);
    H5Aclose(version);
  });
  CHECK(message_for(path) == concatenate(path, ": is of format version ", newer,
                                         ", and this program reads versions up to ", format_version,
                                         "; use a newer heddle"));
}

TEST_CASE("truncated files are refused, with how much is missing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  write_small_file(path);
  const std::string whole = read_bytes(path);
  write_bytes(path, whole.substr(0, whole.size() / 2));
  CHECK(message_for(path) ==
        concatenate(path, ": is truncated: it had ", whole.size(), " bytes and has ", whole.size() / 2));
}

TEST_CASE("files from strangers cannot reach outside themselves or claim more than they hold") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5"), secret = folder.file("secret");
  write_bytes(secret, "12345678");
  write_small_file(path);
  const hsize_t unlimited = H5S_UNLIMITED;
  change_by_library(path, [&](hid_t file) {
    const hid_t group = H5Gopen2(file, "group", H5P_DEFAULT);
    const auto add = [&](const char* name, hid_t type, hsize_t size, const auto& set) {
      const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
      set(properties);
      const bool can_grow = H5Pget_layout(properties) == H5D_CHUNKED;
      const hid_t space = H5Screate_simple(1, &size, can_grow ? &unlimited : nullptr);
      H5Dclose(H5Dcreate2(group, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT));
      H5Pclose(properties);
      H5Sclose(space);
    };
    H5Lcreate_soft("/group/numbers", group, "soft", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_external("other.h5", "/", group, "external", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/group", group, "cycle", H5P_DEFAULT, H5P_DEFAULT);
    add("elsewhere", H5T_STD_I64LE, 1, [&](hid_t p) { H5Pset_external(p, secret.c_str(), 0, 8); });
    add("never_written", H5T_STD_I64LE, 1, [](hid_t p) { H5Pset_alloc_time(p, H5D_ALLOC_TIME_LATE); });
    add("endless", H5T_STD_I64LE, hsize_t{1} << 50, [](hid_t p) {
      const hsize_t chunk = 1024;
      H5Pset_chunk(p, 1, &chunk);
    });
    add("huge_chunk", H5T_STD_I64LE, hsize_t{1} << 28, [](hid_t p) {
      const hsize_t chunk = hsize_t{1} << 28;
      H5Pset_chunk(p, 1, &chunk);
    });
    add("odd_filter", H5T_STD_I64LE, 8, [](hid_t p) {
      const hsize_t chunk = 8;
      H5Pset_chunk(p, 1, &chunk);
      H5Pset_scaleoffset(p, H5Z_SO_INT, 0);
    });
    add("odd_type", H5T_STD_I64BE, 1, [](hid_t) {});
    H5Gclose(group);
  });

  const InputFile input(path);
  const hdf5::Group parts = input.root().group("group");
  const auto message = [&](const char* name) { return message_of([&] { parts.dataset(name); }); };
  CHECK(contains(message("soft"), "is a link, which heddle does not support"));
  CHECK(contains(message("external"), "is a link, which heddle does not support"));
  CHECK(contains(message("elsewhere"), "refers to another file"));
  CHECK(contains(message("never_written"), "claims more elements than the file can hold"));
  CHECK(contains(message("endless"), "claims more elements than the file can hold"));
  CHECK(contains(message("huge_chunk"), "are too large"));
  CHECK(contains(message("odd_filter"), "stored with a filter that heddle does not use"));
  CHECK(contains(message("odd_type"), "elements of a type that heddle does not support"));
  CHECK(contains(message("cycle"), ": /group/cycle is /group under another name"));
  CHECK(contains(message("absent"), "lacks absent"));
  CHECK(contains(message("../group"), "cannot name a part"));
  CHECK(contains(message_of([&] { read_column<std::string>(parts, "numbers"); }), "holds float64, not text"));
  CHECK(read_column<double>(parts, "numbers") == std::vector<double>{1, 2, 3});
}

namespace {

// The checksum of a file with these bytes, in a chunked data set or not, and this attribute, made in either order.
std::string content_of(const std::vector<std::int8_t>& bytes, Index chunk, double number, bool first) {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.file("x.h5"), FileKind::tensors);
    const auto add_group = [&] { file.root().create_group("a group").set_attribute<double>("number", number); };
    if (first) add_group();
    hdf5::OutputDataset data = file.root().create_dataset(
        "data", {.dtype = hdf5::DType::int8, .extents = {std::ssize(bytes)}, .chunk = chunk});
    data.write(std::span<const std::int8_t>(bytes));
    if (!first) add_group();
    file.commit(start_provenance(first ? "one" : "two"));
  }
  return content_checksum(InputFile(folder.file("x.h5")));
}

}  // namespace

// A megabyte is read at once.
TEST_CASE("content of files: each byte counts, of more than are read at once, and neither storage nor order do") {
  constexpr Index megabyte = Index{1} << 20;
  for (const Index size : {Index{1}, megabyte - 1, megabyte, megabyte + 1, 2 * megabyte + 7}) {
    CAPTURE(size);
    std::vector<std::int8_t> bytes(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::int8_t>(i * i % 127);
    const std::string expected = content_of(bytes, 0, 0.5, true);
    CHECK(content_of(bytes, 1000, 0.5, false) == expected);
    CHECK(content_of(bytes, 0, 0.25, true) != expected);
    for (const Index place : {Index{0}, size / 2, size - 1}) {
      std::int8_t& byte = bytes[static_cast<std::size_t>(place)];
      ++byte;
      CHECK(content_of(bytes, 0, 0.5, true) != expected);
      --byte;
    }
  }
}
