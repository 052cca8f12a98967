#include "libcore/data/task_examples.hpp"

#include <doctest/doctest.h>

#include <memory>

using namespace heddle;
using namespace heddle::data;

namespace {

// A token for each letter from a to j.
text::Tokenizer letters() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::character;
  model.pieces = {"[CLS]", "[SEP]", "[UNK]", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
  model.special_tokens = {0, 1, 2};
  model.classification = 0, model.separator = 1, model.unknown = 2;
  model.end_of_text = -1;
  return text::Tokenizer(model);
}

// The parts of "abcdefgh" as the context of the question "j": six letters each, with one answer.
std::vector<TaskExample> windows_with(const std::string& answer) {
  const std::string context = "abcdefgh";
  const SpanQuestion question{
      "1", "j", std::make_shared<const std::string>(context), {{answer, context.find(answer)}}, false};
  const text::Tokenizer tokenizer = letters();
  OverlongTexts overlong;
  auto windows =
      span_examples(std::vector<SpanQuestion>{question}, "file", tokenizer, Framing(tokenizer, 10, true), overlong);
  CHECK(overlong.count == 0);
  REQUIRE(windows.size() == 2);
  // [CLS] j [SEP] a b c d e f [SEP], and the same with c to h.
  CHECK(windows[0].sequence.ids == std::vector<TokenId>{0, 12, 1, 3, 4, 5, 6, 7, 8, 1});
  CHECK(windows[1].sequence.ids == std::vector<TokenId>{0, 12, 1, 5, 6, 7, 8, 9, 10, 1});
  return windows;
}

using Places = std::vector<std::pair<Index, Index>>;

Places answers_in(const std::vector<TaskExample>& windows) {
  Places places;
  for (const TaskExample& window : windows) places.emplace_back(window.answer.first, window.answer.last);
  return places;
}

}  // namespace

TEST_CASE("task examples: an answer is where a window has all of it; a window that cuts it has none") {
  CHECK(answers_in(windows_with("cd")) == Places{{5, 6}, {3, 4}});      // in both
  CHECK(answers_in(windows_with("ab")) == Places{{3, 4}, {0, 0}});      // before the second begins
  CHECK(answers_in(windows_with("bc")) == Places{{4, 5}, {0, 0}});      // the second begins within it
  CHECK(answers_in(windows_with("fg")) == Places{{0, 0}, {6, 7}});      // the first ends within it
  CHECK(answers_in(windows_with("h")) == Places{{0, 0}, {8, 8}});       // after the first ends
  CHECK(answers_in(windows_with("bcdefg")) == Places{{0, 0}, {0, 0}});  // cut by both
}

TEST_CASE("task examples: of several answers the first that a window has whole is learned there") {
  const SpanQuestion question{"1", "j", std::make_shared<const std::string>("abcdefgh"), {{"gh", 6}, {"de", 3}}, false};
  const text::Tokenizer tokenizer = letters();
  OverlongTexts overlong;
  const auto windows =
      span_examples(std::vector<SpanQuestion>{question}, "file", tokenizer, Framing(tokenizer, 10, true), overlong);
  CHECK(answers_in(windows) == Places{{6, 7}, {7, 8}});
}

TEST_CASE("task examples: texts and pairs are counted as long where a token of theirs is in no part") {
  const text::Tokenizer tokenizer = letters();
  const auto count_of = [&](const std::string& first, const std::optional<std::string>& second, Overlong how) {
    OverlongTexts overlong{how};
    const LabelledText text{.text = first, .second_text = second, .label = "X", .line = 1};
    text_examples(std::vector<LabelledText>{text}, "file", tokenizer, Framing(tokenizer, 8, true), overlong);
    return overlong.count;
  };
  for (const Overlong how : {Overlong::truncate, Overlong::split}) {
    CHECK(count_of("abcdef", std::nullopt, how) == 0);
    CHECK(count_of("abcdefg", std::nullopt, how) == 1);
    CHECK(count_of("ab", "cde", how) == 0);
    CHECK(count_of("abcd", "e", how) == 0);
    CHECK(count_of("ab", "cdef", how) == 1);
  }
}

TEST_CASE("task examples: words of a sentence that is split are tagged wherever their first token is") {
  const text::Tokenizer tokenizer = letters();
  // Without spaces between them: the tokenizer has none, and [UNK] stands for each.
  const TaggedSentence sentence{{"ab", "c", "de"}, {"X", "Y", "X"}, {1, 2, 3}};
  OverlongTexts overlong{Overlong::split};
  const LabelSet labels({"X", "Y"});
  const auto parts = tag_examples(std::vector<TaggedSentence>{sentence}, "file", labels, tokenizer,
                                  Framing(tokenizer, 6, true), overlong);
  CHECK(overlong.count == 1);
  // a b _ c _ d e in parts of four: a b _ c, _ c _ d, c _ d e.
  REQUIRE(parts.size() == 3);
  CHECK(parts[0].words == std::vector<Index>{0, 1});
  CHECK(parts[0].positions == std::vector<Index>{1, 4});
  CHECK(parts[0].tags == std::vector<TokenId>{0, 1});
  CHECK(parts[1].words == std::vector<Index>{1, 2});
  CHECK(parts[1].positions == std::vector<Index>{2, 4});
  CHECK(parts[2].words == std::vector<Index>{1, 2});
  CHECK(parts[2].positions == std::vector<Index>{1, 3});
  CHECK(parts[2].tags == std::vector<TokenId>{1, 0});
  // A tag that training never saw is that of no label.
  const auto of_one = tag_examples(std::vector<TaggedSentence>{sentence}, "file", LabelSet({"Y"}), tokenizer,
                                   Framing(tokenizer, 20, true), overlong);
  REQUIRE(of_one.size() == 1);
  CHECK(of_one[0].tags == std::vector<TokenId>{-1, 0, -1});
}
