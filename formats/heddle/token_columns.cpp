#include "formats/heddle/token_columns.hpp"

#include <algorithm>

#include "formats/files/checksum.hpp"
#include "formats/heddle/problems.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

constexpr Index largest_narrow_vocabulary = 65536;
constexpr Index verified_at_once = Index{1} << 18;  // tokens
constexpr const char* ids_name = "tokens";
constexpr const char* documents_name = "documents";
constexpr const char* text_bytes_attribute = "text_bytes";

hdf5::Dataset open_ids(const hdf5::Group& group) {
  hdf5::Dataset ids = group.dataset(ids_name);
  const bool narrow = ids.dtype() == hdf5::DType::uint16;
  check<DataError>((narrow || ids.dtype() == hdf5::DType::uint32) && ids.extents().size() == 1, ids.where(),
                   ": is not a list of token ids. The file is damaged or not heddle's");
  return ids;
}

hdf5::Dataset open_documents(const hdf5::Group& group) {
  hdf5::Dataset documents = group.dataset(documents_name);
  check<DataError>(documents.dtype() == hdf5::DType::uint64 && documents.extents().size() == 1 && documents.size() >= 1,
                   documents.where(), ": is not a list of offsets. The file is damaged or not heddle's");
  return documents;
}

}  // namespace

TokenColumnsWriter::Columns TokenColumnsWriter::make_columns(const hdf5::OutputGroup& group, Index vocab_size,
                                                             const ColumnOptions& options) {
  check<DataError>(!options.compress || hdf5::can_compress(),
                   "this HDF5 library cannot compress; write the file uncompressed");
  ColumnWriter<std::uint64_t> documents(group, documents_name, {});  // uncompressed: readers hold it as a whole
  if (vocab_size <= largest_narrow_vocabulary) {
    return {ColumnWriter<std::uint16_t>(group, ids_name, options), std::move(documents)};
  }
  return {ColumnWriter<std::uint32_t>(group, ids_name, options), std::move(documents)};
}

TokenColumnsWriter::TokenColumnsWriter(const hdf5::OutputGroup& group, std::string where, Index vocab_size,
                                       TokenFileOptions options)
    : where_(std::move(where)),
      vocab_size_(vocab_size),
      columns_(make_columns(group, vocab_size, {.compress = options.compress})) {
  columns_->documents.append(0);
}

void TokenColumnsWriter::append(std::span<const TokenId> ids, Index text_bytes) {
  for (std::size_t i = 0; i < ids.size(); ++i) {
    check<DataError>(ids[i] >= 0 && ids[i] < vocab_size_, where_, ": token ", size_ + static_cast<Index>(i), " is ",
                     ids[i], ", outside the vocabulary of ", vocab_size_);
  }
  std::visit([&]<class Id>(ColumnWriter<Id>& column) { column.append(std::vector<Id>(ids.begin(), ids.end())); },
             columns_->ids);
  size_ += static_cast<Index>(ids.size());
  text_bytes_ += text_bytes;
}

void TokenColumnsWriter::end_document() {
  document_begin_ = size_;
  ++documents_;
  columns_->documents.append(static_cast<std::uint64_t>(document_begin_));
}

void TokenColumnsWriter::finish() {
  if (document_begin_ != size_) end_document();
  std::visit([&](auto& column) { column.finish().template set_attribute<Index>(text_bytes_attribute, text_bytes_); },
             columns_->ids);
  columns_->documents.finish();
  columns_.reset();
}

TokenColumns::TokenColumns(const hdf5::Group& group, std::string where, Index vocab_size)
    : group_(group),
      where_(std::move(where)),
      ids_(open_ids(group)),
      documents_(open_documents(group)),
      vocab_size_(vocab_size),
      text_bytes_(ids_.attribute<Index>(text_bytes_attribute)) {}

void TokenColumns::read(Index offset, std::span<TokenId> out) const {
  const auto count = static_cast<Index>(out.size());
  check<DataError>(offset >= 0 && count <= size() && offset <= size() - count, where_, ": has no ", count,
                   " tokens starting at token ", offset, ", only ", size());
  const std::lock_guard lock(mutex_);
  if (ids_.dtype() == hdf5::DType::uint16) {
    read_as(offset, out, narrow_);
  } else {
    read_as(offset, out, wide_);
  }
}

template <class Id>
void TokenColumns::read_as(Index offset, std::span<TokenId> out, std::vector<Id>& buffer) const {
  buffer.resize(out.size());
  ids_.read<Id>(offset, static_cast<Index>(out.size()), buffer);
  for (std::size_t i = 0; i < out.size(); ++i) {
    check<DataError>(buffer[i] < vocab_size_, where_, ": token ", offset + static_cast<Index>(i), " is ", buffer[i],
                     ", outside the vocabulary of ", vocab_size_, ". The file is damaged");
    out[i] = static_cast<TokenId>(buffer[i]);
  }
}

std::pair<Index, Index> TokenColumns::document(Index number) const {
  check<DataError>(number >= 0 && number < documents(), where_, ": has no document ", number, ", only ", documents());
  std::uint64_t bounds[2];
  documents_.read<std::uint64_t>(number, 2, bounds);
  check<DataError>(bounds[0] <= bounds[1] && bounds[1] <= static_cast<std::uint64_t>(size()), documents_.where(),
                   ": document ", number, " does not lie within the tokens. The file is damaged");
  return {static_cast<Index>(bounds[0]), static_cast<Index>(bounds[1])};
}

std::vector<std::uint64_t> TokenColumns::document_bounds() const {
  auto bounds = read_column<std::uint64_t>(group_, documents_name);
  check<DataError>(bounds.front() == 0 && bounds.back() == static_cast<std::uint64_t>(size()) &&
                       std::is_sorted(bounds.begin(), bounds.end()),
                   documents_.where(), ": does not divide the tokens into documents. The file is damaged");
  return bounds;
}

std::vector<Index> TokenColumns::document_lengths() const {
  const std::vector<std::uint64_t> bounds = document_bounds();
  std::vector<Index> lengths;
  for (std::size_t i = 1; i < bounds.size(); ++i) lengths.push_back(static_cast<Index>(bounds[i] - bounds[i - 1]));
  return lengths;
}

template <class Id>
void TokenColumns::verify_ids() const {
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

std::vector<std::string> TokenColumns::verify() const {
  Problems problems;
  const bool narrow = ids_.dtype() == hdf5::DType::uint16;
  problems.watch([&] { narrow ? verify_ids<std::uint16_t>() : verify_ids<std::uint32_t>(); });
  problems.watch([&] { document_bounds(); });
  return problems.list();
}

}  // namespace heddle::formats
