#include "tools/cli/foreign_inputs.hpp"

#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/side_files.hpp"

namespace heddle::cli {

void report_unused_fields(const std::string& path, const Arguments& arguments) {
  if (!arguments.common().verbose) return;
  for (const std::string& line : formats::unused_fields(path)) arguments.detail(line);
}

text::Tokenizer load_tokenizer(const std::string& path, const Arguments& arguments, formats::Side side) {
  text::Tokenizer tokenizer = formats::load_tokenizer(path, side);
  report_unused_fields(path, arguments);
  return tokenizer;
}

}  // namespace heddle::cli
