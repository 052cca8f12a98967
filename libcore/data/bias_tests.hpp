// Tests of bias, as files contain them.
#pragma once

#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::data {

// A word or a text and its line in the file, from 1.
struct PlacedText {
  std::string text;
  Index line = 0;
};

inline constexpr const char* target_slot = "[TARGET]";
inline constexpr const char* attribute_slot = "[ATTRIBUTE]";
inline constexpr const char* word_slot = "[WORD]";

// Compares the probabilities of two targets in sentences with an attribute.
struct TemplateTest {
  std::string name;
  Index line = 0;
  std::vector<PlacedText> templates;  // each with one [TARGET] and one [ATTRIBUTE]
  std::vector<PlacedText> targets;    // two
  std::vector<PlacedText> attributes;
  std::vector<PlacedText> neutral;  // attributes of the prior; none: masks are
};

// Are the words of x more similar to those of a than to those of b, compared with the words of y?
struct WordTest {
  std::string name;
  Index line = 0;
  std::vector<PlacedText> x, y, a, b;  // at least two in x and in y, at least one in a and in b
  std::vector<PlacedText> contexts;    // each with one [WORD]; none: words alone
};

// Compares the probabilities of two sentences.
struct PairTest {
  std::string name;
  Index line = 0;
  std::vector<PlacedText> first, second;  // equally many, in order
};

struct BiasTests {
  std::vector<TemplateTest> templates;
  std::vector<PairTest> pairs;
  std::vector<WordTest> words;
};

}  // namespace heddle::data
