// Writes tagged sentences with the tags of another scheme.
#pragma once

#include <string>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/metrics/tag_scheme.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// Reads sentences of any format that has tags. Lines of words are written as they are, with other tags; of tables and
// objects WORD, tab, TAG for each word, and an empty line after each sentence. Tags that break the rules of their
// scheme become those of the entities that are read from them (metrics::entities). Throws DataError where the tags mark
// no entities, and as the readers do.
void convert_tags(const std::string& path, const std::string& output, metrics::TagScheme scheme,
                  const formats::LabelledInput& input, const cli::Arguments& arguments);

}  // namespace heddle
