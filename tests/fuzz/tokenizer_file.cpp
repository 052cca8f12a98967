// Tokenizer files.
#include "formats/huggingface/load_tokenizer.hpp"

#include "fuzz/target.hpp"

void heddle::fuzz::tokenizer_file(std::string_view input) {
  const std::string path = write_input("tokenizer.h5", input);
  read_or_refuse([&] { use(formats::load_tokenizer(path)); });
  read_or_refuse([&] { formats::describe(formats::InputFile(path).provenance()); });
}
