// Model files of llama.cpp.
#include "formats/gguf/gguf_model.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::gguf(std::string_view input) {
  const std::string path = write_input("model.gguf", input);
  read_or_refuse([&] {
    const formats::GgufFile file(path);
    for (const formats::GgufTensor& tensor : file.tensors()) {
      read_or_refuse([&] { file.tensor(tensor).elements(); });
    }
  });
  read_or_refuse([&] { formats::read_gguf_model(path); });
}
