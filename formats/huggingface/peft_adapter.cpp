#include "formats/huggingface/peft_adapter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>

#include "formats/huggingface/foreign_architecture.hpp"
#include "formats/huggingface/foreign_model.hpp"
#include "formats/huggingface/side_files.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

namespace fs = std::filesystem;

constexpr const char *adapter_config_file = "adapter_config.json", *adapter_tensors = "adapter_model.safetensors";

// The two matrices of a module.
struct LowRankPair {
  const Safetensor *a = nullptr, *b = nullptr;
};
using Modules = std::map<std::string, LowRankPair>;

Modules modules_of(const std::vector<Safetensor>& tensors) {
  constexpr std::string_view prefix = "base_model.model.";
  Modules modules;
  for (const Safetensor& tensor : tensors) {
    const std::string_view name = tensor.name;
    const bool is_a = name.ends_with(".lora_A.weight"), is_b = name.ends_with(".lora_B.weight");
    check<DataError>(name.starts_with(prefix) && (is_a || is_b), tensor.where(), ": is not the matrix of an adapter, ",
                     prefix, "….lora_A.weight or ….lora_B.weight");
    const std::string_view module =
        name.substr(prefix.size(), name.size() - prefix.size() - std::string_view(".lora_A.weight").size());
    (is_a ? modules[std::string(module)].a : modules[std::string(module)].b) = &tensor;
  }
  return modules;
}

LowRankOptions options_of(const JsonNode& config) {
  if (const JsonNode type = config["peft_type"]; type.is_null() || type.text() != "LORA") {
    type.refuse(concatenate("is ", type.shown(), "; heddle has LORA"));
  }
  // The others change the model that the adapter is added to.
  config["init_lora_weights"].expect_any_of({nullptr, true, false, "gaussian", "eva", "orthogonal"});
  LowRankOptions options;
  options.lora_rank = config["r"].number();
  const double alpha = config["lora_alpha"].real(), rank = static_cast<double>(options.lora_rank);
  if (options.lora_rank < 1) config["r"].refuse("must be at least 1");
  if (!(alpha > 0)) config["lora_alpha"].refuse("must be above 0");
  options.lora_alpha = config["use_rslora"].flag_or(false) ? alpha * std::sqrt(rank) : alpha;
  options.lora_dropout = config["lora_dropout"].real_or(0);
  return options;
}

class PeftReader {
 public:
  PeftReader(const std::string& path, std::span<const ParameterShape> parameters, PeftAdapter& adapter)
      : path_(path), adapter_(adapter) {
    for (const ParameterShape& parameter : parameters) shapes_.emplace(parameter.name, parameter.shape);
  }

  // Whether an architecture names all modules.
  bool covers(const ForeignArchitecture& architecture, const Modules& modules) const {
    return std::ranges::all_of(modules,
                               [&](const auto& module) { return !matrices(architecture, module.first).empty(); });
  }

  void read(const ForeignArchitecture& architecture, const Modules& modules) {
    for (const auto& [module, pair] : modules) {
      const std::vector<std::string> names = matrices(architecture, module);
      check<DataError>(!names.empty(), path_, ": adapts ", text::quoted(module),
                       ", which is not a matrix of the base that takes adapters: ", join(targets));
      check<DataError>(pair.a != nullptr && pair.b != nullptr, path_, ": has one of lora_A and lora_B of ",
                       text::quoted(module), " alone");
      read_module(names, pair);
    }
    std::vector<std::string> used;
    std::ranges::copy_if(targets, std::back_inserter(used), [&](const std::string& target) {
      return std::ranges::any_of(adapter_.weights,
                                 [&](const NamedTensor& one) { return contains_part(one.name, target); });
    });
    adapter_.options.lora_targets = join(used, ",");
  }

 private:
  static inline const std::vector<std::string> targets{"query", "key", "value", "output", "up", "down"};

  static bool contains_part(const std::string& name, const std::string& part) {
    return name.find("/" + part + "/lora/") != name.npos;
  }

  // The paths of the base's matrices that a module holds, one below the other; none where it has no such.
  std::vector<std::string> matrices(const ForeignArchitecture& architecture, const std::string& module) const {
    std::vector<std::string> paths;
    for (const std::string& name : parameters_in(architecture.tensors, module + ".weight")) {
      if (!shapes_.contains(name) || !name.ends_with("/weight")) return {};
      paths.push_back(name.substr(0, name.rfind('/')));
      const std::string last = paths.back().substr(paths.back().rfind('/') + 1);
      if (std::ranges::find(targets, last) == targets.end()) return {};
    }
    return paths;
  }

  void read_module(const std::vector<std::string>& paths, const LowRankPair& pair) {
    const Index rank = adapter_.options.lora_rank, parts = static_cast<Index>(paths.size());
    const Shape shape = shapes_.at(paths.front() + "/weight");
    const auto check_shape = [](const Safetensor& tensor, const Shape& wanted) {
      check<DataError>(tensor.shape == wanted.extents(), tensor.where(), ": is not of the shape ", wanted,
                       " that the rank and the base require");
    };
    check_shape(*pair.a, {rank, shape[1]});
    check_shape(*pair.b, {parts * shape[0], rank});
    const Tensor a = to_tensor(*pair.a).as(DType::real), b = to_tensor(*pair.b).as(DType::real);
    for (Index part = 0; part < parts; ++part) {
      const std::string& path = paths[static_cast<std::size_t>(part)];
      adapter_.weights.push_back({path + "/lora/a", a});
      adapter_.weights.push_back({path + "/lora/b", b.narrowed(0, part * shape[0], shape[0])});
    }
  }

  const std::string& path_;
  PeftAdapter& adapter_;
  std::map<std::string, Shape> shapes_;
};

}  // namespace

bool is_peft_directory(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::path(path) / adapter_config_file, ignored) && !is_model_directory(path);
}

std::string peft_base(const std::string& path) {
  const auto config = open_side_file(path, adapter_config_file);
  const JsonNode name = JsonNode(*config)["base_model_name_or_path"];
  return name.is_null() ? "" : std::string(name.text());
}

PeftAdapter read_peft_adapter(const std::string& path, const std::string& arch,
                              std::span<const ParameterShape> parameters) {
  const fs::path folder(path);
  const auto config = open_side_file(folder, adapter_config_file);
  PeftAdapter adapter{options_of(JsonNode(*config)), {}, {}};
  std::error_code ignored;
  check<DataError>(fs::exists(folder / adapter_tensors, ignored), path, ": has no ", adapter_tensors,
                   "; have PEFT write it in this format: save_pretrained(…, safe_serialization=True)");
  const std::vector<Safetensor> tensors = read_safetensors((folder / adapter_tensors).string());
  const Modules modules = modules_of(tensors);
  check<DataError>(!modules.empty(), path, ": is an adapter without matrices");
  PeftReader reader(path, parameters, adapter);
  const ForeignArchitecture* chosen = nullptr;
  for (const ForeignArchitecture& architecture : foreign_architectures()) {
    if (architecture.arch != arch) continue;
    if (chosen == nullptr || reader.covers(architecture, modules)) chosen = &architecture;
  }
  check<DataError>(chosen != nullptr, path, ": models of Hugging Face's have no counterpart of the base, a ", arch);
  reader.read(*chosen, modules);
  adapter.files = {(folder / adapter_config_file).string(), (folder / adapter_tensors).string()};
  return adapter;
}

}  // namespace heddle::formats
