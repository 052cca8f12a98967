#include <algorithm>
#include <mutex>
#include <utility>

#include "heddle/text/encoder.hpp"
#include "heddle/text/merges.hpp"
#include "heddle/text/pretokenizer.hpp"
#include "heddle/text/word_cache.hpp"

namespace heddle::text {

namespace {

// Caches for as many threads as encode at one time; a cache keeps what it learnt for the next call.
class CachePool {
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

class BpeEncoder : public Encoder {
 public:
  explicit BpeEncoder(const Vocabulary& vocabulary) : merges_(vocabulary) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    auto cache = caches_.take();
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = pretoken_end(text, begin);
      encode_word(text, begin, end, *cache, ids);
      begin = end;
    }
    caches_.give_back(std::move(cache));
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return is_pretoken_boundary(text, position);
  }

 private:
  void encode_word(std::string_view text, std::size_t begin, std::size_t end, WordCache& cache,
                   std::vector<TokenId>& ids) const {
    const std::string_view word = text.substr(begin, end - begin);
    if (word.size() > WordCache::longest_word) return merges_.encode(word, ids);
    const WordCache::Key key = WordCache::key_of(text, begin, end);
    WordCache::Entry& entry = cache.slot(key);
    if (entry.key == key) {
      ids.insert(ids.end(), entry.tokens.begin(), entry.tokens.begin() + entry.count);
      return;
    }
    const std::size_t before = ids.size();
    merges_.encode(word, ids);
    const std::size_t count = ids.size() - before;
    if (count > WordCache::most_tokens) return;
    entry.key = key;
    entry.count = static_cast<std::uint32_t>(count);
    std::copy(ids.end() - static_cast<std::ptrdiff_t>(count), ids.end(), entry.tokens.begin());
  }

  Merges merges_;
  mutable CachePool caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_bpe_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<BpeEncoder>(vocabulary);
}

}  // namespace heddle::text
