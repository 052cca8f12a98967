// Schemes of entity tags: recognised, converted into each other and back, and what breaks their rules.
#include "libcore/metrics/tag_scheme.hpp"

#include <doctest/doctest.h>

#include "libcore/base/random.hpp"
#include "libcore/base/strings.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace tag_scheme_tests {

namespace {

std::optional<FoundTags> found_in(const std::vector<std::string>& sentences) {
  std::vector<std::vector<std::string>> tags;
  for (const std::string& sentence : sentences) tags.push_back(split(sentence, ' '));
  std::vector<std::span<const std::string>> views;
  for (const auto& sentence : tags) views.emplace_back(sentence);
  return find_scheme(views);
}

// "iob2", and with wrong tags "iob2 2 I-PER after O 0:1".
std::string scheme(const std::vector<std::string>& sentences) {
  const auto found = found_in(sentences);
  if (!found) return "none";
  if (found->wrong == 0) return to_text(found->scheme);
  return concatenate(to_text(found->scheme), " ", found->wrong, " ", found->first_wrong, " ", found->sentence, ":",
                     found->word);
}

std::string converted(const std::string& sentence, TagScheme to, const TagStyle& style) {
  const std::vector<std::string> tags = split(sentence, ' ');
  return join(tags_of(entities(tags, style.mark), std::ssize(tags), to, style), " ");
}

}  // namespace

TEST_CASE("tag scheme: the same entities in each, and back") {
  const std::vector<std::pair<TagScheme, std::string>> forms{
      {TagScheme::iob1, "I-P I-P O I-P O I-L I-L I-L B-L I-O O"},
      {TagScheme::iob2, "B-P I-P O B-P O B-L I-L I-L B-L B-O O"},
      {TagScheme::iobes, "B-P E-P O S-P O B-L I-L E-L S-L S-O O"},
      {TagScheme::bilou, "B-P L-P O U-P O B-L I-L L-L U-L U-O O"},
      {TagScheme::bmes, "B-P E-P O S-P O B-L M-L E-L S-L S-O O"}};
  for (const auto& [from, text] : forms) {
    CHECK(scheme({text}) == to_text(from));
    for (const auto& [to, expected] : forms) CHECK(converted(text, to, {}) == expected);
  }
}

TEST_CASE("tag scheme: tags keep their style, with types after or before, or without any") {
  CHECK(converted("P_I P_I O", TagScheme::bilou, found_in({"P_I P_I O"})->style) == "P_B P_L O");
  CHECK(converted("B I O B", TagScheme::iobes, found_in({"B I O B"})->style) == "B E O S");
  CHECK(converted("I I O", TagScheme::iob2, found_in({"I I O"})->style) == "B I O");
  CHECK(scheme({"B I O B"}) == "iob2");
  CHECK(scheme({"I I O", "I B"}) == "iob1");
  CHECK(scheme({"NOUN VERB"}) == "none");
  CHECK(scheme({"O O"}) == "none");
}

TEST_CASE("tag scheme: tags that break the rules are counted, and the rest decides which rules") {
  CHECK(scheme({"B-P I-P", "O I-P B-P", "B-L O"}) == "iob2 1 I-P after O 1:1");
  CHECK(scheme({"I-P O I-L", "B-P I-P", "I-L B-L"}) == "iob1 1 B-P after the beginning 1:0");
  CHECK(scheme({"B-P E-P", "E-P O", "S-P I-P"}) == "iobes 3 E-P after the beginning 1:0");
  CHECK(scheme({"O B-P O", "S-P"}) == "iobes 1 O after B-P 0:2");
  CHECK(scheme({"B-P I-P", "U-P"}) == "bilou 1 the end after I-P 0:1");
  CHECK(scheme({"B-P L-L", "U-P"}) == "bilou 1 L-L after B-P 0:1");
  CHECK(scheme({"B-P I-L"}) == "iob2 1 I-L after B-P 0:1");
}

TEST_CASE("tag scheme: random entities come back from every scheme") {
  const RandomStream random(3, 1);
  std::uint64_t drawn = 0;
  const auto below = [&](std::uint64_t end) { return static_cast<Index>(random.below(drawn++, end)); };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Entity> made;
    Index words = 0;
    for (Index left = 1 + below(5); left > 0; --left) {
      const Index begin = words + below(3), length = 1 + below(4);
      made.push_back({std::string(1, static_cast<char>('P' + below(2))), begin, begin + length});
      words = begin + length;
    }
    words += below(2);
    for (const auto& [to, name] : Names<TagScheme>::list) {
      const std::vector<std::string> tags = tags_of(made, words, to, {});
      CHECK(entities(tags) == made);
      const std::vector<std::span<const std::string>> one{tags};
      CHECK(find_scheme(one)->wrong == 0);
    }
  }
}

}  // namespace tag_scheme_tests
