#include "libcore/data/task_examples.hpp"

#include <algorithm>
#include <utility>

#include "libcore/text/spelling.hpp"

namespace heddle::data {

namespace {

// Adds to messages which example they are about.
template <class Call>
void located(const std::string& where, const Call& call) {
  try {
    call();
  } catch (const text::TextError& error) {
    throw DataError(where + ": " + error.reason());
  } catch (const DataError& error) {
    throw DataError(where + ": " + error.what());
  }
}

std::vector<TokenId> encode(const text::Tokenizer& tokenizer, std::string_view text) {
  return tokenizer.encode(text, text::SpecialText::plain);
}

std::string place(std::string_view file, Index line) {
  return concatenate(file, ":", line);
}

// The words that have tokens, as (first token, word), in order.
std::vector<std::pair<Index, std::size_t>> words_by_token(const AlignedWords& words) {
  std::vector<std::pair<Index, std::size_t>> result;
  for (std::size_t word = 0; word < words.first_token.size(); ++word) {
    if (words.first_token[word] >= 0) result.emplace_back(words.first_token[word], word);
  }
  return result;
}

// The words whose first tokens lie in this part of the sentence.
void add_words(std::span<const std::pair<Index, std::size_t>> words, std::span<const TokenId> tags,
               TaskExample& example) {
  const FramedSequence& part = example.sequence;
  const auto begin = std::ranges::lower_bound(words, std::pair(part.first_from, std::size_t{0}));
  const Index end = part.first_from + part.first_count;
  for (auto word = begin; word != words.end() && word->first < end; ++word) {
    example.positions.push_back(part.first_at + word->first - part.first_from);
    example.words.push_back(static_cast<Index>(word->second));
    example.tags.push_back(tags.empty() ? TokenId{-1} : tags[word->second]);
  }
}

// The first gold answer that lies whole in this part of the context.
TokenSpan answer_in(const SpanQuestion& question, std::span<const text::LocatedToken> tokens, Index first_at) {
  for (const SpanAnswer& answer : question.answers) {
    const std::size_t end = answer.begin + answer.text.size();
    if (tokens.empty() || answer.begin < tokens.front().begin || end > tokens.back().end) continue;
    if (const auto span = tokens_of(tokens, {answer.begin, end}))
      return {first_at + span->first, first_at + span->last};
  }
  return {0, 0};
}

TaskExample example_of(FramedSequence sequence, std::size_t source) {
  TaskExample example;
  example.sequence = std::move(sequence);
  example.source = static_cast<Index>(source);
  return example;
}

// For examples whose longest part has fewer tokens than the example.
void count_overlong(std::span<const FramedSequence> parts, std::size_t tokens, OverlongTexts& overlong) {
  Index kept = 0;
  for (const FramedSequence& part : parts) kept = std::max(kept, part.first_count + part.second_count);
  overlong.count += kept < static_cast<Index>(tokens) ? 1 : 0;
}

}  // namespace

std::vector<TaskExample> text_examples(std::span<const LabelledText> texts, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing,
                                       OverlongTexts& overlong) {
  std::vector<TaskExample> examples;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    located(place(file, texts[i].line), [&] {
      const std::vector<TokenId> first = encode(tokenizer, texts[i].text);
      std::vector<TokenId> second;
      if (texts[i].second_text) second = encode(tokenizer, *texts[i].second_text);
      std::vector<FramedSequence> parts =
          texts[i].second_text ? framing(first, second, overlong.treatment) : framing(first, overlong.treatment);
      count_overlong(parts, first.size() + second.size(), overlong);
      for (FramedSequence& part : parts) examples.push_back(example_of(std::move(part), i));
    });
  }
  return examples;
}

std::vector<TaskExample> tag_examples(std::span<const TaggedSentence> sentences, std::string_view file,
                                      const LabelSet& labels, const text::Tokenizer& tokenizer, const Framing& framing,
                                      OverlongTexts& overlong) {
  std::vector<TaskExample> examples;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    const TaggedSentence& sentence = sentences[i];
    std::vector<TokenId> tags;
    for (const std::string& tag : sentence.tags) tags.push_back(static_cast<TokenId>(labels.find(tag).value_or(-1)));
    located(place(file, sentence.lines.empty() ? Index{1} : sentence.lines.front()), [&] {
      const AlignedWords words = align_words(tokenizer, sentence.words);
      std::vector<FramedSequence> parts = framing(words.ids, overlong.treatment);
      count_overlong(parts, words.ids.size(), overlong);
      const auto by_token = words_by_token(words);
      for (FramedSequence& part : parts) {
        examples.push_back(example_of(std::move(part), i));
        add_words(by_token, tags, examples.back());
      }
    });
  }
  return examples;
}

std::vector<TaskExample> span_examples(std::span<const SpanQuestion> questions, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing,
                                       OverlongTexts& overlong) {
  std::vector<TaskExample> examples;
  const std::string* known = nullptr;
  std::vector<text::LocatedToken> context;
  std::vector<TokenId> ids;  // ids of the context
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const SpanQuestion& question = questions[i];
    located(concatenate(file, ": question ", text::quoted(question.id)), [&] {
      if (question.context.get() != known) {
        context = tokenizer.encode_with_offsets(*question.context, text::SpecialText::plain);
        known = question.context.get();
        ids.clear();
        for (const text::LocatedToken& token : context) ids.push_back(token.id);
      }
      const std::vector<TokenId> asked = encode(tokenizer, question.question);
      std::vector<FramedSequence> parts = framing.question(asked, ids, overlong.treatment);
      overlong.count += parts.front().first_count < static_cast<Index>(asked.size()) ? 1 : 0;
      for (FramedSequence& part : parts) {
        TaskExample example = example_of(std::move(part), i);
        const auto begin = context.begin() + example.sequence.second_from;
        example.context.assign(begin, begin + example.sequence.second_count);
        example.answer = answer_in(question, example.context, example.sequence.second_at);
        examples.push_back(std::move(example));
      }
    });
  }
  return examples;
}

}  // namespace heddle::data
