// Hugging Face's tokenizer.json, read and written again.
#include "formats/huggingface/tokenizer_json.hpp"

#include "formats/huggingface/load_tokenizer.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::tokenizer_json(std::string_view input) {
  const std::string path = write_input("tokenizer.json", input);
  read_or_refuse([&] {
    const text::Tokenizer tokenizer = formats::load_tokenizer(path);
    use(tokenizer);
    formats::to_tokenizer_json(tokenizer.model());
  });
}
