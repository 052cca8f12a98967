#include "formats/hdf5/stored_dataset.hpp"

#include <algorithm>

#include "formats/hdf5/filters.hpp"
#include "formats/hdf5/reader.hpp"

namespace heddle::formats::hdf5 {

std::optional<Index> ContiguousDataset::offset() const {
  if (address_ == undefined_address) return std::nullopt;
  return static_cast<Index>(address_);
}

void ContiguousDataset::read_rows(Index first, Index, std::span<std::byte> data) const {
  if (data.empty()) return;
  reader_.read_elements(address_ + static_cast<Address>(first * row_bytes(layout())), data, where());
}

void ChunkedDataset::read_rows(Index first, Index count, std::span<std::byte> data) const {
  const Index width = row_bytes(layout()), chunk = layout().chunk;
  const std::lock_guard lock(mutex_);
  for (Index row = first; row < first + count;) {
    const Index within = row % chunk, rows = std::min(chunk - within, first + count - row);
    const auto part = static_cast<std::size_t>(rows * width);
    read_part(static_cast<std::size_t>(row / chunk), within * width, data.first(part));
    data = data.subspan(part);
    row += rows;
  }
}

const std::vector<Chunk>& ChunkedDataset::chunks() const {
  if (!chunks_) {
    const Index rows = layout().extents[0], count = rows / layout().chunk + (rows % layout().chunk != 0);
    chunks_ = reader_.read_chunks(index_, count, filters_.any(), where());
  }
  return *chunks_;
}

void ChunkedDataset::read_part(std::size_t number, Index first_byte, std::span<std::byte> data) const {
  if (filters_.any()) {
    const auto whole = decompressed(number);
    std::ranges::copy(whole.subspan(static_cast<std::size_t>(first_byte), data.size()), data.begin());
    return;
  }
  const Address address = chunks()[number].address;
  if (address == undefined_address) fail_damaged(where(), "lacks a chunk");
  reader_.read_elements(address + static_cast<Address>(first_byte), data, where());
}

std::span<const std::byte> ChunkedDataset::decompressed(std::size_t number) const {
  constexpr Index most_bytes = Index{8} << 20;
  constexpr Index most_chunks = 64;
  const auto found = std::ranges::find(cache_, number, &Decompressed::number);
  if (found != cache_.end()) {
    std::rotate(found, found + 1, cache_.end());
  } else {
    const Index room = std::clamp<Index>(most_bytes / chunk_bytes(), 1, most_chunks);
    if (static_cast<Index>(cache_.size()) >= room) cache_.erase(cache_.begin());
    cache_.push_back({number, decompress(chunks()[number])});
  }
  return cache_.back().bytes;
}

std::vector<std::byte> ChunkedDataset::decompress(const Chunk& chunk) const {
  constexpr std::uint32_t shuffle_bit = 1;
  const std::uint32_t deflate_bit = filters_.shuffle ? 2 : 1;
  const auto whole = static_cast<std::uint64_t>(chunk_bytes());
  const bool is_deflated = filters_.deflate && !(chunk.filters_left_out & deflate_bit);
  const bool is_shuffled = filters_.shuffle && !(chunk.filters_left_out & shuffle_bit);
  const std::uint64_t largest = whole + whole / 512 + 64;  // data that deflate cannot compress grows a little
  if (is_deflated ? chunk.size > largest : chunk.size != whole) fail_damaged(where(), "has a chunk of impossible size");
  std::vector<std::byte> bytes(static_cast<std::size_t>(chunk.size));
  reader_.read_elements(chunk.address, bytes, where());
  if (is_deflated) bytes = inflate(bytes, static_cast<std::size_t>(whole), where());
  if (is_shuffled) bytes = unshuffle(bytes, static_cast<std::size_t>(width_of(layout())));
  return bytes;
}

}  // namespace heddle::formats::hdf5
