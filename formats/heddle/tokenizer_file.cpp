#include "heddle/formats/heddle/tokenizer_file.hpp"

#include <filesystem>

#include "heddle/formats/archives/hdf5_archive.hpp"
#include "heddle/formats/huggingface/foreign_vocabulary.hpp"

namespace heddle::formats {

void save_tokenizer(const std::string& path, const text::TokenizerModel& model, const Provenance& provenance) {
  OutputFile file(path, FileKind::tokenizer);
  write_tokenizer(file, model);
  file.commit(provenance);
}

namespace {

// Throws what the tokenizer says about its model, with the name of where it came from.
text::Tokenizer checked(text::TokenizerModel model, const std::string& where, const char* advice) {
  try {
    return text::Tokenizer(std::move(model));
  } catch (const DataError& error) {
    throw DataError(concatenate(where, ": ", error.what(), advice));
  }
}

}  // namespace

text::Tokenizer load_tokenizer(const std::string& path) {
  if (const ForeignVocabulary* format = find_foreign_vocabulary(path)) return checked(format->read(path), path, "");
  const bool is_directory = std::filesystem::is_directory(path);
  check<DataError>(
      !is_directory && looks_like_hdf5(path), path, ": ",
      is_directory ? "is a directory without a tokenizer" : guess_content(Descriptor::open_for_reading(path)),
      ". A tokenizer is in heddle's tokenizer, token and model files; or it is ", foreign_vocabularies());
  return read_tokenizer(InputFile(path));
}

void add_tokenizer_input(Provenance& provenance, const std::string& path) {
  const ForeignVocabulary* format = find_foreign_vocabulary(path);
  for (const std::string& file : format != nullptr ? format->files(path) : std::vector{path}) {
    add_input(provenance, "tokenizer", file);
  }
}

void write_tokenizer(OutputFile& file, const text::TokenizerModel& model) {
  save_fields(file.root().create_group("tokenizer"), model);
}

text::TokenizerModel read_tokenizer_model(const InputFile& file) {
  check<DataError>(file.root().has_group("tokenizer"), file.path(), ": is a ", to_text(file.kind()),
                   " file without a tokenizer");
  text::TokenizerModel model;
  load_fields(file.root().group("tokenizer"), model);
  return model;
}

text::Tokenizer read_tokenizer(const InputFile& file) {
  return checked(read_tokenizer_model(file), file.path() + ": /tokenizer", ". The file is damaged");
}

}  // namespace heddle::formats
