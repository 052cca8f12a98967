#include "libcore/text/merges.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <queue>
#include <string>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/text/piece_encoder.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t short_word = 64;

}  // namespace

Merges::Merges(const Vocabulary& vocabulary) {
  for (std::size_t byte = 0; byte < 256; ++byte) {
    byte_tokens_[byte] = vocabulary.byte_token(static_cast<unsigned char>(byte));
  }
  has_all_bytes_ = vocabulary.has_all_bytes();
  const std::vector<Index>& pairs = vocabulary.model().merges;
  check<DataError>(pairs.size() / 2 < no_rank, "more merges than there are ranks");
  slots_.resize(std::bit_ceil(pairs.size() + 2));
  std::string bytes;
  for (std::uint32_t rank = 0; rank < pairs.size() / 2; ++rank) {
    const auto left = static_cast<TokenId>(pairs[2 * rank]), right = static_cast<TokenId>(pairs[2 * rank + 1]);
    bytes.assign(vocabulary.bytes(left)).append(vocabulary.bytes(right));
    const TokenId merged = vocabulary.find(bytes);
    check<DataError>(merged != no_token, "merge ", rank, " of the tokenizer gives ", quoted(bytes),
                     ", which is not one of its pieces");
    Merge& slot = slots_[slot_of(left, right)];
    check<DataError>(slot.rank == no_rank, "merges ", slot.rank, " and ", rank, " of the tokenizer are the same");
    slot = {left, right, rank, merged};
  }
  byte_pair_ranks_.resize(256 * 256);
  for (std::size_t pair = 0; pair < byte_pair_ranks_.size(); ++pair) {
    byte_pair_ranks_[pair] = find(byte_tokens_[pair >> 8], byte_tokens_[pair & 255]).rank;
  }
}

// The slot of the pair, or the empty one where it belongs.
std::size_t Merges::slot_of(TokenId left, TokenId right) const {
  const std::size_t mask = slots_.size() - 1;
  const std::uint64_t key = static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
  std::size_t at = (key * 0x9E3779B97F4A7C15u) >> 32 & mask;
  while (slots_[at].rank != no_rank && (slots_[at].left != left || slots_[at].right != right)) at = (at + 1) & mask;
  return at;
}

struct Merges::ShortWord {
  std::array<TokenId, short_word> tokens;
  std::array<std::uint32_t, short_word>
      ranks;  // rank of the pair that begins at each token; the last token begins none
  std::size_t count;
};

void Merges::check_bytes(std::string_view text) const {
  const auto is_missing = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)] == no_token; };
  const auto missing = std::ranges::find_if(text, is_missing);
  if (missing == text.end()) return;
  throw NoToken(static_cast<std::size_t>(missing - text.begin()),
                concatenate("the tokenizer has no piece for the byte ", quoted({&*missing, 1})));
}

void Merges::encode(std::string_view text, std::vector<TokenId>& ids) const {
  if (!has_all_bytes_) check_bytes(text);
  const auto token_of = [this](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
  if (text.size() > short_word)
    return merge_long(
        text.size(), [&](std::size_t i) { return token_of(text[i]); }, ids);
  ShortWord word;
  word.count = text.size();
  for (std::size_t i = 0; i < word.count; ++i) word.tokens[i] = token_of(text[i]);
  for (std::size_t i = 0; i + 1 < word.count; ++i) word.ranks[i] = byte_pair_rank(text[i], text[i + 1]);
  merge_short(word, ids);
}

void Merges::encode(std::span<const TokenId> tokens, std::vector<TokenId>& ids) const {
  if (tokens.size() > short_word)
    return merge_long(
        tokens.size(), [&](std::size_t i) { return tokens[i]; }, ids);
  ShortWord word;
  word.count = tokens.size();
  std::ranges::copy(tokens, word.tokens.begin());
  for (std::size_t i = 0; i + 1 < word.count; ++i) word.ranks[i] = find(tokens[i], tokens[i + 1]).rank;
  merge_short(word, ids);
}

// Scans all ranks for the lowest: quadratic, but fastest for words of ordinary length.
void Merges::merge_short(ShortWord& word, std::vector<TokenId>& ids) const {
  auto& tokens = word.tokens;
  auto& ranks = word.ranks;
  std::size_t count = word.count;
  const auto rank_at = [&](std::size_t i) { return i + 1 < count ? find(tokens[i], tokens[i + 1]).rank : no_rank; };
  if (count > 0) ranks[count - 1] = no_rank;
  while (count > 1) {
    const auto best = static_cast<std::size_t>(std::min_element(ranks.begin(), ranks.begin() + count) - ranks.begin());
    if (ranks[best] == no_rank) break;
    tokens[best] = find(tokens[best], tokens[best + 1]).merged;
    std::copy(tokens.begin() + best + 2, tokens.begin() + count, tokens.begin() + best + 1);
    std::copy(ranks.begin() + best + 2, ranks.begin() + count, ranks.begin() + best + 1);
    --count;
    ranks[best] = rank_at(best);
    if (best > 0) ranks[best - 1] = rank_at(best - 1);
  }
  ids.insert(ids.end(), tokens.begin(), tokens.begin() + count);
}

// Symbols that have been merged are one, which stands at the place of the first; the places of its first and of its
// last have their number, so that both neighbours can be found. Candidate pairs are in a heap by rank and place; one
// whose symbols have changed since is recognised by its rank. Takes 16 bytes of memory for each symbol.
template <class TokenAt>
void Merges::merge_long(std::size_t count, const TokenAt& token_at, std::vector<TokenId>& ids) const {
  using Place = std::uint32_t;
  struct Symbol {
    TokenId token;  // no_token once merged into another
    Place count;
  };
  using Candidate = std::pair<std::uint32_t, Place>;
  check<DataError>(count < std::numeric_limits<Place>::max(), "a word of ", count,
                   " bytes; put spaces or line ends into the text");
  const auto size = static_cast<Place>(count);
  std::vector<Symbol> symbols(size);
  for (Place i = 0; i < size; ++i) symbols[i] = {token_at(i), 1};
  // The merge of a symbol with the next one; null if there is none.
  const auto merge_at = [&](Place i) -> const Merge* {
    const Place next = i + symbols[i].count;
    if (symbols[i].token == no_token || next >= size) return nullptr;
    const Merge& merge = find(symbols[i].token, symbols[next].token);
    return merge.rank == no_rank ? nullptr : &merge;
  };
  std::vector<Candidate> candidates;
  candidates.reserve(2 * count);  // growing would copy it; what is not used is never touched
  for (Place i = 0; i < size; ++i) {
    if (const Merge* merge = merge_at(i)) candidates.emplace_back(merge->rank, i);
  }
  std::priority_queue queue(std::greater<Candidate>{}, std::move(candidates));
  const auto add = [&](Place i) {
    if (const Merge* merge = merge_at(i)) queue.emplace(merge->rank, i);
  };
  while (!queue.empty()) {
    const auto [rank, at] = queue.top();
    queue.pop();
    const Merge* const merge = merge_at(at);
    if (merge == nullptr || merge->rank != rank) continue;
    Symbol &left = symbols[at], &right = symbols[at + left.count];
    left.token = merge->merged;
    left.count += right.count;
    right.token = no_token;
    symbols[at + left.count - 1].count = left.count;
    add(at);
    if (at > 0) add(at - symbols[at - 1].count);
  }
  for (Place i = 0; i < size; i += symbols[i].count) ids.push_back(symbols[i].token);
}

}  // namespace heddle::text
