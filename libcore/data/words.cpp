#include "libcore/data/words.hpp"

#include <algorithm>
#include <string_view>

#include "libcore/text/spelling.hpp"

namespace heddle::data {

namespace {

bool is_white(char letter) {
  return letter == ' ' || letter == '\n' || letter == '\t' || letter == '\r';
}

}  // namespace

WordVocabulary::WordVocabulary(const text::Tokenizer& tokenizer) {
  const bool is_word = tokenizer.kind() == text::TokenizerKind::word;
  const bool is_wordpiece = tokenizer.kind() == text::TokenizerKind::wordpiece;
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view bytes = tokenizer.bytes(id);
    is_special.push_back(tokenizer.is_special(id));
    begins_word.push_back(is_word ||
                          (is_wordpiece ? !bytes.starts_with(text::continuation_mark) : is_white(bytes.front())));
    // A space of its own is a part of the word after it, as where pieces begin with it.
    ends_word.push_back(!is_wordpiece && is_white(bytes.back()) && bytes.find_first_not_of(' ') != bytes.npos);
    is_blank.push_back(std::ranges::all_of(bytes, is_white));
  }
}

WordVocabulary::WordVocabulary(Index vocab_size, Index special)
    : is_special(static_cast<std::size_t>(vocab_size)),
      begins_word(is_special.size(), true),
      ends_word(is_special.size(), false),
      is_blank(is_special.size(), false) {
  check<UsageError>(vocab_size > special, "a vocabulary of ", vocab_size, " has no room for special tokens");
  std::fill(is_special.end() - special, is_special.end(), true);
}

std::vector<TokenRange> words_in(std::span<const TokenId> tokens, const WordVocabulary& vocabulary) {
  std::vector<TokenRange> words;
  bool open = false;  // the last word may continue
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto id = static_cast<std::size_t>(tokens[i]);
    const auto here = static_cast<Index>(i);
    if (vocabulary.is_special[id]) {
      open = false;
      continue;
    }
    if (open && !vocabulary.begins_word[id]) {
      words.back().second = here + 1;
    } else {
      words.emplace_back(here, here + 1);
    }
    open = !vocabulary.ends_word[id];
  }
  return words;
}

}  // namespace heddle::data
