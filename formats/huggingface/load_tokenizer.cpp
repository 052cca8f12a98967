#include "formats/huggingface/load_tokenizer.hpp"

#include <filesystem>

#include "formats/files/content_type.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/side_files.hpp"

namespace heddle::formats {

text::Tokenizer load_tokenizer(const std::string& path, Side side) {
  if (const ForeignVocabulary* format = find_foreign_vocabulary(path)) {
    const bool of_sources = side == Side::source && format->read_source != nullptr;
    text::TokenizerModel model = (of_sources ? format->read_source : format->read)(path);
    apply_side_files(path, format->classes, model);
    return checked_tokenizer(std::move(model), path);
  }
  const bool is_directory = std::filesystem::is_directory(path);
  check<DataError>(
      !is_directory && looks_like_hdf5(path), path, ": ",
      is_directory ? "is a directory without a tokenizer" : guess_content(Descriptor::open_for_reading(path)),
      ". A tokenizer is in heddle's tokenizer, token, pairs and model files; or it is ", foreign_vocabularies());
  return read_tokenizer(InputFile(path), side);
}

void add_tokenizer_input(Provenance& provenance, const std::string& path, const std::string& role) {
  const ForeignVocabulary* format = find_foreign_vocabulary(path);
  std::vector<std::string> files = format != nullptr ? format->files(path) : std::vector{path};
  for (const std::string& file : format != nullptr ? tokenizer_side_files(path) : std::vector<std::string>()) {
    files.push_back(file);
  }
  for (const std::string& file : files) add_input(provenance, role, file);
}

}  // namespace heddle::formats
