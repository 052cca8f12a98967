// The words that BLEU compares, as sacrebleu's tokenizers cut them.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

enum class BleuWords {
  // NIST's mteval-v13a: entities of &, <, > and quotation marks become these characters, and ASCII punctuation is
  // separated from words; full stop and comma not between digits, a hyphen only after a digit, an apostrophe never.
  v13a,
  // mteval-v14 for all languages: Unicode punctuation is separated unless numbers are on both sides, and symbols are.
  intl,
  // Each character that is not white space.
  characters,
  // Each character of Chinese, and otherwise as v13a, without the entities.
  zh
};

}  // namespace heddle::metrics

template <>
struct heddle::Names<heddle::metrics::BleuWords> {
  using T = metrics::BleuWords;
  static constexpr std::pair<T, std::string_view> list[] = {
      {T::v13a, "13a"}, {T::intl, "intl"}, {T::characters, "char"}, {T::zh, "zh"}};
};

namespace heddle::metrics {

// The words, with a space between them.
std::string bleu_words(BleuWords kind, std::string_view line);

// Whether most letters are of scripts that put no spaces between words (Han, kana, Thai, Lao, Tibetan, Burmese, Khmer):
// 13a and intl take such a line for one word.
bool is_unspaced(std::string_view line);

}  // namespace heddle::metrics
