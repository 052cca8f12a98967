// Questions about contexts as JSON objects, in SQuAD's files and in JSON lines. An answer is
// {"text": …, "answer_start": …}; answer_start is the number of characters (Unicode code points) before it in the
// context. "answers" is a list of them, or, as Hugging Face's data sets have it, {"text": [...], "answer_start":
// [...]}; an empty list says that the context has no answer, and "is_impossible", if it is there, must say the same.
// Source: Rajpurkar et al. 2016 and 2018, "SQuAD" and "Know what you don't know", and their files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "formats/json/node.hpp"
#include "formats/labelled/labelled_line.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// A context, and where its characters are, for any number of questions about it.
class SpanContext {
 public:
  explicit SpanContext(std::string text);
  const std::shared_ptr<const std::string>& text() const { return text_; }
  // The byte at which a character begins, or ends for their number; npos beyond.
  std::size_t offset_of(std::uint64_t character) const;

 private:
  std::shared_ptr<const std::string> text_;
  std::vector<std::size_t> begins_;  // offset of every 256th character
};

// The question of {"question": …, "answers": …}. `where` names it in messages. Throws DataError for missing members,
// and for an answer that is not at its place in the context.
data::SpanQuestion span_question(const JsonNode& object, std::string id, const SpanContext& context, Gold gold,
                                 const std::string& where);

}  // namespace heddle::formats
