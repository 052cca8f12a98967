// Files of hidden states.
#include "fuzz/target.hpp"
#include "heddle/formats/column.hpp"
#include "heddle/formats/file.hpp"
#include "heddle/formats/tensor_group.hpp"

void heddle::fuzz::tensor_file(std::string_view input) {
  const std::string path = write_input("hidden.h5", input);
  read_or_refuse([&] {
    const formats::InputFile file(path);
    read_or_refuse([&] { file.provenance(); });
    for (const char* column : {"ids", "texts"}) {
      read_or_refuse([&] { formats::read_column<std::int64_t>(file.root(), column); });
    }
    read_or_refuse([&] { formats::read_column<std::string>(file.root(), "pieces"); });
    formats::TensorGroup(file.root()).verify();
  });
}
