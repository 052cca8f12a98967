// The kinds that only look pieces up: bytes, characters and words. Where the vocabulary has all 256 bytes, a word that
// is no piece is encoded by its characters, and a character by its bytes. Where it has not, both become the unknown
// token if there is one, and invalid UTF-8 is an error.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "libcore/base/strings.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/pretokenizer.hpp"
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
  std::unordered_map<char32_t, TokenId> long_;  // of characters of several bytes
};

class WordEncoder : public Encoder {
 public:
  explicit WordEncoder(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), byte_fallback_(vocabulary.has_all_bytes()), characters_(vocabulary) {}

  void encode(std::string_view text, std::vector<TokenId>& ids) const override {
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = pretoken_end(text, begin);
      encode_word(text, begin, end, ids);
      begin = end;
    }
  }

  bool is_boundary(std::string_view text, std::size_t position) const override {
    return is_pretoken_boundary(text, position);
  }

 private:
  void encode_word(std::string_view text, std::size_t begin, std::size_t end, std::vector<TokenId>& ids) const {
    const std::string_view word = text.substr(begin, end - begin);
    if (const TokenId id = vocabulary_.find(word); id != no_token) return ids.push_back(id);
    if (byte_fallback_) return characters_.encode(word, ids);
    ids.push_back(unknown_token(vocabulary_, word, begin));
  }

  const Vocabulary& vocabulary_;
  bool byte_fallback_;
  CharacterEncoder characters_;
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
