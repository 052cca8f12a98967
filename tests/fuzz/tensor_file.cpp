// Files of hidden states.
#include "formats/heddle/embedding_file.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::tensor_file(std::string_view input) {
  const std::string path = write_input("hidden.h5", input);
  read_or_refuse([&] {
    const formats::InputFile file(path);
    formats::verify_embeddings(file);
  });
}
