// Published tokenizers on published data: where tokens are, and what becomes of answers and words.
#include "libcore/data/token_alignment.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "formats/files.hpp"
#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"
#include "libcore/text/basic_words.hpp"
#include "support/labelled.hpp"

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
Tokenizer gpt2_tokenizer() {
  return Tokenizer(read_gpt2_vocabulary(tokenizer_path("gpt2")));
}

std::string slice(const std::string& text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin);
}

std::vector<std::string> contexts_of(const std::vector<SpanQuestion>& questions) {
  std::vector<std::string> contexts;
  const std::string* last = nullptr;
  for (const SpanQuestion& question : questions) {
    if (question.context.get() != last) contexts.push_back(*question.context);
    last = question.context.get();
  }
  return contexts;
}

// Texts of the short goldens, in many scripts.
std::vector<std::string> texts_of_goldens() {
  return nlohmann::json::parse(read_bytes(HEDDLE_GOLDENS "/texts.json"))["any"];
}

// Whether the text begins with a part of a Hangul syllable (U+1100 to U+11FF), of which several cover one character.
bool is_jamo(std::string_view text) {
  return text.size() >= 3 && text[0] == '\xE1' && text[1] >= '\x84' && text[1] <= '\x87';
}

// The piece of each token is what wordpiece makes of the text that the token covers.
void check_pieces(const std::vector<std::string>& texts, const Tokenizer& tokenizer) {
  for (const std::string& text : texts) {
    CAPTURE(text);
    for (const LocatedToken& token : tokenizer.encode_with_offsets(text, text::SpecialText::plain)) {
      if (token.id == tokenizer.unknown()) continue;
      std::string word;
      text::for_each_basic_word(slice(text, token.begin, token.end), {}, [&](auto part) { word += part; });
      std::string_view piece = tokenizer.bytes(token.id);
      if (piece != word && piece.starts_with("##")) piece.remove_prefix(2);
      if (!is_jamo(piece)) CHECK(piece == word);
    }
  }
}

// The tokens cover the text, one after the other, and are the bytes that they cover.
void check_cover(const std::vector<std::string>& texts, const Tokenizer& tokenizer) {
  for (const std::string& text : texts) {
    CAPTURE(text);
    std::size_t end = 0;
    bool same = true;
    for (const LocatedToken& token : tokenizer.encode_with_offsets(text, text::SpecialText::plain)) {
      same = same && token.begin == end && slice(text, token.begin, token.end) == tokenizer.bytes(token.id);
      end = token.end;
    }
    CHECK(same);
    CHECK(end == text.size());
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
  check_pieces(contexts_of(questions), bert());
}

TEST_CASE("alignment: GPT-2's tokens are the text, one after the other") {
  const auto questions = questions_of("xquad.de.json");
  if (questions.empty()) return;
  check_cover(contexts_of(questions), gpt2_tokenizer());
}

TEST_CASE("alignment: the same of texts of many scripts, with the short goldens' vocabularies") {
  check_pieces(texts_of_goldens(), Tokenizer(read_wordpiece_vocabulary(HEDDLE_GOLDENS "/bert-base-uncased/vocab.txt")));
  check_cover(texts_of_goldens(), Tokenizer(read_gpt2_vocabulary(HEDDLE_GOLDENS "/gpt2")));
}

TEST_CASE("alignment: answers come back from the pieces that cover them") {
  for (const std::string name : {"squadshifts-new_wiki_v1.0.json.gz", "squadshifts-amazon_reviews_v1.0.json.gz"}) {
    const auto questions = questions_of(name);
    if (questions.empty()) return;
    for (const auto& [kind, tokenizer] :
         {std::pair("bert-base-uncased", bert()), std::pair("gpt2", gpt2_tokenizer())}) {
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
  for (const Tokenizer& tokenizer : {bert(), gpt2_tokenizer()}) {
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
