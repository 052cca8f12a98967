#include "heddle/data/task_examples.hpp"

#include <algorithm>

namespace heddle::data {

namespace {

std::vector<TokenId> encode(const text::Tokenizer& tokenizer, std::string_view text, const std::string& where) {
  try {
    return tokenizer.encode(text, text::SpecialText::plain);
  } catch (const text::TextError& error) {
    throw DataError(where + ": " + error.reason());
  }
}

template <class Frame>
std::vector<FramedSequence> framed(const std::string& where, OverlongTexts& overlong, Index tokens, const Frame& frame) {
  try {
    std::vector<FramedSequence> parts = frame(overlong.how);
    Index kept = 0;
    for (const FramedSequence& part : parts) kept = std::max(kept, part.first_count + part.second_count);
    overlong.count += kept < tokens ? 1 : 0;
    return parts;
  } catch (const DataError& error) {
    throw DataError(where + ": " + error.what());
  }
}

std::string place(std::string_view file, Index line) { return concatenate(file, ":", line); }

// The words whose first tokens lie in this part of the sentence.
void add_words(const AlignedWords& words, std::span<const TokenId> tags, TaskExample& example) {
  const FramedSequence& part = example.sequence;
  for (std::size_t word = 0; word < words.first_token.size(); ++word) {
    const Index token = words.first_token[word];
    if (token < part.first_from || token >= part.first_from + part.first_count) continue;
    example.positions.push_back(part.first_at + token - part.first_from);
    example.words.push_back(static_cast<Index>(word));
    example.tags.push_back(tags.empty() ? TokenId{-1} : tags[word]);
  }
}

// The first gold answer that lies whole in this part of the context.
TokenSpan answer_in(const SpanQuestion& question, std::span<const text::LocatedToken> tokens, Index first_at) {
  for (const SpanAnswer& answer : question.answers) {
    const std::size_t end = answer.begin + answer.text.size();
    if (tokens.empty() || answer.begin < tokens.front().begin || end > tokens.back().end) continue;
    if (const auto span = tokens_of(tokens, {answer.begin, end})) return {first_at + span->first, first_at + span->last};
  }
  return {0, 0};
}

}  // namespace

std::vector<TaskExample> text_examples(std::span<const LabelledText> texts, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing,
                                       OverlongTexts& overlong) {
  std::vector<TaskExample> examples;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string where = place(file, texts[i].line);
    const std::vector<TokenId> first = encode(tokenizer, texts[i].text, where);
    std::vector<TokenId> second;
    if (texts[i].second_text) second = encode(tokenizer, *texts[i].second_text, where);
    const auto tokens = static_cast<Index>(first.size() + second.size());
    for (FramedSequence& part : framed(where, overlong, tokens, [&](Overlong how) {
           return texts[i].second_text ? framing(first, second, how) : framing(first, how);
         })) {
      TaskExample example;
      example.sequence = std::move(part);
      example.source = static_cast<Index>(i);
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

std::vector<TaskExample> tag_examples(std::span<const TaggedSentence> sentences, std::string_view file,
                                      const LabelSet& labels, const text::Tokenizer& tokenizer, const Framing& framing,
                                      OverlongTexts& overlong) {
  std::vector<TaskExample> examples;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const TaggedSentence& sentence = sentences[i];
    const std::string where = place(file, sentence.lines.empty() ? Index{1} : sentence.lines.front());
    const AlignedWords words = align_words(tokenizer, sentence.words);
    std::vector<TokenId> tags;
    if (!sentence.tags.empty()) {
      for (const Index id : tag_ids(sentence, labels, file)) tags.push_back(static_cast<TokenId>(id));
    }
    for (FramedSequence& part : framed(where, overlong, static_cast<Index>(words.ids.size()),
                                       [&](Overlong how) { return framing(words.ids, how); })) {
      TaskExample example;
      example.sequence = std::move(part);
      example.source = static_cast<Index>(i);
      add_words(words, tags, example);
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

std::vector<TaskExample> span_examples(std::span<const SpanQuestion> questions, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing) {
  std::vector<TaskExample> examples;
  const std::string* known = nullptr;
  std::vector<text::LocatedToken> context;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const SpanQuestion& question = questions[i];
    const std::string where = concatenate(file, ": question '", question.id, "'");
    if (question.context.get() != known) {
      context = tokenizer.encode_with_offsets(*question.context, text::SpecialText::plain);
      known = question.context.get();
    }
    std::vector<TokenId> ids;
    for (const text::LocatedToken& token : context) ids.push_back(token.id);
    OverlongTexts overlong{Overlong::split};
    const std::vector<TokenId> asked = encode(tokenizer, question.question, where);
    for (FramedSequence& part : framed(where, overlong, static_cast<Index>(asked.size() + ids.size()),
                                       [&](Overlong how) { return framing(asked, ids, how); })) {
      TaskExample example;
      example.context.assign(context.begin() + part.second_from, context.begin() + part.second_from + part.second_count);
      example.answer = answer_in(question, example.context, part.second_at);
      example.sequence = std::move(part);
      example.source = static_cast<Index>(i);
      examples.push_back(std::move(example));
    }
  }
  return examples;
}

}  // namespace heddle::data
