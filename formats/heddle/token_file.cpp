#include "heddle/formats/heddle/token_file.hpp"

#include <algorithm>

#include "heddle/formats/heddle/problems.hpp"

namespace heddle::formats {

namespace {

constexpr Index largest_narrow_vocabulary = 65536;
constexpr Index verified_at_once = Index{1} << 18;  // tokens
constexpr const char* text_bytes_attribute = "text_bytes";

hdf5::Dataset open_ids(const InputFile& file) {
  const hdf5::Group& root = file.expect(FileKind::tokens).root();
  hdf5::Dataset ids = root.dataset("tokens");
  const bool narrow = ids.dtype() == hdf5::DType::uint16;
  check<DataError>((narrow || ids.dtype() == hdf5::DType::uint32) && ids.extents().size() == 1, ids.where(),
                   ": is not a list of token ids. The file is damaged or not heddle's");
  return ids;
}

hdf5::Dataset open_documents(const InputFile& file) {
  hdf5::Dataset documents = file.root().dataset("documents");
  check<DataError>(documents.dtype() == hdf5::DType::uint64 && documents.extents().size() == 1 && documents.size() >= 1,
                   documents.where(), ": is not a list of offsets. The file is damaged or not heddle's");
  return documents;
}

}  // namespace

TokenFileWriter::Ids TokenFileWriter::make_ids(const OutputFile& file, Index vocab_size,
                                               const TokenFileOptions& options) {
  check<DataError>(!options.compress || hdf5::can_compress(),
                   "this HDF5 library cannot compress; write the token file uncompressed");
  if (vocab_size <= largest_narrow_vocabulary) {
    return ColumnWriter<std::uint16_t>(file.root(), "tokens", {options.compress});
  }
  return ColumnWriter<std::uint32_t>(file.root(), "tokens", {options.compress});
}

TokenFileWriter::TokenFileWriter(const std::string& path, const text::Tokenizer& tokenizer, TokenFileOptions options)
    : file_(path, FileKind::tokens),
      path_(path),
      vocab_size_(tokenizer.vocab_size()),
      ids_(make_ids(file_, vocab_size_, options)),
      documents_(file_.root(), "documents", {options.compress}) {
  write_tokenizer(file_, tokenizer.model());
  documents_.append(0);
}

Index TokenFileWriter::size() const {
  return std::visit([](const auto& ids) { return ids.size(); }, ids_);
}

void TokenFileWriter::append(std::span<const TokenId> ids, Index text_bytes) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check<DataError>(ids[i] >= 0 && ids[i] < vocab_size_, path_, ": token ", size() + static_cast<Index>(i), " is ",
                     ids[i], ", outside the vocabulary of ", vocab_size_);
  }
  text_bytes_ += text_bytes;
  std::visit([&]<class Id>(ColumnWriter<Id>& column) { column.append(std::vector<Id>(ids.begin(), ids.end())); }, ids_);
  file_.check_written();
}

void TokenFileWriter::end_document() {
  document_begin_ = size();
  documents_.append(static_cast<std::uint64_t>(document_begin_));
}

void TokenFileWriter::commit(const Provenance& provenance) {
  if (document_begin_ != size()) end_document();
  std::visit([&](auto& column) { column.finish().template set_attribute<Index>(text_bytes_attribute, text_bytes_); },
             ids_);
  documents_.finish();
  file_.commit(provenance);
}

TokenFile::TokenFile(const std::string& path)
    : file_(path),
      ids_(open_ids(file_)),
      documents_(open_documents(file_)),
      vocab_size_(file_.root().group("tokenizer").dataset("pieces").size()),
      text_bytes_(ids_.attribute<Index>(text_bytes_attribute)) {}

void TokenFile::read(Index offset, std::span<TokenId> out) const {
  const auto count = static_cast<Index>(out.size());
  check<DataError>(offset >= 0 && count <= size() && offset <= size() - count, name(), ": has no ", count,
                   " tokens starting at token ", offset, ", only ", size());
  const std::lock_guard lock(mutex_);
  if (ids_.dtype() == hdf5::DType::uint16) {
    read_as(offset, out, narrow_);
  } else {
    read_as(offset, out, wide_);
  }
}

template <class Id>
void TokenFile::read_as(Index offset, std::span<TokenId> out, std::vector<Id>& buffer) const {
  buffer.resize(out.size());
  ids_.read<Id>(offset, static_cast<Index>(out.size()), buffer);
  for (std::size_t i = 0; i < out.size(); ++i) {
    check<DataError>(buffer[i] < vocab_size_, name(), ": token ", offset + static_cast<Index>(i), " is ", buffer[i],
                     ", outside the vocabulary of ", vocab_size_, ". The file is damaged");
    out[i] = static_cast<TokenId>(buffer[i]);
  }
}

std::pair<Index, Index> TokenFile::document(Index number) const {
  check<DataError>(number >= 0 && number < documents(), name(), ": has no document ", number, ", only ", documents());
  std::uint64_t bounds[2];
  documents_.read<std::uint64_t>(number, 2, bounds);
  check<DataError>(bounds[0] <= bounds[1] && bounds[1] <= static_cast<std::uint64_t>(size()), documents_.where(),
                   ": document ", number, " does not lie within the tokens. The file is damaged");
  return {static_cast<Index>(bounds[0]), static_cast<Index>(bounds[1])};
}

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

template <class Id>
void TokenFile::verify_ids() const {
  Checksum checksum;
  std::vector<TokenId> ids;
  std::vector<Id> stored;
  for (Index first = 0; first < size(); first += verified_at_once) {
    ids.resize(static_cast<std::size_t>(std::min(verified_at_once, size() - first)));
    read_as(first, ids, stored);
    checksum.add(stored.data(), stored.size() * sizeof(Id));
  }
  check<DataError>(ids_.attribute<std::string>(checksum_attribute) == checksum.text(), ids_.where(),
                   ": the checksum does not match. The file is damaged");
}

std::vector<std::uint64_t> TokenFile::document_bounds() const {
  auto bounds = read_column<std::uint64_t>(file_.root(), "documents");
  check<DataError>(bounds.front() == 0 && bounds.back() == static_cast<std::uint64_t>(size()) &&
                       std::is_sorted(bounds.begin(), bounds.end()),
                   documents_.where(), ": does not divide the tokens into documents. The file is damaged");
  return bounds;
}

std::vector<Index> TokenFile::document_lengths() const {
  const std::vector<std::uint64_t> bounds = document_bounds();
  std::vector<Index> lengths;
  for (std::size_t i = 1; i < bounds.size(); ++i) lengths.push_back(static_cast<Index>(bounds[i] - bounds[i - 1]));
  return lengths;
}

void TokenFile::check_made_with(const text::Tokenizer& tokenizer, const std::string& model) const {
  const std::string advice = "; encode it with the model's tokenizer (tokenize -t " + model + ")";
  check<DataError>(vocab_size_ == tokenizer.vocab_size(), name(), ": vocabulary of ", vocab_size_,
                   " does not match the model's ", tokenizer.vocab_size(), advice);
  check<DataError>(this->tokenizer().fingerprint() == tokenizer.fingerprint(), name(),
                   ": was made with another tokenizer than the model's", advice);
}

std::vector<std::string> TokenFile::verify() const {
  Problems problems;
  const bool narrow = ids_.dtype() == hdf5::DType::uint16;
  problems.watch([&] { narrow ? verify_ids<std::uint16_t>() : verify_ids<std::uint32_t>(); });
  problems.watch([&] { document_bounds(); });
  problems.watch([&] { tokenizer(); });
  problems.watch([&] { file_.provenance(); });
  return problems.list();
}

}  // namespace heddle::formats
