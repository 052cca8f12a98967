// GPT-2's vocab.json and merges.txt: the input has both, with a line "--" between them.
#include <filesystem>

#include "formats/huggingface/load_tokenizer.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::gpt2_vocabulary(std::string_view input) {
  constexpr std::string_view between = "\n--\n";
  const std::size_t end = input.find(between);
  if (end == std::string_view::npos) return;
  const std::filesystem::path path = write_input("gpt2/vocab.json", input.substr(0, end));
  write_input("gpt2/merges.txt", input.substr(end + between.size()));
  read_or_refuse([&] { use(formats::load_tokenizer(path.parent_path())); });
}
