// BERT's vocab.txt.
#include "formats/huggingface/load_tokenizer.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::wordpiece_vocabulary(std::string_view input) {
  const std::string path = write_input("vocab.txt", input);
  read_or_refuse([&] { use(formats::load_tokenizer(path)); });
}
