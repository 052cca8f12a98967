#include "libcore/attention/attention.hpp"

#include <map>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle {

#define HEDDLE_ATTENTION(variant, type, summary) \
  std::unique_ptr<Attention> make_##type(Settings& settings, const AttentionScopes& scopes, HeadShape shape);
#include "libcore/attention/variants.def"
#undef HEDDLE_ATTENTION

namespace {

struct NeedChecker {
  const std::string& text;
  std::map<std::string, bool> has;
  void operator()(const Field& field, const bool& needed) const {
    check<UsageError>(!needed || has.at(field.name), text, " ", field.help);
  }
};

// The settings that a variant reads when it is made.
template <class Make>
std::vector<SettingHelp> settings_of(const char* name, const Make& make) {
  Parameters parameters(ParameterSource::unset());
  const Scope scope(parameters, "");
  Settings settings(name);
  make(settings, {scope, scope}, HeadShape{1, 2});
  return settings.known();
}

}  // namespace

std::unique_ptr<AttentionState> Attention::start(Index, Index, DType) const {
  throw Error("this attention variant has no cached steps");
}
Tensor Attention::step(const AttentionCall&, const StepRows&, AttentionState&) const {
  throw Error("this attention variant has no cached steps");
}
PairWeights Attention::weights(const AttentionCall&) const {
  throw Error("this attention variant has no weights");
}

void check_support(const std::string& text, const AttentionSupport& has, const AttentionSupport& needed) {
  NeedChecker checker{text, {}};
  const auto remember = [&](const Field& field, const bool& value) { checker.has[field.name] = value; };
  visit_fields(has, remember);
  visit_fields(needed, checker);
}

Index steady_length(Index length) {
  const auto unsigned_length = static_cast<std::uint64_t>(std::max<Index>(1, length));
  const Index step = std::max<Index>(64, static_cast<Index>(std::bit_floor(unsigned_length)) / 8);
  return (length + step - 1) / step * step;
}

const std::vector<AttentionVariant>& attention_variants() {
  static const std::vector<AttentionVariant> variants = {
#define HEDDLE_ATTENTION(variant, type, summary) {#variant, summary, settings_of(#variant, make_##type)},
#include "libcore/attention/variants.def"
#undef HEDDLE_ATTENTION
  };
  return variants;
}

std::unique_ptr<Attention> make_attention(const std::string& text, const AttentionScopes& scopes, HeadShape shape) {
  Settings settings(text);
  std::unique_ptr<Attention> made;
#define HEDDLE_ATTENTION(variant, type, summary) \
  if (settings.name() == #variant) made = make_##type(settings, scopes, shape);
#include "libcore/attention/variants.def"
#undef HEDDLE_ATTENTION
  if (made == nullptr) {
    std::vector<std::string> names;
    for (const AttentionVariant& variant : attention_variants()) names.push_back(variant.name);
    throw UsageError(not_one_of(settings.name(), names));
  }
  settings.refuse_others();
  return made;
}

}  // namespace heddle
