#include "libcore/data/framing.hpp"

#include <doctest/doctest.h>

#include <numeric>

using namespace heddle;
using namespace heddle::data;

namespace {

using Ids = std::vector<TokenId>;

text::Tokenizer tokenizer(bool with_classes) {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::word;
  model.pieces = {"<end>", "[CLS]", "[SEP]", "a", "b"};
  model.special_tokens = {0, 1, 2};
  model.unknown = -1;
  model.end_of_text = 0;
  if (with_classes) {
    model.classification = 1;
    model.separator = 2;
  }
  return text::Tokenizer(model);
}

Ids count_up(TokenId from, int count) {
  Ids ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), from);
  return ids;
}

}  // namespace

TEST_CASE("framing: BERT's, RoBERTa's and GPT's frames") {
  const Ids a{10, 11}, b{20};
  const Framing bert(tokenizer(true), 16, true), roberta(tokenizer(true), 16, false), gpt(tokenizer(false), 16, false);
  CHECK(bert(a, Overlong::error)[0].ids == Ids{1, 10, 11, 2});
  CHECK(bert(a, Overlong::error)[0].segments.empty());
  CHECK(bert(a, b, Overlong::error)[0].ids == Ids{1, 10, 11, 2, 20, 2});
  CHECK(bert(a, b, Overlong::error)[0].segments == Ids{0, 0, 0, 0, 1, 1});
  CHECK(roberta(a, b, Overlong::error)[0].ids == Ids{1, 10, 11, 2, 2, 20, 2});
  CHECK(roberta(a, b, Overlong::error)[0].second_at == 5);
  CHECK(gpt(a, Overlong::error)[0].ids == Ids{10, 11, 0});
  CHECK(gpt(a, b, Overlong::error)[0].ids == Ids{10, 11, 0, 20, 0});
  CHECK(bert(Ids{}, Overlong::error)[0].ids == Ids{1, 2});
}

TEST_CASE("framing: what is too long is refused, cut, or split into windows that miss nothing") {
  const Framing framing(tokenizer(true), 10, true);
  const Ids text = count_up(100, 30), other = count_up(200, 2);
  CHECK_THROWS_AS(framing(text, Overlong::error), DataError);
  REQUIRE(framing(text, Overlong::truncate).size() == 1);
  CHECK(framing(text, Overlong::truncate)[0].ids.size() == 10);
  CHECK(framing(text, Overlong::truncate)[0].ids[8] == 107);
  for (int length = 1; length < 40; ++length) {
    const Ids tokens = count_up(100, length);
    Index covered = 0;
    for (const FramedSequence& window : framing(other, tokens, Overlong::split)) {
      CHECK(window.ids.size() <= 10);
      CHECK(window.second_from <= covered);
      CHECK(window.first_count == 2);
      CHECK(window.ids[static_cast<std::size_t>(window.second_at)] == 100 + window.second_from);
      covered = window.second_from + window.second_count;
    }
    CHECK(covered == length);
  }
  // Two long texts share the room.
  const FramedSequence both = framing(text, text, Overlong::truncate)[0];
  CHECK(both.first_count + both.second_count == 7);
  CHECK(both.first_count >= 3);
  CHECK(both.second_count >= 3);
}

TEST_CASE("framing: each frame leaves the room that its special tokens do not take, to the last token") {
  struct Frame {
    bool classes, segments;
    Index one, pair;  // special tokens
  };
  for (const Frame& frame : {Frame{true, true, 2, 3}, Frame{true, false, 2, 4}, Frame{false, false, 1, 2}}) {
    CAPTURE(frame.pair);
    const Framing framing(tokenizer(frame.classes), 12, frame.segments);
    CHECK(framing.overhead(false) == frame.one);
    CHECK(framing.overhead(true) == frame.pair);
    const int alone = static_cast<int>(12 - frame.one), together = static_cast<int>(12 - frame.pair);
    CHECK(framing(count_up(100, alone), Overlong::error)[0].ids.size() == 12);
    CHECK_THROWS_AS(framing(count_up(100, alone + 1), Overlong::error), DataError);
    const Ids five = count_up(200, 5);
    CHECK(framing(five, count_up(100, together - 5), Overlong::error)[0].ids.size() == 12);
    CHECK_THROWS_AS(framing(five, count_up(100, together - 4), Overlong::error), DataError);
    CHECK(framing(five, count_up(100, 30), Overlong::truncate)[0].ids.size() == 12);
    for (const FramedSequence& window : framing(five, count_up(100, 30), Overlong::split)) {
      CHECK(window.ids.size() == 12);
    }
    for (const FramedSequence& window : framing.question(count_up(200, 2), count_up(100, 30), Overlong::error)) {
      CHECK(window.ids.size() == 12);
    }
  }
}

TEST_CASE("framing: windows overlap by half, but for the last, which ends with the text") {
  const auto begins = [](const std::vector<FramedSequence>& windows, Index FramedSequence::*from) {
    std::vector<Index> list;
    for (const FramedSequence& window : windows) list.push_back(window.*from);
    return list;
  };
  using Begins = std::vector<Index>;
  const Framing framing(tokenizer(true), 10, true);
  // 8 tokens of a single text fit, 4 of which the next window repeats.
  const auto one = framing(count_up(100, 30), Overlong::split);
  CHECK(begins(one, &FramedSequence::first_from) == Begins{0, 4, 8, 12, 16, 20, 22});
  for (const FramedSequence& window : one) CHECK(window.first_count == 8);
  CHECK(begins(framing(count_up(100, 8), Overlong::split), &FramedSequence::first_from) == Begins{0});
  CHECK(begins(framing(count_up(100, 9), Overlong::split), &FramedSequence::first_from) == Begins{0, 1});
  // Beside a text of 2 tokens there is room for 5.
  const auto two = framing(count_up(200, 2), count_up(100, 12), Overlong::split);
  CHECK(begins(two, &FramedSequence::second_from) == Begins{0, 2, 4, 6, 7});
  for (const FramedSequence& window : two) CHECK(window.second_count == 5);
  // After a question of 1 token, for 6 of its context.
  const auto asked = framing.question(count_up(200, 1), count_up(100, 14), Overlong::error);
  CHECK(begins(asked, &FramedSequence::second_from) == Begins{0, 3, 6, 8});
  for (const FramedSequence& window : asked) CHECK(window.second_count == 6);
}

TEST_CASE("framing: of questions and contexts the context is split, and the question at most cut") {
  const Framing framing(tokenizer(true), 11, true);  // a room of 8
  for (const int asked : {1, 3, 4}) {
    for (int length = 0; length < 40; ++length) {
      Index covered = 0;
      for (const FramedSequence& window :
           framing.question(count_up(200, asked), count_up(100, length), Overlong::error)) {
        CHECK(window.ids.size() <= 11);
        CHECK(window.first_count == asked);
        CHECK(window.second_from <= covered);
        covered = window.second_from + window.second_count;
      }
      CHECK(covered == length);
    }
  }
  const Ids question = count_up(200, 6), context = count_up(100, 3);
  CHECK(framing.question(question, count_up(100, 2), Overlong::error)[0].first_count == 6);
  CHECK_THROWS_AS(framing.question(question, context, Overlong::error), DataError);
  CHECK_THROWS_AS(framing.question(question, context, Overlong::split), DataError);
  const std::vector<FramedSequence> cut = framing.question(question, context, Overlong::truncate);
  REQUIRE(cut.size() == 1);
  CHECK(cut[0].first_count == 4);
  CHECK(cut[0].second_count == 3);
}

TEST_CASE("framing: contexts without room and tokenizers without ends are refused") {
  CHECK_THROWS_AS(Framing(tokenizer(true), 2, true)(Ids{10}, Overlong::truncate), DataError);
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::word;
  model.pieces = {"a"};
  CHECK_THROWS_AS(Framing(text::Tokenizer(model), 8, true), UsageError);
}
