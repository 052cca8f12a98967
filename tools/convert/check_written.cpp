#include "tools/convert/check_written.hpp"

#include <algorithm>
#include <map>

#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"
#include "tools/convert/rounding.hpp"

namespace heddle {

namespace {

constexpr const char* probe_text =
    "When the 3 foxes had jumped over a lazy dog, they weren't tired at all; who is not?";

using Values = std::map<std::string, Tensor>;

Values values_of(const std::vector<formats::NamedTensor>& weights) {
  Values values;
  for (const auto& [name, tensor] : weights) values.emplace(name, tensor);
  return values;
}

struct Probe {
  std::vector<TokenId> source, ids;  // equal for a model without sources
  bool operator==(const Probe&) const = default;
};

Probe probe_of(const formats::ModelParts& parts) {
  const auto ids_of = [&](const text::TokenizerModel& tokenizer) {
    std::vector<TokenId> ids = text::Tokenizer(tokenizer).encode(probe_text);
    if (ids.empty()) ids.push_back(0);
    ids.resize(std::min(ids.size(), static_cast<std::size_t>(parts.config.tokens().position_limit())));
    return ids;
  };
  return {ids_of(parts.source_tokenizer ? *parts.source_tokenizer : parts.tokenizer), ids_of(parts.tokenizer)};
}

TokenIds one_row(const std::vector<TokenId>& ids) {
  return TokenIds({1, static_cast<Index>(ids.size())}, ids);
}

// The prediction of a model that reads a source, with the text on both sides.
Variable predicted(const models::Model& model, const Probe& probe, const std::string& where) {
  const TokenIds ids = one_row(probe.ids);
  if (const auto* translator = model.as<models::SequenceToSequence>()) {
    models::Sequences targets(ids);
    targets.sources = std::make_shared<const models::Sequences>(one_row(probe.source));
    return translator->target_head()(translator->target_hidden(targets));
  }
  const Variable hidden =
      models::require<models::ContextualVectors>(model, "the check of the written file", where).hidden(ids);
  if (const auto* next = model.as<models::TokenLoss>()) return next->next_token_head()(hidden);
  const auto* const masked = model.as<models::MaskedPredictor>();
  return masked != nullptr ? masked->masked_token_head()(hidden) : hidden;
}

// Computed with weights as float32, whatever their stored dtype.
Tensor logits_of(const formats::ModelParts& parts, const Probe& probe, const std::string& where) {
  return predicted(*model_with(parts.config, parts.weights), probe, where).value();
}

void check_weights(const std::vector<formats::NamedTensor>& stored, const std::vector<formats::NamedTensor>& written,
                   const std::string& where) {
  const Values values = values_of(stored);
  for (const auto& [name, tensor] : written) {
    const auto found = values.find(name);
    // A bias that only the written model has must be zero.
    const bool equal = found != values.end() ? found->second.elements() == tensor.elements()
                                             : formats::rounding_error(Tensor(tensor.shape(), Real(0)), tensor) == 0;
    check<DataError>(equal, where, ": ", name, " differs when read back; nothing was written");
  }
}

}  // namespace

double logit_tolerance(formats::WeightType type) {
  switch (type) {
    case formats::WeightType::f16:
      return 0.01;
    case formats::WeightType::bf16:
      return 0.05;
    case formats::WeightType::int8:
    case formats::WeightType::q8:
      return 0.25;
    case formats::WeightType::q4:
      return 1;
    default:
      return 1e-5;
  }
}

double check_written(const formats::ModelParts& original, const std::vector<formats::NamedTensor>& stored,
                     const formats::ModelParts& written, formats::WeightType type, const std::string& where) {
  check_weights(stored, written.weights, where);
  const Probe probe = probe_of(original);
  check<DataError>(probe == probe_of(written), where,
                   ": the written tokenizer gives different ids; nothing was written");
  const double difference =
      formats::rounding_error(logits_of(original, probe, where), logits_of(written, probe, where));
  check<DataError>(difference <= logit_tolerance(type), where, ": the logits for a test text differ by ", difference,
                   " of their norm, more than ", logit_tolerance(type), " for ", to_text(type),
                   "; nothing was written");
  return difference;
}

}  // namespace heddle
