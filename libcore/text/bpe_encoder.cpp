#include <utility>

#include "libcore/text/cuts.hpp"
#include "libcore/text/merges.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/word_cache.hpp"

namespace heddle::text {

namespace {

class BpeEncoder : public Encoder {
 public:
  explicit BpeEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), merges_(vocabulary), cuts_(vocabulary.model().cuts) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    auto cache = caches_.take();
    cuts_.for_each(text, [&](const CutWord& word) {
      cache->encode(word.source, word.begin, word.end, ids,
                    [&](std::string_view bytes) { encode_word(bytes, word.at, ids); });
    });
    caches_.give_back(std::move(cache));
  }

  std::optional<std::vector<LocatedToken>> located(std::string_view text) const override {
    if (cuts_.keep_all_bytes()) return std::nullopt;
    std::vector<LocatedToken> tokens;
    std::vector<TokenId> ids;
    std::vector<std::size_t> sizes;
    cuts_.for_each(text, [&](const CutWord& word) {
      ids.clear();
      sizes.clear();
      encode_word(word.bytes(), word.at, ids);
      for (const TokenId id : ids) sizes.push_back(vocabulary_.bytes(id).size());
      append_located(ids, sizes, word.origins(), 0, tokens);
    });
    return tokens;
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return cuts_.is_boundary(text, position);
  }

 private:
  void encode_word(std::string_view word, std::size_t begin, std::vector<TokenId>& ids) const {
    if (vocabulary_.model().whole_words) {
      if (const TokenId id = vocabulary_.find(word); id != no_token) return ids.push_back(id);
    }
    try {
      merges_.encode(word, ids);
    } catch (const NoToken& error) {
      throw NoToken(begin + error.offset, error.what());
    }
  }

  const Vocabulary& vocabulary_;
  Merges merges_;
  Cuts cuts_;
  mutable WordCaches caches_;
};

}  // namespace

std::unique_ptr<Encoder> make_bpe_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<BpeEncoder>(vocabulary);
}

}  // namespace heddle::text
