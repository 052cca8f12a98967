// Model files, to use them and to train them.
#include "formats/heddle/model_file.hpp"

#include "formats/heddle/task_file.hpp"
#include "fuzz/target.hpp"

void heddle::fuzz::model_file(std::string_view input) {
  const std::string path = write_input("model.h5", input);
  read_or_refuse([&] {
    const formats::ModelFile file(path);
    file.verify();
    read_or_refuse([&] {
      for (const formats::NamedTensor& tensor : file.map_weights()) tensor.value.elements();
    });
    read_or_refuse([&] { formats::load_model(file); });
    read_or_refuse([&] { formats::load_model_to_train(file); });
    read_or_refuse([&] { formats::load_task(path); });
  });
}
