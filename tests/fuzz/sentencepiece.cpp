// SentencePiece's models.
#include "formats/heddle/tokenizer_file.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::sentencepiece(std::string_view input) {
  const std::string path = write_input("x.model", input);
  read_or_refuse([&] { use(formats::load_tokenizer(path)); });
}
