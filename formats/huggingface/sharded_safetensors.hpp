// The tensors of a directory: model.safetensors, or the parts that model.safetensors.index.json lists,
// {"metadata": …, "weight_map": {"NAME": "model-00001-of-00002.safetensors", …}}.
#pragma once

#include <string>
#include <vector>

#include "formats/huggingface/safetensors.hpp"

namespace heddle::formats {

struct DirectoryTensors {
  std::vector<std::string> files;  // paths, the index first where there is one
  std::vector<Safetensor> tensors;
};

// Throws DataError as read_safetensors() does, if the directory has no such files, and if the parts do not match the
// index.
DirectoryTensors read_directory_tensors(const std::string& directory);

}  // namespace heddle::formats
