// Folders and files for tests.
#pragma once

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/base/error.hpp"
#include "libcore/base/real.hpp"
#include "support/skips.hpp"

namespace heddle::tests {

// A folder that vanishes at the end of the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "heddle-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// The message of the error that the call throws; "" when it throws none.
template <class Kind = DataError, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Kind& error) {
    return error.what();
  }
  return "";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Output of a shell command; sets `status` to its exit status.
inline std::string output_of(const std::string& command, int& status) {
  std::string output;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int letter = std::fgetc(pipe); letter != EOF; letter = std::fgetc(pipe)) output += static_cast<char>(letter);
  status = ::pclose(pipe);
  return output;
}

// The text of a compressed file.
inline std::string unpacked(const std::string& path) {
  int status = 0;
  const std::string text = output_of("gzip -dc '" + path + "'", status);
  REQUIRE(status == 0);
  return text;
}

// Where a file or folder of the shared data is; "" with a message where there is none.
inline std::string shared_path(const std::string& name) {
  const char* folder = std::getenv("HEDDLE_SHARED_DATA");
  const std::string path = folder != nullptr ? std::string(folder) + "/" + name : "";
  if (!path.empty() && std::filesystem::exists(path)) return path;
  testing::skipped("no " + name + " in HEDDLE_SHARED_DATA");
  return "";
}

// The content of a file, unpacked where it is compressed.
inline std::string content_of(const std::string& path) {
  return path.ends_with(".gz") ? unpacked(path) : read_bytes(path);
}

// Content of a file of the shared data; "" with a message if there is none.
inline std::string shared_content(const std::string& name) {
  const std::string path = shared_path(name);
  return path.empty() ? "" : content_of(path);
}

inline std::vector<TokenId> numbers(const std::string& line) {
  std::istringstream stream(line);
  return {std::istream_iterator<TokenId>(stream), {}};
}

// While it lives, files say that they were made at this time.
class FixedTime {
 public:
  FixedTime() { ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1); }
  ~FixedTime() { ::unsetenv("SOURCE_DATE_EPOCH"); }
};

}  // namespace heddle::tests
