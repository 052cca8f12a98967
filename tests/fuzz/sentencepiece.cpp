// SentencePiece's models.
#include "formats/huggingface/load_tokenizer.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::sentencepiece(std::string_view input) {
  const std::string path = write_input("x.model", input);
  read_or_refuse([&] { use(formats::load_tokenizer(path)); });
}
