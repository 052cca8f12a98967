#include "heddle/formats/tokenizer_file.hpp"

#include <filesystem>

#include "heddle/formats/gpt2_vocabulary.hpp"
#include "heddle/formats/hdf5_archive.hpp"
#include "heddle/formats/wordpiece_vocabulary.hpp"

namespace heddle::formats {

void save_tokenizer(const std::string& path, const text::TokenizerModel& model, const Provenance& provenance) {
  OutputFile file(path, FileKind::tokenizer);
  write_tokenizer(file, model);
  file.commit(provenance);
}

text::Tokenizer load_tokenizer(const std::string& path) {
  if (is_wordpiece_vocabulary(path)) return text::Tokenizer(read_wordpiece_vocabulary(path));
  if (std::filesystem::is_directory(path)) return text::Tokenizer(read_gpt2_vocabulary(path));
  return read_tokenizer(InputFile(path));
}

void add_tokenizer_input(Provenance& provenance, const std::string& path) {
  if (is_wordpiece_vocabulary(path)) return add_input(provenance, "tokenizer", wordpiece_vocabulary_file(path));
  if (!std::filesystem::is_directory(path)) return add_input(provenance, "tokenizer", path);
  const std::filesystem::path folder(path);
  const bool openai = !std::filesystem::exists(folder / "vocab.json");
  add_input(provenance, "tokenizer", (folder / (openai ? "encoder.json" : "vocab.json")).string());
  add_input(provenance, "tokenizer", (folder / (openai ? "vocab.bpe" : "merges.txt")).string());
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
  text::TokenizerModel model = read_tokenizer_model(file);
  try {
    return text::Tokenizer(std::move(model));
  } catch (const DataError& error) {
    throw DataError(concatenate(file.path(), ": /tokenizer: ", error.what(), ". The file is damaged"));
  }
}

}  // namespace heddle::formats
