// Texts in, answers out, in order: the loop of every tool that reads texts.
#pragma once

#include <limits>
#include <vector>

#include "heddle/base/error.hpp"
#include "tools/lines/text_reader.hpp"

namespace heddle {

// What is answered together. Of the two limits the one that is reached first counts.
struct Batching {
  TextUnit unit = TextUnit::line;
  Index texts = std::numeric_limits<Index>::max();
  // A text counts for some bytes more than it has, because empty ones are work too.
  Index bytes = std::numeric_limits<Index>::max();
};

// Calls make(InputText) for each text, and answer(items) for what it makes of a batch of them, or of fewer where the
// next text would have to be waited for. The texts before a bad one are answered: when make throws DataError, those of
// its batch before; when answer does, each of its batch by itself. So answer must write nothing before it has all
// answers, and what it says of a text must not depend on the batch.
template <class Make, class Answer>
void answer_texts(cli::Input input, const Batching& batching, const Make& make, const Answer& answer) {
  using Item = decltype(make(InputText()));
  constexpr Index bytes_per_text = 16;
  std::vector<Item> batch;
  Index bytes = 0;
  const auto answer_batch = [&] {
    if (batch.empty()) return;
    std::vector<Item> items;
    items.swap(batch);
    bytes = 0;
    try {
      answer(items);
    } catch (const DataError&) {
      if (items.size() > 1) {
        for (Item& item : items) answer(std::vector<Item>{std::move(item)});
      }
      throw;
    }
  };
  InputTexts texts(input, batching.unit);
  while (const auto text = texts.next(answer_batch)) {
    try {
      batch.push_back(make(*text));
    } catch (const DataError&) {
      answer_batch();
      throw;
    }
    bytes += static_cast<Index>(text->text.size()) + bytes_per_text;
    if (static_cast<Index>(batch.size()) >= batching.texts || bytes >= batching.bytes) answer_batch();
  }
  answer_batch();
}

}  // namespace heddle
