#include "libcore/text/tokenizer.hpp"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::text {

namespace {

std::shared_ptr<const SpecialTokens> find_tokens(const Vocabulary& vocabulary,
                                                 std::initializer_list<const std::vector<Index>*> lists) {
  const TokenizerModel& model = vocabulary.model();
  std::vector<bool> left(model.pieces.size()), right(model.pieces.size());
  for (const Index id : model.strip_left) left[static_cast<std::size_t>(id)] = true;
  for (const Index id : model.strip_right) right[static_cast<std::size_t>(id)] = true;
  std::vector<SpecialTokens::Token> tokens;
  for (const std::vector<Index>* ids : lists) {
    for (const Index id : *ids) {
      const auto number = static_cast<std::size_t>(id);
      tokens.push_back({std::string(vocabulary.bytes(id)), static_cast<TokenId>(id), left[number], right[number]});
    }
  }
  return std::make_shared<const SpecialTokens>(std::move(tokens));
}

std::unique_ptr<Encoder> make_encoder(const Vocabulary& vocabulary) {
  switch (vocabulary.model().kind) {
    case TokenizerKind::bpe:
      return make_bpe_encoder(vocabulary);
    case TokenizerKind::byte:
      return make_byte_encoder(vocabulary);
    case TokenizerKind::character:
      return make_character_encoder(vocabulary);
    case TokenizerKind::word:
      return make_word_encoder(vocabulary);
    case TokenizerKind::wordpiece:
      return make_wordpiece_encoder(vocabulary);
    case TokenizerKind::unigram:
      return make_unigram_encoder(vocabulary);
    case TokenizerKind::char_bpe:
      return make_char_bpe_encoder(vocabulary);
  }
  throw DataError("unknown kind of tokenizer");
}

}  // namespace

Tokenizer::Tokenizer(TokenizerModel model)
    : vocabulary_(std::make_shared<const Vocabulary>(std::move(model))),
      special_tokens_(find_tokens(*vocabulary_, {&this->model().special_tokens, &this->model().added_tokens})),
      added_tokens_(find_tokens(*vocabulary_, {&this->model().added_tokens})),
      encoder_(make_encoder(*vocabulary_)) {}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::vector<TokenId> ids;
  encode(text, ids, special);
  return ids;
}

void Tokenizer::encode(std::string_view text, std::vector<TokenId>& ids, SpecialText special) const {
  const SpecialTokens& tokens = tokens_in_text(special);
  std::size_t begin = 0;
  while (const std::optional<SpecialTokens::Match> match = tokens.find(text, begin)) {
    encode_plain(text, begin, match->begin, ids);
    ids.push_back(match->id);
    begin = match->end;
  }
  encode_plain(text, begin, text.size(), ids);
}

std::vector<LocatedToken> Tokenizer::encode_with_offsets(std::string_view text, SpecialText special) const {
  const std::vector<TokenId> ids = encode(text, special);
  std::vector<LocatedToken> tokens;
  tokens.reserve(ids.size());
  locate(text, ids, special, [&](const LocatedToken& token) { tokens.push_back(token); });
  return tokens;
}

void Tokenizer::locate(std::string_view text, std::span<const TokenId> ids, SpecialText special,
                       const LocationSink& sink) const {
  constexpr const char* others = "these are not the ids of the text";
  const auto locate_plain = [&](std::size_t begin, std::size_t end) {
    const std::string_view plain = text.substr(begin, end - begin);
    if (const auto tokens = encoder_->located(plain)) {
      check<DataError>(tokens->size() <= ids.size(), others);
      for (std::size_t i = 0; i < tokens->size(); ++i) {
        const LocatedToken& token = (*tokens)[i];
        check<DataError>(token.id == ids[i], others);
        sink({token.id, begin + token.begin, begin + token.end});
      }
      ids = ids.subspan(tokens->size());
      return;
    }
    const std::size_t count = locate_tokens(*vocabulary_, plain, ids, [&](const LocatedToken& token) {
      sink({token.id, begin + token.begin, begin + token.end});
    });
    ids = ids.subspan(count);
  };
  std::size_t begin = 0;
  while (const std::optional<SpecialTokens::Match> match = tokens_in_text(special).find(text, begin)) {
    locate_plain(begin, match->begin);
    check<DataError>(!ids.empty() && ids.front() == match->id, others);
    sink({match->id, match->begin, match->end});
    ids = ids.subspan(1);
    begin = match->end;
  }
  locate_plain(begin, text.size());
  check<DataError>(ids.empty(), others);
}

void Tokenizer::encode_plain(std::string_view text, std::size_t begin, std::size_t end,
                             std::vector<TokenId>& ids) const {
  if (begin == end) return;
  try {
    encoder_->encode(text.substr(begin, end - begin), ids);
  } catch (const NoToken& error) {
    TextPosition position;
    position.advance(text.substr(0, begin + error.offset));
    throw TextError(position, error.what());
  }
}

std::string Tokenizer::decode(std::span<const TokenId> ids) const {
  std::string text;
  TextPlace place = TextPlace::begin;
  for (const TokenId id : ids) decode(id, text, std::exchange(place, TextPlace::inside));
  return text;
}

void Tokenizer::decode(TokenId id, std::string& text, TextPlace place) const {
  std::string_view piece = bytes(id);
  if (kind() == TokenizerKind::wordpiece) {
    if (piece.starts_with(continuation_mark) && piece.size() > continuation_mark.size()) {
      piece.remove_prefix(continuation_mark.size());
    } else if (place == TextPlace::inside) {
      text += ' ';
    }
  }
  const bool has_first_space = model().spaced_words || model().prefix_space;
  if (has_first_space && place == TextPlace::begin && piece.starts_with(' ')) piece.remove_prefix(1);
  text += piece;
}

void Tokenizer::check_id(TokenId id) const {
  check<DataError>(vocabulary_->contains(id), "token id ", id, " is outside the tokenizer's vocabulary of ",
                   vocab_size());
}

std::string_view Tokenizer::bytes(TokenId id) const {
  check_id(id);
  return vocabulary_->bytes(id);
}

const std::string& Tokenizer::piece(TokenId id) const {
  check_id(id);
  return model().pieces[static_cast<std::size_t>(id)];
}

bool Tokenizer::is_special(TokenId id) const {
  check_id(id);
  return vocabulary_->is_special(id);
}

bool Tokenizer::is_boundary(std::string_view text, std::size_t position, SpecialText special) const {
  return encoder_->is_boundary(text, position) && !tokens_in_text(special).spans(text, position);
}

std::size_t Tokenizer::boundary_context() const {
  return std::max<std::size_t>(4, special_tokens_->longest());
}

}  // namespace heddle::text
