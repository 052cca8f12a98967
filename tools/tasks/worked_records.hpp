// Records of a prompt, the steps to its answer, and the answer, as the two texts that a model reads.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/pair_source.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/tasks/task_data.hpp"

namespace heddle {

// Reads records as examples of this task; `input` sets the treatment of bad ones.
TaskInput worked_input(const formats::LabelledInput& input);

// Text after the prompt: the steps, the mark and the answer; without steps, or with blank ones, the answer alone.
std::string response_of(const data::LabelledText& record, std::string_view mark);

// Warning that a model with this tokenizer cannot reproduce the mark, so that answers are not found by it; or nothing.
std::optional<std::string> mark_warning(std::string_view mark, const text::Tokenizer& tokenizer);

// The tokens of the prompt, which may be none, and of the response. Throws DataError, with the place, for an empty
// answer, and where the tokenizer has no token for a text.
data::TokenPair encode_worked(const data::LabelledText& record, std::string_view mark, const text::Tokenizer& tokenizer,
                              const std::string& where);

}  // namespace heddle
