#include "heddle/text/vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/text/spelling.hpp"
#include "heddle/text/unicode.hpp"

namespace heddle::text {

Vocabulary::Vocabulary(TokenizerModel model) : model_(std::move(model)), special_(model_.pieces.size()) {
  check<DataError>(!model_.pieces.empty(), "tokenizer without pieces");
  check<DataError>(model_.pieces.size() <= static_cast<std::size_t>(std::numeric_limits<TokenId>::max()),
                   "tokenizer of ", model_.pieces.size(), " pieces: more than ids can tell apart");
  check_special_tokens();
  for (std::size_t id = 0; id < model_.pieces.size(); ++id) add_piece(id);
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char text = static_cast<char>(byte);
    byte_tokens_[byte] = find({&text, 1});
  }
  check_pieces();
  check_merges();
}

void Vocabulary::check_special_tokens() {
  const auto size = static_cast<Index>(model_.pieces.size());
  for (const Index id : model_.special_tokens) {
    check<DataError>(id >= 0 && id < size, "special token ", id, " is outside the ", size, " pieces of the tokenizer");
    check<DataError>(!is_special(id), "special token ", id, " is listed twice");
    special_[static_cast<std::size_t>(id)] = true;
  }
  const auto check_role = [&](Index id, std::string_view role) {
    check<DataError>(id == no_token || (id >= 0 && id < size && is_special(id)), "the ", role, " token ", id,
                     " is no special token of the tokenizer");
  };
  check_role(model_.unknown, "unknown");
  check_role(model_.end_of_text, "end-of-text");
  check_role(model_.classification, "classification");
  check_role(model_.separator, "separator");
  check_role(model_.mask, "mask");
  check_role(model_.padding, "padding");
}

void Vocabulary::add_piece(std::size_t id) {
  const std::string& piece = model_.pieces[id];
  check<DataError>(!piece.empty() && is_utf8(piece) && piece.find('\0') == std::string::npos, "piece ", id,
                   " of the tokenizer is empty or not valid UTF-8 text");
  const std::optional<std::string> bytes = special_[id] ? piece : unspell(model_.kind, piece);
  check<DataError>(bytes.has_value(), "piece ", id, " of the tokenizer, ", quoted(piece),
                   ", is not spelled as pieces of a ", to_text(model_.kind), " tokenizer are");
  const StringTable::Added added = bytes_.add(*bytes);
  check<DataError>(added.is_new, "pieces ", added.index, " and ", id, " of the tokenizer are both ", quoted(piece));
}

void Vocabulary::check_pieces() const {
  const bool byte_level = model_.kind == TokenizerKind::bpe || model_.kind == TokenizerKind::byte;
  check<DataError>(!byte_level || has_all_bytes(), "the ", to_text(model_.kind),
                   " tokenizer lacks pieces for some of the 256 bytes");
  if (model_.kind != TokenizerKind::byte && model_.kind != TokenizerKind::character) return;
  for (Index id = 0; id < size(); ++id) {
    const bool single = bytes(id).size() == 1 ||
                        (model_.kind == TokenizerKind::character && decode(bytes(id), 0).length == bytes(id).size());
    check<DataError>(single || is_special(id), "piece ", id, " of the tokenizer, ", quoted(bytes(id)),
                     ", is more than one ", to_text(model_.kind));
  }
}

void Vocabulary::check_merges() const {
  const std::vector<Index>& merges = model_.merges;
  check<DataError>(model_.kind == TokenizerKind::bpe || merges.empty(), "merges in a ", to_text(model_.kind),
                   " tokenizer");
  check<DataError>(merges.size() % 2 == 0, "the last merge of the tokenizer has no right side");
  for (std::size_t at = 0; at < merges.size(); ++at) {
    check<DataError>(contains(merges[at]) && !is_special(merges[at]), "merge ", at / 2, " names token ", merges[at],
                     ", which is no ordinary piece of the tokenizer");
  }
}

TokenId Vocabulary::find(std::string_view bytes) const {
  const std::optional<std::size_t> id = bytes_.find(bytes);
  return id && !special_[*id] ? static_cast<TokenId>(*id) : no_token;
}

bool Vocabulary::has_all_bytes() const {
  return std::ranges::find(byte_tokens_, no_token) == byte_tokens_.end();
}

std::optional<TokenId> Vocabulary::id_of(std::string_view spelling) const {
  if (const auto id = bytes_.find(spelling); id && special_[*id]) return static_cast<TokenId>(*id);
  const std::optional<std::string> bytes = unspell(model_.kind, spelling);
  const TokenId id = bytes ? find(*bytes) : no_token;
  return id == no_token ? std::nullopt : std::optional(id);
}

}  // namespace heddle::text
