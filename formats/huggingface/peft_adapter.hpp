// Low-rank adapters that PEFT trained: a directory with adapter_config.json and adapter_model.safetensors, whose
// tensors are MODULE.lora_A.weight [r, in] and MODULE.lora_B.weight [out, r], MODULE as in the model's own files.
// Source: Hu et al. 2022, "LoRA", and the files that PEFT's save_pretrained() writes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/huggingface/tensor_names.hpp"
#include "libcore/nn/low_rank_options.hpp"

namespace heddle::formats {

// Whether the path is a directory with adapter_config.json and no model.
bool is_peft_directory(const std::string& path);
// The name of the model that it says it was trained on; "" for none.
std::string peft_base(const std::string& path);

struct PeftAdapter {
  LowRankOptions options;
  std::vector<NamedTensor> weights;  // …/lora/a and …/lora/b of the matrices that it adapts; others have none
  std::vector<std::string> files;
};

// `parameters` are those of its base, of the given architecture of heddle's. Throws DataError that names what heddle
// does not carry out, and modules that the base has not.
PeftAdapter read_peft_adapter(const std::string& path, const std::string& arch,
                              std::span<const ParameterShape> parameters);

}  // namespace heddle::formats
