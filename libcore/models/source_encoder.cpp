#include "libcore/models/source_encoder.hpp"

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/context.hpp"

namespace heddle::models {

#define HEDDLE_SOURCE_ENCODER(name, type, summary) SourceEncoderKind describe_##type();
#include "libcore/models/source_encoders.def"
#undef HEDDLE_SOURCE_ENCODER

namespace {

SourceEncoderKind named(SourceEncoderKind kind, const char* name, const char* summary) {
  kind.name = name;
  kind.summary = summary;
  return kind;
}

}  // namespace

const std::vector<SourceEncoderKind>& source_encoders() {
  static const std::vector<SourceEncoderKind> list = {
#define HEDDLE_SOURCE_ENCODER(name, type, summary) named(describe_##type(), #name, summary),
#include "libcore/models/source_encoders.def"
#undef HEDDLE_SOURCE_ENCODER
  };
  return list;
}

const SourceEncoderKind& source_encoder_kind(const std::string& text) {
  const std::string name = Settings(text).name();
  std::vector<std::string> names;
  for (const SourceEncoderKind& kind : source_encoders()) {
    if (kind.name == name) return kind;
    names.emplace_back(kind.name);
  }
  throw UsageError(not_one_of(name, names));
}

void check_source_encoder(const RnnConfig& config) {
  const std::string field = "`source_encoder`";
  const auto* const kind = naming_errors(field, [&] { return &source_encoder_kind(config.source_encoder); });
  kind->check(config);
  const Simulation nothing_is_computed;
  Parameters parameters(ParameterSource::unset());
  naming_errors(field, [&] { make_source_encoder(Scope(parameters, ""), config); });
}

std::unique_ptr<SourceEncoder> make_source_encoder(const Scope& scope, const RnnConfig& config) {
  Settings settings(config.source_encoder);
  auto made = source_encoder_kind(config.source_encoder).make(settings, scope, config);
  settings.refuse_others();
  return made;
}

}  // namespace heddle::models
