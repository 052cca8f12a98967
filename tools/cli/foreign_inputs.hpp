// Tokenizers and models of other programs as inputs.
#pragma once

#include <string>

#include "formats/heddle/tokenizer_file.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle::cli {

// Prints with --verbose which fields of the files in the directory, or beside the vocabulary, heddle does not use.
void report_unused_fields(const std::string& path, const Arguments& arguments);

// formats::load_tokenizer(), with that report.
text::Tokenizer load_tokenizer(const std::string& path, const Arguments& arguments,
                               formats::Side side = formats::Side::target);

}  // namespace heddle::cli
