// Texts and tokenizers that the tests of libcore/text share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/random.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/text/vocabulary_training.hpp"

namespace heddle::text {

inline const std::string english =
    "The quick brown fox jumps over the lazy dog. The dog doesn't mind; it's the fox's day.\n";

inline std::string random_bytes(std::size_t count, std::uint64_t seed) {
  const RandomStream stream(seed, random_site("bytes"));
  std::string bytes;
  for (std::uint64_t i = 0; i < count; ++i) bytes += static_cast<char>(stream.below(i, 256));
  return bytes;
}

// `count` parts drawn from a list.
inline std::string random_text(const std::vector<std::string>& parts, std::size_t count, std::uint64_t seed) {
  const RandomStream stream(seed, random_site("text"));
  std::string text;
  for (std::uint64_t i = 0; i < count; ++i) text += parts[stream.below(i, parts.size())];
  return text;
}

// Random numbers one after another, and words of the letters a, b and c.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_(seed, random_site("draws")) {}

  std::uint64_t below(std::uint64_t end) { return stream_.below(at_++, end); }
  double uniform() { return stream_.uniform(at_++); }
  std::string word(std::size_t longest) {
    std::string word;
    for (std::size_t length = 1 + below(longest); length > 0; --length) word += static_cast<char>('a' + below(3));
    return word;
  }

 private:
  RandomStream stream_;
  std::uint64_t at_ = 0;
};

// Difficult cases of pre-tokenisation: blanks of all kinds, contractions, scripts, combining marks, broken UTF-8,
// zeros.
inline std::string tricky_text(std::size_t parts, std::uint64_t seed) {
  static const std::vector<std::string> list = {" ",
                                                " ",
                                                " ",
                                                "\n",
                                                "\t",
                                                "\r\n",
                                                "'",
                                                "'",
                                                "s",
                                                "t",
                                                "re",
                                                "ve",
                                                "ll",
                                                "m",
                                                "d",
                                                "x",
                                                "Word",
                                                "12",
                                                "3",
                                                "-",
                                                ".",
                                                "!?",
                                                "\xc2\xa0",
                                                "\xe3\x80\x80",
                                                "\xe2\x80\xa8",
                                                "\xc3\xa9",
                                                "\xe4\xb8\xad\xe6\x96\x87",
                                                "\xd9\xa3",
                                                "\xc2\xbd",
                                                "\xf0\x9f\x98\x80",
                                                "\xcc\x81",
                                                "\xc3",
                                                "\xe3\x80",
                                                "\xf0\x9f",
                                                "\x80",
                                                "\xff",
                                                std::string(1, '\0'),
                                                "<|",
                                                "|>",
                                                "<|endoftext|>",
                                                "<|pad|>",
                                                "<unk>"};
  return random_text(list, parts, seed);
}

inline TokenizerModel train(std::string_view text, TrainerOptions options) {
  Trainer trainer(std::move(options));
  trainer.add(text);
  return trainer.finish();
}

inline const std::vector<TokenizerKind> all_kinds = {TokenizerKind::bpe, TokenizerKind::byte, TokenizerKind::character,
                                                     TokenizerKind::word, TokenizerKind::unigram};

}  // namespace heddle::text
