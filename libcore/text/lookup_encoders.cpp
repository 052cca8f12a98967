// The kinds that only look pieces up: bytes, characters and words. Where the vocabulary has all 256 bytes, a word that
// is no piece is encoded by its characters, and a character by its bytes. Where it has not, both become the unknown
// token if there is one, and invalid UTF-8 is an error.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "libcore/base/strings.hpp"
#include "libcore/text/cuts.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

class ByteEncoder : public Encoder {
 public:
  explicit ByteEncoder(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    const auto token = [this](char byte) { return vocabulary_.byte_token(static_cast<unsigned char>(byte)); };
    const std::size_t before = ids.size();
    ids.resize(before + text.size());
    std::ranges::transform(text, ids.begin() + static_cast<std::ptrdiff_t>(before), token);
  }

  bool is_boundary(std::string_view, std::size_t) const override { return true; }

 private:
  const Vocabulary& vocabulary_;
};

class CharacterEncoder : public Encoder {
 public:
  explicit CharacterEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), byte_fallback_(vocabulary.has_all_bytes()) {
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      const std::string_view bytes = vocabulary.bytes(id);
      const Character character = decode(bytes, 0);
      if (!vocabulary.is_special(id) && character.length == bytes.size() && bytes.size() > 1)
        long_[character.code] = id;
    }
  }

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    for (std::size_t at = 0; at < text.size();) {
      const Character character = decode(text, at);
      const TokenId id = token_of(character, static_cast<unsigned char>(text[at]));
      if (id != no_token) {
        ids.push_back(id);
      } else {
        encode_unknown(text, at, character, ids);
      }
      at += character.length;
    }
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return is_character_boundary(text, position);
  }

 private:
  TokenId token_of(const Character& character, unsigned char first) const {
    if (character.length == 1) return vocabulary_.byte_token(first);
    const auto found = long_.find(character.code);
    return found == long_.end() ? no_token : found->second;
  }

  void encode_unknown(std::string_view text, std::size_t at, const Character& character,
                      std::vector<TokenId>& ids) const {
    const std::string_view bytes = text.substr(at, character.length);
    if (!byte_fallback_) return ids.push_back(unknown_token(vocabulary_, bytes, at));
    for (const char byte : bytes) ids.push_back(vocabulary_.byte_token(static_cast<unsigned char>(byte)));
  }

  const Vocabulary& vocabulary_;
  bool byte_fallback_;
  std::unordered_map<char32_t, TokenId> long_;  // characters of several bytes
};

class WordEncoder : public Encoder {
 public:
  explicit WordEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        byte_fallback_(vocabulary.has_all_bytes()),
        characters_(vocabulary),
        cuts_(vocabulary.model().cuts) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    cuts_.for_each(text, [&](const CutWord& word) { encode_word(word, ids); });
  }

  std::optional<std::vector<LocatedToken>> located(std::string_view text) const override {
    std::vector<LocatedToken> tokens;
    std::vector<TokenId> ids;
    cuts_.for_each(text, [&](const CutWord& word) {
      ids.clear();
      encode_word(word, ids);
      std::vector<std::size_t> sizes(1, word.bytes().size());
      if (ids.size() > 1) {
        sizes.clear();
        for (const TokenId id : ids) sizes.push_back(vocabulary_.bytes(id).size());
      }
      append_located(ids, sizes, word.origins(), 0, tokens);
    });
    return tokens;
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return cuts_.is_boundary(text, position);
  }

 private:
  void encode_word(const CutWord& word, std::vector<TokenId>& ids) const {
    if (const TokenId id = vocabulary_.find(word.bytes()); id != no_token) return ids.push_back(id);
    if (byte_fallback_) return characters_.encode(word.bytes(), ids);
    ids.push_back(unknown_token(vocabulary_, word.bytes(), word.at));
  }

  const Vocabulary& vocabulary_;
  bool byte_fallback_;
  CharacterEncoder characters_;
  Cuts cuts_;
};

}  // namespace

TokenId unknown_token(const Vocabulary& vocabulary, std::string_view text, std::size_t offset) {
  if (!is_utf8(text)) throw NoToken(offset, "invalid UTF-8, and the tokenizer has no byte pieces");
  const Index unknown = vocabulary.model().unknown;
  if (unknown != no_token) return static_cast<TokenId>(unknown);
  throw NoToken(offset,
                concatenate("the tokenizer has no piece ", quoted(text),
                            "; train one with byte fallback, with an unknown token, or on text that contains it"));
}

void check_spaced_text(const Vocabulary& vocabulary, std::string_view text) {
  if (!vocabulary.model().byte_fallback && !is_utf8(text)) unknown_token(vocabulary, text, 0);
}

std::unique_ptr<Encoder> make_byte_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<ByteEncoder>(vocabulary);
}

std::unique_ptr<Encoder> make_character_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<CharacterEncoder>(vocabulary);
}

std::unique_ptr<Encoder> make_word_encoder(const Vocabulary& vocabulary) {
  return std::make_unique<WordEncoder>(vocabulary);
}

}  // namespace heddle::text
