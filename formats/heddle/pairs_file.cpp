#include "formats/heddle/pairs_file.hpp"

#include <algorithm>

#include "formats/heddle/problems.hpp"

namespace heddle::formats {

namespace {

constexpr Index pairs_version = 4;

const char* group_name(Side side) {
  return side == Side::source ? "source" : "target";
}

std::string where(const std::string& path, Side side) {
  return concatenate(path, ": /", group_name(side));
}

TokenColumns open_side(const InputFile& file, Side side) {
  return {file.expect(FileKind::pairs).root().group(group_name(side)), where(file.path(), side),
          read_vocab_size(file, side)};
}

}  // namespace

PairsFileWriter::PairsFileWriter(const std::string& path, const text::Tokenizer& source, const text::Tokenizer& target,
                                 TokenFileOptions options)
    : file_(path, FileKind::pairs),
      path_(path),
      source_(file_.root().group(group_name(Side::source)), where(path, Side::source), source.vocab_size(), options),
      target_(file_.root().group(group_name(Side::target)), where(path, Side::target), target.vocab_size(), options) {
  file_.needs_version(pairs_version);
  write_tokenizer(file_.root(), target.model());
  if (source.model() != target.model()) write_tokenizer(file_.root().group(group_name(Side::source)), source.model());
}

void PairsFileWriter::append(Side side, std::span<const TokenId> ids, Index text_bytes) {
  of(side).append(ids, text_bytes);
  file_.check_written();
}

void PairsFileWriter::commit(const Provenance& provenance) {
  source_.finish();
  target_.finish();
  check<DataError>(source_.documents() == target_.documents(), path_, ": would have ", source_.documents(),
                   " sources and ", target_.documents(), " targets");
  file_.commit(provenance);
}

PairsFile::PairsFile(const std::string& path)
    : file_(path), source_{open_side(file_, Side::source), {}}, target_{open_side(file_, Side::target), {}} {
  check<DataError>(source_.tokens.documents() == target_.tokens.documents(), name(), ": has ",
                   source_.tokens.documents(), " sources, but ", target_.tokens.documents(),
                   " targets. The file is damaged or not heddle's");
  constexpr Index bytes_per_pair = 2 * sizeof(std::uint64_t);
  check<DataError>(size() <= memory_limit(file_.root().file()) / bytes_per_pair, name(), ": ", size(),
                   " pairs are more than a file of this size can contain");
  read_bounds(source_);
  read_bounds(target_);
}

// A text is read at once, so none may be much larger than its file.
void PairsFile::read_bounds(Texts& texts) const {
  texts.bounds = texts.tokens.document_bounds();
  const Index most = memory_limit(file_.root().file()) / static_cast<Index>(sizeof(TokenId));
  for (Index i = 0; i < texts.tokens.documents(); ++i) {
    check<DataError>(length(texts, i) <= most, name(), ": pair ", i, " has ", length(texts, i),
                     " tokens, more than a file of this size can contain");
  }
}

void PairsFile::check_number(Index pair) const {
  check<DataError>(pair >= 0 && pair < size(), name(), ": has no pair ", pair, ", only ", size());
}

Index PairsFile::length(const Texts& texts, Index pair) const {
  check_number(pair);
  const auto i = static_cast<std::size_t>(pair);
  return static_cast<Index>(texts.bounds[i + 1] - texts.bounds[i]);
}

std::vector<TokenId> PairsFile::read(const Texts& texts, Index pair) const {
  std::vector<TokenId> ids(static_cast<std::size_t>(length(texts, pair)));
  texts.tokens.read(static_cast<Index>(texts.bounds[static_cast<std::size_t>(pair)]), ids);
  return ids;
}

void PairsFile::check_made_with(const text::Tokenizer& source, const text::Tokenizer& target,
                                const std::string& model) const {
  const std::string advice =
      concatenate("encode the pairs with the model's tokenizer", source.model() != target.model() ? "s" : "",
                  " (tokenize --pairs -t ", model, ")");
  formats::check_made_with(tokenizer(Side::source), source, where(name(), Side::source), advice);
  formats::check_made_with(tokenizer(Side::target), target, where(name(), Side::target), advice);
}

std::vector<std::string> PairsFile::verify() const {
  Problems problems;
  for (const Texts* texts : {&source_, &target_}) problems.add(texts->tokens.verify());
  problems.watch([&] { tokenizer(Side::target); });
  if (has_source_tokenizer()) problems.watch([&] { tokenizer(Side::source); });
  problems.watch([&] { file_.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
