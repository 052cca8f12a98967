// Data sets of a file that heddle reads itself.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "formats/hdf5/chunk_index.hpp"
#include "formats/hdf5/messages.hpp"

namespace heddle::formats::hdf5 {

class Reader;

// The contents of a data set's header.
struct DatasetDescription {
  DatasetLayout layout;
  StoragePlace place;
  Filters filters;
};

// Elements that follow one another in the file.
class ContiguousDataset : public DatasetSource {
 public:
  template <class... Rest>
  ContiguousDataset(const Reader& reader, DatasetDescription description, Rest&&... rest)
      : DatasetSource(std::move(description.layout), std::forward<Rest>(rest)...),
        reader_(reader),
        address_(description.place.address) {}

  std::optional<Index> offset() const override;
  void read_rows(Index first, Index count, std::span<std::byte> data) const override;

 private:
  const Reader& reader_;
  Address address_;
};

// Elements in chunks of a number of rows, each of which may be compressed. The index is read when first needed, and
// some decompressed chunks are cached.
class ChunkedDataset : public DatasetSource {
 public:
  template <class... Rest>
  ChunkedDataset(Reader& reader, DatasetDescription description, Rest&&... rest)
      : DatasetSource(std::move(description.layout), std::forward<Rest>(rest)...),
        reader_(reader),
        index_(description.place.address),
        filters_(description.filters) {}

  std::optional<Index> offset() const override { return std::nullopt; }
  void read_rows(Index first, Index count, std::span<std::byte> data) const override;

 private:
  struct Decompressed {
    std::size_t number;
    std::vector<std::byte> bytes;
  };
  const std::vector<Chunk>& chunks() const;
  void read_part(std::size_t number, Index first_byte, std::span<std::byte> data) const;
  std::span<const std::byte> decompressed(std::size_t number) const;
  std::vector<std::byte> decompress(const Chunk& chunk) const;
  Index chunk_bytes() const { return layout().chunk * row_bytes(layout()); }

  Reader& reader_;
  Address index_;
  Filters filters_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::optional<std::vector<Chunk>> chunks_;
  mutable std::vector<Decompressed> cache_;  // the one used last comes last
};

}  // namespace heddle::formats::hdf5
