#include "fuzz/target.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace heddle::fuzz {

namespace {

class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    const bool in_memory = ::access(memory.c_str(), W_OK) == 0;
    std::string name = ((in_memory ? memory : std::filesystem::temp_directory_path()) / "heddle-fuzz-XXXXXX").string();
    expect(::mkdtemp(name.data()) != nullptr, "no folder for inputs");
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

void expect(bool condition, const std::string& otherwise) {
  if (!condition) throw std::logic_error(otherwise);
}

std::string write_input(const std::string& name, std::string_view bytes) {
  static const Folder folder;
  const std::filesystem::path path = folder.path() / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  expect(!file.fail(), "cannot write an input");
  return path;
}

void use(const text::Tokenizer& tokenizer) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv, "Hello, w\xC3\xB6rld! [MASK] 12\n\t it's"sv, "a\0\xFF\xE2\x96 ##b<s>"sv}) {
    read_or_refuse([&] {
      const std::vector<TokenId> ids = tokenizer.encode(text);
      tokenizer.decode(ids);
    });
    read_or_refuse([&] {
      for (const text::LocatedToken& token : tokenizer.encode_with_offsets(text)) {
        expect(token.begin <= token.end && token.end <= text.size(), "a token beyond its text");
      }
    });
  }
}

}  // namespace heddle::fuzz
