#include "libcore/text/tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::text {

namespace {

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

constexpr const char* other_ids = "these are not the ids of the text";

// Calls take_plain(begin, end) for what is between tokens, and take_token(match) for those.
template <class TakePlain, class TakeToken>
void for_each_part(const SpecialTokens& tokens, std::string_view text, const TakePlain& take_plain,
                   const TakeToken& take_token) {
  std::size_t begin = 0;
  while (const std::optional<SpecialTokens::Match> match = tokens.find(text, begin)) {
    if (match->begin > begin) take_plain(begin, match->begin);
    take_token(*match);
    begin = match->end;
  }
  if (begin < text.size()) take_plain(begin, text.size());
}

LocationSink moved(const LocationSink& sink, std::size_t by) {
  return [&sink, by](const LocatedToken& token) { sink({token.id, by + token.begin, by + token.end}); };
}

void locate_match(const SpecialTokens::Match& match, std::span<const TokenId>& ids, const LocationSink& sink) {
  check<DataError>(!ids.empty() && ids.front() == match.id, other_ids);
  sink({match.id, match.begin, match.end});
  ids = ids.subspan(1);
}

}  // namespace

Tokenizer::Tokenizer(TokenizerModel model)
    : vocabulary_(std::make_shared<const Vocabulary>(std::move(model))),
      normaliser_(std::make_shared<const Normaliser>(this->model().normalisers)),
      all_tokens_(std::make_shared<const TokensInText>(
          find_tokens({&this->model().special_tokens, &this->model().added_tokens}))),
      added_tokens_(std::make_shared<const TokensInText>(find_tokens({&this->model().added_tokens}))),
      encoder_(make_encoder(*vocabulary_)) {}

Tokenizer::TokensInText Tokenizer::find_tokens(std::initializer_list<const std::vector<Index>*> lists) const {
  const auto flags = [&](const std::vector<Index>& ids) {
    std::vector<bool> listed(model().pieces.size());
    for (const Index id : ids) listed[static_cast<std::size_t>(id)] = true;
    return listed;
  };
  const std::vector<bool> left = flags(model().strip_left), right = flags(model().strip_right),
                          single = flags(model().single_words), normal = flags(model().normalised_tokens);
  std::vector<SpecialTokens::Token> raw_tokens, normal_tokens;
  for (const std::vector<Index>* ids : lists) {
    for (const Index id : *ids) {
      const auto number = static_cast<std::size_t>(id);
      std::string text(vocabulary_->bytes(id));
      if (normal[number]) text = normaliser_->apply(text).text;
      if (text.empty()) continue;
      (normal[number] ? normal_tokens : raw_tokens)
          .push_back({std::move(text), static_cast<TokenId>(id), left[number], right[number], single[number]});
    }
  }
  return {SpecialTokens(std::move(raw_tokens)), SpecialTokens(std::move(normal_tokens))};
}

std::vector<TokenId> Tokenizer::encode(std::string_view text, SpecialText special) const {
  std::vector<TokenId> ids;
  encode(text, ids, special);
  return ids;
}

void Tokenizer::encode(std::string_view text, std::vector<TokenId>& ids, SpecialText special) const {
  const TokensInText& tokens = tokens_in_text(special);
  for_each_part(
      tokens.raw, text, [&](std::size_t begin, std::size_t end) { encode_plain(text, begin, end, tokens.normal, ids); },
      [&](const SpecialTokens::Match& match) { ids.push_back(match.id); });
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
  const TokensInText& tokens = tokens_in_text(special);
  for_each_part(
      tokens.raw, text,
      [&](std::size_t begin, std::size_t end) {
        locate_plain(text.substr(begin, end - begin), ids, tokens.normal, moved(sink, begin));
      },
      [&](const SpecialTokens::Match& match) { locate_match(match, ids, sink); });
  check<DataError>(ids.empty(), other_ids);
}

void Tokenizer::locate_plain(std::string_view text, std::span<const TokenId>& ids, const SpecialTokens& normal,
                             const LocationSink& sink) const {
  if (normaliser_->is_empty() && normal.is_empty()) return locate_normal(text, ids, sink);
  const NormalText normalised = normaliser_->apply(text, true);
  const LocationSink to_origin = [&](const LocatedToken& token) {
    const bool none = token.begin == token.end;
    const std::size_t first = std::min(token.begin, normalised.origins.size() - 1);
    const std::size_t begin = normalised.origins[first].begin;
    sink({token.id, begin, none ? begin : normalised.origins[token.end - 1].end});
  };
  for_each_part(
      normal, normalised.text,
      [&](std::size_t begin, std::size_t end) {
        locate_normal(std::string_view(normalised.text).substr(begin, end - begin), ids, moved(to_origin, begin));
      },
      [&](const SpecialTokens::Match& match) { locate_match(match, ids, to_origin); });
}

void Tokenizer::locate_normal(std::string_view text, std::span<const TokenId>& ids, const LocationSink& sink) const {
  if (const auto tokens = encoder_->located(text)) {
    check<DataError>(tokens->size() <= ids.size(), other_ids);
    for (std::size_t i = 0; i < tokens->size(); ++i) {
      check<DataError>((*tokens)[i].id == ids[i], other_ids);
      sink((*tokens)[i]);
    }
    ids = ids.subspan(tokens->size());
    return;
  }
  ids = ids.subspan(locate_tokens(*vocabulary_, text, ids, sink));
}

void Tokenizer::encode_plain(std::string_view text, std::size_t begin, std::size_t end, const SpecialTokens& normal,
                             std::vector<TokenId>& ids) const {
  if (begin == end) return;
  const std::string_view plain = text.substr(begin, end - begin);
  try {
    if (normaliser_->is_empty() && normal.is_empty()) return encoder_->encode(plain, ids);
    const NormalText normalised = normaliser_->apply(plain);
    for_each_part(
        normal, normalised.text,
        [&](std::size_t first, std::size_t last) {
          encoder_->encode(std::string_view(normalised.text).substr(first, last - first), ids);
        },
        [&](const SpecialTokens::Match& match) { ids.push_back(match.id); });
  } catch (const NoToken& error) {
    TextPosition position;
    position.advance(text.substr(0, begin + std::min(error.offset, plain.size())));
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
  const TokensInText& tokens = tokens_in_text(special);
  if (!encoder_->is_boundary(text, position) || tokens.raw.spans(text, position)) return false;
  if (normaliser_->is_empty()) return !tokens.normal.spans(text, position);
  return normaliser_->is_boundary(text, position) && !tokens.normal.may_span(text, position);
}

std::size_t Tokenizer::boundary_context() const {
  constexpr std::size_t two_characters = 8;
  return std::max({two_characters, all_tokens_->raw.longest(), all_tokens_->normal.longest()});
}

}  // namespace heddle::text
