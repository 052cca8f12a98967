// Maps tensor names of another program's model to heddle's parameters: one table per architecture, used in both
// directions.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/heddle/tensor_group.hpp"
#include "formats/huggingface/safetensors.hpp"

namespace heddle::formats {

// '#' in names stands for the number of a layer.
struct TensorRule {
  enum class Form {
    plain,
    transposed,  // [in, out], as in GPT-2's Conv1D; ours are [out, in]
    row          // [1, size]; ours are [size]
  };

  std::string foreign;
  std::vector<std::string_view> parameters;  // stacked by rows if there are several
  Form form = Form::plain;
  // A parameter: the rule is only for models that have it, or that lack it, in this layer. Empty: for all.
  std::string_view beside{}, without{};
};

struct TensorNames {
  // The foreign names' prefix; files of a model without its head leave it out.
  std::string prefix;
  std::vector<TensorRule> rules;
  // Tensors that some files hold twice: {second name, original name}; a second name may have several originals, of
  // which a model has one.
  std::vector<std::pair<std::string, std::string>> copies;
  // Tensors in some files that are not weights.
  std::vector<std::string> ignored;
  // Tensors of which zeros are as good as none.
  std::vector<std::string> zeros_or_none{};
  // Endings of names in older files: {older, newer}.
  std::vector<std::pair<std::string, std::string>> endings;
};

// Whether it is one of those of which zeros are as good as none, and is zeros.
bool is_absent(const TensorNames& names, const Safetensor& tensor);

// The names of the tensors that a model has, whatever its files call them.
class TensorSet {
 public:
  TensorSet(const TensorNames& names, const std::vector<std::string>& foreign);
  bool has(std::string_view foreign) const;

 private:
  const TensorNames* names_;
  std::set<std::string> standard_;
};

struct ParameterShape {
  std::string name;
  Shape shape;
};

// Finds the parameters of a model among foreign tensors; rules about others do not apply. The results are in the order
// of the parameters, and stay in the foreign files where they need no change: Reals, or bfloat16 for matrices of such.
// Throws DataError that names tensors that are missing, unknown or of the wrong shape (some of them, if there are
// many). Precondition: the rules cover the parameters.
std::vector<NamedTensor> from_foreign(const TensorNames& names, std::span<const Safetensor> tensors,
                                      std::span<const ParameterShape> parameters, const std::string& where);

// The parameters that a foreign tensor holds, stacked by rows where they are several; none for a name without a rule.
std::vector<std::string> parameters_in(const TensorNames& names, std::string_view foreign);

// The names that to_foreign() gives.
std::vector<std::string> foreign_names(const TensorNames& names, std::span<const ParameterShape> parameters);

// The same the other way round: `weights` are all parameters of a model. int8 becomes Real, and so do parts of one
// tensor that differ in type.
std::vector<NamedTensor> to_foreign(const TensorNames& names, std::span<const NamedTensor> weights);

}  // namespace heddle::formats
