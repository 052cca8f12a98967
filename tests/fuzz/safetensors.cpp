// Hugging Face's tensors.
#include "formats/huggingface/safetensors.hpp"

#include "fuzz/target.hpp"

void heddle::fuzz::safetensors(std::string_view input) {
  const std::string path = write_input("model.safetensors", input);
  read_or_refuse([&] {
    for (const formats::Safetensor& tensor : formats::read_safetensors(path)) {
      read_or_refuse([&] { formats::to_tensor(tensor).elements(); });
    }
  });
}
