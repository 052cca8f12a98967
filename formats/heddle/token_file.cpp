#include "formats/heddle/token_file.hpp"

#include "formats/heddle/problems.hpp"

namespace heddle::formats {

TokenFileWriter::TokenFileWriter(const std::string& path, const text::Tokenizer& tokenizer, TokenFileOptions options)
    : file_(path, FileKind::tokens), tokens_(file_.root(), path, tokenizer.vocab_size(), options) {
  write_tokenizer(file_.root(), tokenizer.model());
}

void TokenFileWriter::append(std::span<const TokenId> ids, Index text_bytes) {
  tokens_.append(ids, text_bytes);
  file_.check_written();
}

void TokenFileWriter::commit(const Provenance& provenance) {
  tokens_.finish();
  file_.commit(provenance);
}

TokenFile::TokenFile(const std::string& path)
    : file_(path), tokens_(file_.expect(FileKind::tokens).root(), path, read_vocab_size(file_)) {}

Index TokenFile::document_at(Index offset) const {
  Index first = 0, last = documents() - 1;
  while (first < last) {
    const Index middle = first + (last - first) / 2;
    if (document(middle).second > offset) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

void TokenFile::check_made_with(const text::Tokenizer& tokenizer, const std::string& model) const {
  formats::check_made_with(this->tokenizer(), tokenizer, name(),
                           "encode it with the model's tokenizer (tokenize -t " + model + ")");
}

std::vector<std::string> TokenFile::verify() const {
  Problems problems;
  problems.add(tokens_.verify());
  problems.watch([&] { tokenizer(); });
  problems.watch([&] { file_.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
