#include <utility>

#include "libcore/text/cuts.hpp"
#include "libcore/text/merges.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/word_cache.hpp"

namespace heddle::text {

namespace {

class BpeEncoder : public Encoder {
 public:
  explicit BpeEncoder(const Vocabulary& vocabulary) : merges_(vocabulary), cuts_(vocabulary.model().cuts) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    auto cache = caches_.take();
    cuts_.for_each(text, [&](std::size_t begin, std::size_t end) {
      cache->encode(text, begin, end, ids, [&](std::string_view word) { encode_word(word, begin, ids); });
    });
    caches_.give_back(std::move(cache));
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return cuts_.is_boundary(text, position);
  }

 private:
  void encode_word(std::string_view word, std::size_t begin, std::vector<TokenId>& ids) const {
    try {
      merges_.encode(word, ids);
    } catch (const NoToken& error) {
      throw NoToken(begin + error.offset, error.what());
    }
  }

  Merges merges_;
  Cuts cuts_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_bpe_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<BpeEncoder>(vocabulary);
}

}  // namespace heddle::text
