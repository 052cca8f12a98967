// The tokenizers of Marian's directories: the input has vocab.json and the model of both sides, with a line "--"
// between them.
#include <filesystem>

#include "formats/huggingface/load_tokenizer.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::marian_vocabulary(std::string_view input) {
  constexpr std::string_view between = "\n--\n";
  const std::size_t end = input.find(between);
  if (end == std::string_view::npos) return;
  const std::filesystem::path path = write_input("marian/vocab.json", input.substr(0, end));
  for (const char* side : {"marian/source.spm", "marian/target.spm"}) {
    write_input(side, input.substr(end + between.size()));
  }
  read_or_refuse([&] { use(formats::load_tokenizer(path.parent_path(), formats::Side::source)); });
}
