#include "libcore/text/segments.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "libcore/base/error.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::text {

Segments::Segments(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  const TokenizerModel& model = vocabulary.model();
  tokens_.reserve(model.segments.size());
  for (const std::string& spelling : model.segments) {
    const std::optional<std::string> bytes = unspell(model.kind, spelling);
    check<DataError>(bytes.has_value() && !bytes->empty(), "segment ", tokens_.size(), " of the tokenizer, ",
                     quoted(spelling), ", does not have the spelling of pieces of a ", to_text(model.kind),
                     " tokenizer");
    check<DataError>(apart_.add(*bytes).is_new, "segment ", tokens_.size(), " of the tokenizer, ", quoted(spelling),
                     ", is there twice");
    tokens_.push_back(vocabulary.find(*bytes));
  }
}

std::vector<PieceTrie::Piece> Segments::all() const {
  std::vector<PieceTrie::Piece> pieces;
  if (are_apart()) {
    pieces.reserve(apart_.size());
    for (std::size_t i = 0; i < apart_.size(); ++i) pieces.emplace_back(apart_[i], static_cast<TokenId>(i));
    return pieces;
  }
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    if (vocabulary_.is_piece(id)) pieces.emplace_back(vocabulary_.bytes(id), id);
  }
  return pieces;
}

TokenId Segments::find(std::string_view bytes) const {
  if (!are_apart()) return vocabulary_.find(bytes);
  const std::optional<std::size_t> number = apart_.find(bytes);
  return number ? static_cast<TokenId>(*number) : no_token;
}

double Segments::least_score() const {
  double least = 0;
  for (const auto& [bytes, segment] : all()) least = std::min(least, scores()[static_cast<std::size_t>(segment)]);
  return least;
}

void Segments::append_unknown(std::string_view text, std::size_t offset, const TokenOutput& output) const {
  if (vocabulary_.model().byte_fallback) {
    for (const char byte : text) output.add(vocabulary_.byte_token(static_cast<unsigned char>(byte)), 1);
    return;
  }
  const TokenId piece = are_apart() ? vocabulary_.find(text) : no_token;
  output.add(piece != no_token ? piece : unknown_token(vocabulary_, text, offset), text.size());
}

void Segments::append(TokenId segment, std::size_t offset, const TokenOutput& output) const {
  const TokenId id = token(segment);
  output.ids.push_back(id != no_token ? id : unknown_token(vocabulary_, bytes(segment), offset));
  if (output.sizes != nullptr) output.sizes->push_back(bytes(segment).size());
}

}  // namespace heddle::text
