// Published tokenizers on published data: where tokens are, and what becomes of answers and words.
#include "heddle/data/alignment.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

#include "formats/files.hpp"
#include "heddle/formats/conll.hpp"
#include "heddle/formats/gpt2_vocabulary.hpp"
#include "heddle/formats/squad.hpp"
#include "heddle/formats/wordpiece_vocabulary.hpp"
#include "heddle/text/basic_words.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using data::SpanQuestion;
using text::LocatedToken;
using text::Tokenizer;

namespace {

std::vector<SpanQuestion> questions_of(const std::string& name) {
  const std::string content = shared_content("qa/" + name);
  return content.empty() ? std::vector<SpanQuestion>() : read_squad(content, name, Gold::given);
}

std::string tokenizer_path(const std::string& name) {
  return std::string(std::getenv("HEDDLE_SHARED_DATA")) + "/tokenizers/" + name;
}

Tokenizer bert() {
  return Tokenizer(read_wordpiece_vocabulary(tokenizer_path("bert-base-uncased")));
}
Tokenizer gpt2() {
  return Tokenizer(read_gpt2_vocabulary(tokenizer_path("gpt2")));
}

std::string slice(const std::string& text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

// Calls check(context, tokens) for each context.
template <class Check>
void for_each_context(const std::vector<SpanQuestion>& questions, const Tokenizer& tokenizer, const Check& check) {
  const std::string* last = nullptr;
  for (const SpanQuestion& question : questions) {
    if (question.context.get() == last) continue;
    last = question.context.get();
    check(*last, tokenizer.encode_with_offsets(*last, text::SpecialText::plain));
  }
}

// The shares of answers that the tokens which cover them give back to the letter, and of questions with such an answer.
struct Recovered {
  double answers = 0, questions = 0;
};

Recovered recovered(const std::vector<SpanQuestion>& questions, const Tokenizer& tokenizer) {
  const std::string* last = nullptr;
  std::vector<LocatedToken> tokens;
  Index answers = 0, good_answers = 0, good_questions = 0;
  for (const SpanQuestion& question : questions) {
    const std::string& context = *question.context;
    if (&context != last) tokens = tokenizer.encode_with_offsets(context, text::SpecialText::plain);
    last = &context;
    bool any = false;
    for (const data::SpanAnswer& answer : question.answers) {
      const auto span = data::tokens_of(tokens, {answer.begin, answer.begin + answer.text.size()});
      const data::TextSpan found = span ? data::text_of(context, tokens, *span) : data::TextSpan{};
      const bool good = slice(context, found.begin, found.end) == answer.text;
      good_answers += good;
      any = any || good;
      ++answers;
    }
    good_questions += any;
  }
  return {static_cast<double>(good_answers) / static_cast<double>(answers),
          static_cast<double>(good_questions) / static_cast<double>(questions.size())};
}

}  // namespace

TEST_CASE("alignment: wordpiece of the slice at each piece is the piece") {
  const auto questions = questions_of("xquad.de.json");
  if (questions.empty()) return;
  const Tokenizer tokenizer = bert();
  for_each_context(questions, tokenizer, [&](const std::string& context, const std::vector<LocatedToken>& tokens) {
    int wrong = 0;
    for (const LocatedToken& token : tokens) {
      if (token.id == tokenizer.unknown()) continue;
      std::string word;
      text::for_each_basic_word(slice(context, token.begin, token.end), {}, [&](auto part) { word += part; });
      const std::string_view piece = tokenizer.bytes(token.id);
      wrong += piece != word && piece != "##" + word;
    }
    CHECK(wrong == 0);
  });
}

TEST_CASE("alignment: GPT-2's tokens are the text, one after the other") {
  const auto questions = questions_of("xquad.de.json");
  if (questions.empty()) return;
  const Tokenizer tokenizer = gpt2();
  for_each_context(questions, tokenizer, [&](const std::string& context, const std::vector<LocatedToken>& tokens) {
    std::size_t end = 0;
    bool same = true;
    for (const LocatedToken& token : tokens) {
      same = same && token.begin == end && slice(context, token.begin, token.end) == tokenizer.bytes(token.id);
      end = token.end;
    }
    CHECK(same);
    CHECK(end == context.size());
  });
}

TEST_CASE("alignment: answers come back from the pieces that cover them") {
  for (const std::string name : {"squadshifts-new_wiki_v1.0.json.gz", "squadshifts-amazon_reviews_v1.0.json.gz"}) {
    const auto questions = questions_of(name);
    if (questions.empty()) return;
    for (const auto& [kind, tokenizer] : {std::pair("bert-base-uncased", bert()), std::pair("gpt2", gpt2())}) {
      const Recovered share = recovered(questions, tokenizer);
      MESSAGE(name, ", ", std::string(kind), ": ", share.answers, " of answers, ", share.questions, " of questions");
      CHECK(share.questions >= 0.99);
      CHECK(share.answers >= 0.95);
    }
  }
}

TEST_CASE("alignment: every word of a treebank has a first piece") {
  const std::string content = shared_content("ud-english-ewt/en_ewt-ud-dev.conllu.gz");
  if (content.empty()) return;
  const auto sentences = read_conllu(content, "ewt", "", Gold::given);
  for (const Tokenizer& tokenizer : {bert(), gpt2()}) {
    Index without = 0, wrong = 0;
    for (const data::TaggedSentence& sentence : sentences) {
      const data::AlignedWords aligned = data::align_words(tokenizer, sentence.words);
      for (std::size_t word = 0; word < sentence.words.size(); ++word) {
        const Index first = aligned.first_token[word];
        without += first < 0;
        wrong += first >= 0 && aligned.word_of[static_cast<std::size_t>(first)] != static_cast<Index>(word);
      }
    }
    CHECK(without == 0);
    CHECK(wrong == 0);
  }
}
