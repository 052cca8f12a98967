#include "formats/heddle/tokenizer_file.hpp"

#include "formats/archives/hdf5_archive.hpp"

namespace heddle::formats {

void save_tokenizer(const std::string& path, const text::TokenizerModel& model, const Provenance& provenance) {
  OutputFile file(path, FileKind::tokenizer);
  write_tokenizer(file.root(), model);
  file.commit(provenance);
}

text::Tokenizer checked_tokenizer(text::TokenizerModel model, const std::string& where, const char* advice) {
  try {
    return text::Tokenizer(std::move(model));
  } catch (const DataError& error) {
    throw DataError(concatenate(where, ": ", error.what(), advice));
  }
}

namespace {

constexpr const char* tokenizer_group = "tokenizer";
constexpr const char* source_group = "source";

hdf5::Group group_of(const InputFile& file, Side side) {
  if (side == Side::source && has_source_tokenizer(file)) {
    return file.root().group(source_group).group(tokenizer_group);
  }
  check<DataError>(file.root().has_group(tokenizer_group), file.path(), ": is ", a_file(file.kind()),
                   " without a tokenizer");
  return file.root().group(tokenizer_group);
}

}  // namespace

void write_tokenizer(hdf5::OutputGroup group, const text::TokenizerModel& model) {
  save_fields(group.create_group(tokenizer_group), model);
}

bool has_source_tokenizer(const InputFile& file) {
  return file.root().has_group(source_group) && file.root().group(source_group).has_group(tokenizer_group);
}

text::TokenizerModel read_tokenizer_model(const InputFile& file, Side side) {
  text::TokenizerModel model;
  load_fields(group_of(file, side), model);
  return model;
}

text::Tokenizer read_tokenizer(const InputFile& file, Side side) {
  const hdf5::Group group = group_of(file, side);
  return checked_tokenizer(read_tokenizer_model(file, side), group.where(), ". The file is damaged");
}

Index read_vocab_size(const InputFile& file, Side side) {
  return group_of(file, side).dataset("pieces").size();
}

void check_made_with(const text::Tokenizer& made_with, const text::Tokenizer& wanted, const std::string& where,
                     const std::string& advice) {
  check<DataError>(made_with.vocab_size() == wanted.vocab_size(), where, ": vocabulary of ", made_with.vocab_size(),
                   " does not match the model's ", wanted.vocab_size(), "; ", advice);
  check<DataError>(made_with.fingerprint() == wanted.fingerprint(), where,
                   ": was made with another tokenizer than the model's; ", advice);
}

}  // namespace heddle::formats
