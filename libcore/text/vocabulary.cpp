#include "libcore/text/vocabulary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

bool has_merges(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::char_bpe;
}

}  // namespace

Vocabulary::Vocabulary(TokenizerModel model) : model_(std::move(model)), roles_(model_.pieces.size(), Role::piece) {
  check<DataError>(!model_.pieces.empty(), "tokenizer without pieces");
  check<DataError>(model_.pieces.size() <= static_cast<std::size_t>(std::numeric_limits<TokenId>::max()),
                   "tokenizer of ", model_.pieces.size(), " pieces: more than there are ids");
  give_role(model_.special_tokens, Role::special, "special");
  give_role(model_.added_tokens, Role::added, "added");
  check_named_tokens();
  bytes_.reserve(model_.pieces.size());
  for (std::size_t id = 0; id < model_.pieces.size(); ++id) add_piece(id);
  find_byte_tokens();
  check_pieces();
  check_merges();
  check_scores();
  check_text_fields();
}

void Vocabulary::give_role(const std::vector<Index>& ids, Role role, std::string_view name) {
  const auto size = static_cast<Index>(model_.pieces.size());
  for (const Index id : ids) {
    check<DataError>(id >= 0 && id < size, name, " token ", id, " is outside the ", size, " pieces of the tokenizer");
    check<DataError>(is_piece(id), name, " token ", id, " is listed twice");
    roles_[static_cast<std::size_t>(id)] = role;
  }
}

void Vocabulary::check_named_tokens() const {
  const auto size = static_cast<Index>(model_.pieces.size());
  const auto check_role = [&](Index id, std::string_view role) {
    check<DataError>(id == no_token || (id >= 0 && id < size && is_special(id)), "the ", role, " token ", id,
                     " is not a special token of the tokenizer");
  };
  check_role(model_.unknown, "unknown");
  check_role(model_.end_of_text, "end-of-text");
  check_role(model_.classification, "classification");
  check_role(model_.separator, "separator");
  check_role(model_.mask, "mask");
  check_role(model_.padding, "padding");
  for (const std::vector<Index>* ids :
       {&model_.strip_left, &model_.strip_right, &model_.single_words, &model_.normalised_tokens}) {
    for (const Index id : *ids) {
      check<DataError>(id >= 0 && id < size && !is_piece(id), "token ", id,
                       " is looked for in a way of its own, but is not a special or added token of the tokenizer");
    }
  }
}

void Vocabulary::add_piece(std::size_t id) {
  const std::string& piece = model_.pieces[id];
  // Whisper's byte-level vocabulary has an empty piece, which no text becomes.
  const bool may_be_empty = model_.kind == TokenizerKind::bpe && roles_[id] == Role::piece;
  check<DataError>((may_be_empty || !piece.empty()) && is_utf8(piece) && piece.find('\0') == std::string::npos,
                   "piece ", id, " of the tokenizer is empty or not valid UTF-8 text");
  if (model_.byte_fallback && roles_[id] == Role::piece && named_byte(piece) >= 0) roles_[id] = Role::byte;
  constexpr std::size_t most_bytes = 256;  // they are searched at every place of a text
  check<DataError>(roles_[id] == Role::piece || piece.size() <= most_bytes, "token ", id, " of the tokenizer has ",
                   piece.size(), " bytes; special and added tokens have at most ", most_bytes);
  if (roles_[id] != Role::piece) {
    const auto [other, is_new] = by_name_.emplace(piece, static_cast<TokenId>(id));
    check<DataError>(is_new, "pieces ", other->second, " and ", id, " of the tokenizer are both ", quoted(piece));
    bytes_.push_back(roles_[id] == Role::byte ? std::string(1, static_cast<char>(named_byte(piece))) : piece);
    return;
  }
  std::optional<std::string> bytes = unspell(model_.kind, piece);
  check<DataError>(bytes.has_value(), "piece ", id, " of the tokenizer, ", quoted(piece),
                   ", does not have the spelling of pieces of a ", to_text(model_.kind), " tokenizer");
  const StringTable::Added added = pieces_.add(*bytes);
  check<DataError>(added.is_new, "pieces ", added.is_new ? 0 : piece_ids_[added.index], " and ", id,
                   " of the tokenizer are both ", quoted(piece));
  piece_ids_.push_back(static_cast<TokenId>(id));
  bytes_.push_back(std::move(*bytes));
}

void Vocabulary::find_byte_tokens() {
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_tokens_[byte] = find({&text, 1});
  }
  if (!model_.byte_fallback) return;
  byte_tokens_.fill(no_token);
  for (TokenId id = 0; id < size(); ++id) {
    if (role(id) == Role::byte) byte_tokens_[static_cast<unsigned char>(bytes(id)[0])] = id;
  }
}

void Vocabulary::check_pieces() const {
  const TokenizerKind kind = model_.kind;
  const bool names_bytes = kind == TokenizerKind::unigram || kind == TokenizerKind::char_bpe;
  check<DataError>(names_bytes || !model_.byte_fallback, "byte_fallback in a ", to_text(kind), " tokenizer");
  const bool merges_bytes = kind == TokenizerKind::char_bpe && model_.scores.empty();
  const bool needs_bytes = kind == TokenizerKind::byte || merges_bytes || model_.byte_fallback;
  check<DataError>(!needs_bytes || has_all_bytes(), "the ", to_text(kind),
                   " tokenizer lacks pieces for some of the 256 bytes");
  if (kind != TokenizerKind::byte && kind != TokenizerKind::character) return;
  for (Index id = 0; id < size(); ++id) {
    const bool single =
        bytes(id).size() == 1 || (kind == TokenizerKind::character && decode(bytes(id), 0).length == bytes(id).size());
    check<DataError>(single || !is_piece(id), "piece ", id, " of the tokenizer, ", quoted(bytes(id)),
                     ", is more than one ", to_text(kind));
  }
}

void Vocabulary::check_merges() const {
  const std::vector<Index>& merges = model_.merges;
  check<DataError>(has_merges(model_.kind) || merges.empty(), "merges in a ", to_text(model_.kind), " tokenizer");
  check<DataError>(merges.size() % 2 == 0, "the last merge of the tokenizer has no right side");
  for (std::size_t at = 0; at < merges.size(); ++at) {
    check<DataError>(contains(merges[at]) && is_piece(merges[at]) && !bytes(merges[at]).empty(), "merge ", at / 2,
                     " names token ", merges[at], ", which is not an ordinary piece of the tokenizer");
  }
}

void Vocabulary::check_scores() const {
  const TokenizerKind kind = model_.kind;
  const bool is_unigram = kind == TokenizerKind::unigram;
  const bool by_scores = is_unigram || (kind == TokenizerKind::char_bpe && !model_.scores.empty());
  check<DataError>(by_scores || model_.segments.empty(), "segments in a ", to_text(kind), " tokenizer without scores");
  check<DataError>(is_unigram || !by_scores || model_.merges.empty(), "both merges and scores in a ", to_text(kind),
                   " tokenizer");
  const std::vector<std::string>& scored = model_.segments.empty() ? model_.pieces : model_.segments;
  check<DataError>(model_.scores.size() == (by_scores ? scored.size() : 0), "a ", to_text(kind), " tokenizer of ",
                   scored.size(), model_.segments.empty() ? " pieces with " : " segments with ", model_.scores.size(),
                   " scores");
  for (std::size_t id = 0; id < model_.scores.size(); ++id) {
    check<DataError>(std::isfinite(model_.scores[id]), "the score of piece ", id, " of the tokenizer is not finite");
  }
}

void Vocabulary::check_text_fields() const {
  const TokenizerKind kind = model_.kind;
  const bool is_unigram = kind == TokenizerKind::unigram;
  const bool may_space = is_unigram || kind == TokenizerKind::char_bpe;
  const bool may_normalise = kind == TokenizerKind::bpe || kind == TokenizerKind::wordpiece || is_unigram;
  check<DataError>(may_normalise || model_.normalisers.empty(), "normalisers in a ", to_text(kind), " tokenizer");
  check<DataError>(may_normalise || kind == TokenizerKind::word || model_.cuts.empty(), "cuts in a ", to_text(kind),
                   " tokenizer");
  check<DataError>(!model_.whole_words || kind == TokenizerKind::bpe, "whole_words in a ", to_text(kind), " tokenizer");
  check<DataError>(may_space || (!model_.spaced_words && model_.charsmap.empty()), "spaced_words or a charsmap in a ",
                   to_text(kind), " tokenizer");
  check<DataError>((model_.charsmap.empty() && !model_.only_spaces) || model_.spaced_words,
                   "a charsmap or only_spaces in a tokenizer without spaced_words");
  check<DataError>(!model_.prefix_space || (kind == TokenizerKind::char_bpe && !model_.spaced_words),
                   "prefix_space in a ", to_text(kind), " tokenizer", model_.spaced_words ? " with spaced_words" : "");
}

TokenId Vocabulary::find(std::string_view bytes) const {
  const std::optional<std::size_t> number = pieces_.find(bytes);
  return number ? piece_ids_[*number] : no_token;
}

bool Vocabulary::has_all_bytes() const {
  return std::ranges::find(byte_tokens_, no_token) == byte_tokens_.end();
}

std::optional<TokenId> Vocabulary::id_of(std::string_view spelling) const {
  const auto named = by_name_.find(std::string(spelling));
  if (named != by_name_.end() && role(named->second) != Role::added) return named->second;
  const std::optional<std::string> bytes = unspell(model_.kind, spelling);
  if (const TokenId id = bytes ? find(*bytes) : no_token; id != no_token) return id;
  return named == by_name_.end() ? std::nullopt : std::optional(named->second);
}

}  // namespace heddle::text
