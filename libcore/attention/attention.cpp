#include "heddle/attention/attention.hpp"

#include "heddle/base/error.hpp"
#include "heddle/base/strings.hpp"

namespace heddle {

#define HEDDLE_ATTENTION(variant, type, summary) \
  std::unique_ptr<Attention> make_##type(Settings& settings, HeadShape shape);
#include "heddle/attention/variants.def"
#undef HEDDLE_ATTENTION

const std::vector<AttentionVariant>& attention_variants() {
  static const std::vector<AttentionVariant> variants = {
#define HEDDLE_ATTENTION(variant, type, summary) {#variant, summary},
#include "heddle/attention/variants.def"
#undef HEDDLE_ATTENTION
  };
  return variants;
}

std::unique_ptr<Attention> make_attention(const std::string& text, HeadShape shape) {
  Settings settings(text);
  std::unique_ptr<Attention> made;
#define HEDDLE_ATTENTION(variant, type, summary) \
  if (settings.name() == #variant) made = make_##type(settings, shape);
#include "heddle/attention/variants.def"
#undef HEDDLE_ATTENTION
  if (made == nullptr) {
    std::vector<std::string> names;
    for (const AttentionVariant& variant : attention_variants()) names.push_back(variant.name);
    throw UsageError(concatenate("attention '", settings.name(), "' is not one of ", join(names)));
  }
  settings.refuse_others();
  return made;
}

}  // namespace heddle
