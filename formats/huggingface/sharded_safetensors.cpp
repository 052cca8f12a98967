#include "formats/huggingface/sharded_safetensors.hpp"

#include <filesystem>
#include <map>
#include <set>

#include "formats/json/node.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

using PartOf = std::map<std::string, std::string>;  // the name of the file that holds a tensor

PartOf read_index(const std::string& path) {
  const JsonDocument document = read_json(path);
  const JsonNode map = JsonNode(document)["weight_map"];
  if (!map.is_object()) map.refuse("must be an object from tensors to files");
  PartOf part_of;
  for (const JsonNode& file : map.members()) {
    const std::string_view part = file.text();
    // Refuses files outside the directory.
    const bool is_name = !part.empty() && part.find('/') == part.npos && part.find('\0') == part.npos;
    if (!is_name) file.refuse("must be the name of a file beside this one");
    part_of.emplace(file.key(), part);
  }
  return part_of;
}

DirectoryTensors read_parts(const std::filesystem::path& directory, const std::string& index) {
  PartOf part_of = read_index(index);
  std::set<std::string> parts;
  for (const auto& [name, part] : part_of) parts.insert(part);
  DirectoryTensors result{{index}, {}};
  for (const std::string& part : parts) {
    result.files.push_back((directory / part).string());
    for (Safetensor& tensor : read_safetensors(result.files.back())) {
      const auto expected = part_of.find(tensor.name);
      check<DataError>(expected != part_of.end() && expected->second == part, tensor.where(),
                       ": is not there according to ", index);
      part_of.erase(expected);
      result.tensors.push_back(std::move(tensor));
    }
  }
  check<DataError>(part_of.empty(), index, ": lists ", text::quoted(part_of.empty() ? "" : part_of.begin()->first),
                   ", which its file does not hold");
  return result;
}

}  // namespace

DirectoryTensors read_directory_tensors(const std::string& directory) {
  const std::filesystem::path folder(directory);
  const std::string whole = (folder / "model.safetensors").string();
  const std::string index = (folder / "model.safetensors.index.json").string();
  std::error_code ignored;
  if (std::filesystem::exists(whole, ignored)) return {{whole}, read_safetensors(whole)};
  if (std::filesystem::exists(index, ignored)) return read_parts(folder, index);
  const bool pickled = std::filesystem::exists(folder / "pytorch_model.bin", ignored);
  throw DataError(concatenate(directory, ": holds no model.safetensors",
                              pickled ? "; its pytorch_model.bin is a Python pickle, which heddle does not run. Save "
                                        "the model as safetensors"
                                      : ", nor model.safetensors.index.json"));
}

}  // namespace heddle::formats
