// Texts in, answers out, in order: the loop of every tool that reads texts.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "libcore/base/error.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

// The size of a batch, which ends at the limit that is reached first.
struct Batching {
  TextUnit unit = TextUnit::line;
  Index texts = std::numeric_limits<Index>::max();
  // Added to the size of each text, because empty ones take time too.
  Index bytes = std::numeric_limits<Index>::max();
  RowMarks marks{};  // marks of rows
};

// Calls answer() and puts the text's place before what a NumericError says.
template <class Answer>
void answer_or_name(const std::string& where, const Answer& answer) {
  try {
    answer();
  } catch (const NumericError& error) {
    throw NumericError(where + ": " + error.what());
  }
}

// Calls make(InputText) for each text, and answer(items) with the results for a batch of texts, or for fewer if the
// next text would have to be waited for. Texts before a bad one are answered: if make throws DataError, the preceding
// ones of its batch; if answer throws it, other than WriteError, it is called again for each text of the batch alone.
// So answer must write nothing before it has all answers, and its answer for a text must not depend on the batch.
// NumericError is treated in the same way, and then names the text.
template <class Make, class Answer>
void answer_texts(cli::Input input, const Batching& batching, const Make& make, const Answer& answer) {
  using Item = decltype(make(InputText()));
  constexpr Index bytes_per_text = 16;
  std::vector<Item> batch;
  std::vector<std::string> places;  // places of the batch's texts
  Index bytes = 0;
  const auto answer_batch = [&] {
    if (batch.empty()) return;
    std::vector<Item> items;
    std::vector<std::string> wheres;
    items.swap(batch);
    wheres.swap(places);
    bytes = 0;
    const auto answer_each = [&] {
      for (std::size_t i = 0; i < items.size(); ++i) {
        answer_or_name(wheres[i], [&] { answer(std::vector<Item>{std::move(items[i])}); });
      }
    };
    try {
      items.size() > 1 ? answer(items) : answer_or_name(wheres.front(), [&] { answer(items); });
    } catch (const cli::WriteError&) {
      throw;
    } catch (const DataError&) {
      if (items.size() > 1) answer_each();
      throw;
    } catch (const NumericError&) {
      if (items.size() > 1) answer_each();
      throw;
    }
  };
  InputTexts texts(input, batching.unit, batching.marks);
  while (const auto text = texts.next(answer_batch)) {
    try {
      batch.push_back(make(*text));
      places.push_back(text->where());
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
