// The tokens of the words met most recently, for short words of few tokens: nearly all words of ordinary text.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::text {

class WordCache {
  static constexpr std::size_t longest_word = 15;
  static constexpr std::size_t most_tokens = 7;

  // A word's bytes padded with zeros, its length in the last byte: different words differ, and none is all zero.
  struct Key {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Key&) const = default;
  };
  struct Entry {
    Key key;
    std::uint32_t count = 0;
    std::array<TokenId, most_tokens> tokens{};
  };

 public:
  // Appends the tokens of the word text[begin, end), which encode(word) appends where they are not known.
  template <class Encode>
  void encode(std::string_view text, std::size_t begin, std::size_t end, std::vector<TokenId>& ids, Encode&& encode) {
    const std::string_view word = text.substr(begin, end - begin);
    if (word.size() > longest_word) return encode(word);
    const Key key = key_of(text, begin, end);
    Entry& entry = slot(key);
    if (entry.key == key) {
      ids.insert(ids.end(), entry.tokens.begin(), entry.tokens.begin() + entry.count);
      return;
    }
    const std::size_t before = ids.size();
    encode(word);
    const std::size_t count = ids.size() - before;
    if (count > most_tokens) return;
    entry.key = key;
    entry.count = static_cast<std::uint32_t>(count);
    std::copy(ids.end() - static_cast<std::ptrdiff_t>(count), ids.end(), entry.tokens.begin());
  }

 private:
  // The key of text[begin, end). Precondition: it has from 1 to longest_word bytes.
  static Key key_of(std::string_view text, std::size_t begin, std::size_t end) {
    const std::size_t length = end - begin;
    std::array<char, 16> bytes{};
    if (text.size() - begin >= bytes.size()) {
      std::memcpy(bytes.data(), text.data() + begin, bytes.size());
    } else {
      std::memcpy(bytes.data(), text.data() + begin, length);
    }
    Key key = std::bit_cast<Key>(bytes);
    if (length < 8) {
      key = {key.low & ((std::uint64_t{1} << 8 * length) - 1), 0};
    } else {
      key.high &= (std::uint64_t{1} << 8 * (length - 8)) - 1;
    }
    key.high |= std::uint64_t{length} << 56;
    return key;
  }

  // The one entry where the word of this key may be; if it is there, the entry has the key.
  Entry& slot(const Key& key) {
    const std::uint64_t hash = (key.low ^ std::rotl(key.high, 23)) * 0x9E3779B97F4A7C15u;
    return entries_[(hash ^ hash >> 29) * 0xBF58476D1CE4E5B9u >> (64 - log2_size)];
  }

  static constexpr int log2_size = 15;
  static_assert(std::endian::native == std::endian::little, "keys take the first bytes of a word as the lowest ones");

  std::vector<Entry> entries_ = std::vector<Entry>(std::size_t{1} << log2_size);
};

// Caches for as many threads as encode at one time; a cache keeps what it learnt for the next call.
class WordCaches {
 public:
  std::unique_ptr<WordCache> take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<WordCache>();
    auto cache = std::move(free_.back());
    free_.pop_back();
    return cache;
  }
  void give_back(std::unique_ptr<WordCache> cache) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(cache));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<WordCache>> free_;
};

}  // namespace heddle::text
