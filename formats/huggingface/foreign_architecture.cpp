#include "formats/huggingface/foreign_architecture.hpp"

#include <algorithm>
#include <array>

#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

struct ActivationName {
  std::string_view name;
  Activation activation;
};
// If an activation has several names, the first is written.
constexpr std::array activation_names{
    ActivationName{"relu", Activation::relu},           ActivationName{"gelu", Activation::gelu},
    ActivationName{"gelu_new", Activation::gelu_tanh},  ActivationName{"gelu_pytorch_tanh", Activation::gelu_tanh},
    ActivationName{"gelu_fast", Activation::gelu_tanh}, ActivationName{"silu", Activation::silu},
    ActivationName{"swish", Activation::silu},          ActivationName{"relu2", Activation::relu_squared},
};

}  // namespace

const std::vector<ForeignArchitecture>& foreign_architectures() {
  static const std::vector<ForeignArchitecture> list = {
#define HEDDLE_FOREIGN_ARCHITECTURE(name) name##_architecture(),
#include "formats/huggingface/foreign_architectures.def"
#undef HEDDLE_FOREIGN_ARCHITECTURE
  };
  return list;
}

std::optional<Activation> activation_of(std::string_view foreign) {
  const auto found = std::ranges::find(activation_names, foreign, &ActivationName::name);
  return found == activation_names.end() ? std::nullopt : std::optional(found->activation);
}

Activation read_activation(const JsonNode& field) {
  if (const auto activation = activation_of(field.text())) return *activation;
  std::vector<std::string> known;
  for (const auto& [name, activation] : activation_names) known.emplace_back(name);
  field.refuse(concatenate("is ", text::quoted(field.text()), "; heddle supports ", join(known)));
}

std::string foreign_name(Activation activation) {
  const auto found = std::ranges::find(activation_names, activation, &ActivationName::activation);
  return std::string(found == activation_names.end() ? to_text(activation) : found->name);
}

void expect_fixed(const JsonNode& config, const std::vector<FixedField>& fields) {
  for (const auto& [name, value] : fields) config[name].expect_any_of({nullptr, value});
}

}  // namespace heddle::formats
