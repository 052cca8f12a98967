#include "tools/inspect/files/summary.hpp"

namespace heddle {

namespace {

using formats::Json;

Json weights_json(const std::vector<formats::TensorInfo>& weights) {
  Json list = Json::array();
  for (const formats::TensorInfo& tensor : weights) {
    Json shape = Json::array();
    for (int i = 0; i < tensor.shape.rank(); ++i) shape.push_back(tensor.shape[i]);
    list.push_back({{"name", tensor.name}, {"shape", std::move(shape)}, {"type", name_of(tensor.dtype)}});
  }
  return list;
}

Json tokenizer_json(const text::TokenizerModel& model) {
  Json special = Json::object();
  for (const Index id : model.special_tokens) special[model.pieces.at(static_cast<std::size_t>(id))] = id;
  const auto id_or_null = [](Index id) { return id < 0 ? Json() : Json(id); };
  return {{"kind", to_text(model.kind)},
          {"vocabulary", model.pieces.size()},
          {"merges", model.merges.size() / 2},
          {"special_tokens", std::move(special)},
          {"end_of_text", id_or_null(model.end_of_text)},
          {"unknown", id_or_null(model.unknown)},
          {"fingerprint", fingerprint(model)}};
}

Json statistics_json(const TokenStatistics& statistics) {
  Json frequent = Json::array();
  for (const PieceCount& each : statistics.frequent) {
    frequent.push_back({{"id", each.id}, {"piece", each.piece}, {"count", each.count}});
  }
  return {{"used", statistics.used},         {"special", statistics.special}, {"unknown", statistics.unknown},
          {"shortest", statistics.shortest}, {"median", statistics.median},   {"longest", statistics.longest},
          {"frequent", std::move(frequent)}};
}

void add_counts(Json& json, const TokenCounts& counts) {
  json["tokens"] = counts.tokens;
  json["vocabulary"] = counts.vocabulary;
  json["text_bytes"] = counts.text_bytes;
  if (counts.statistics) json["statistics"] = statistics_json(*counts.statistics);
}

Json step_json(const formats::ProvenanceStep& step) {
  Json inputs = Json::array();
  for (const formats::ProvenanceInput& input : step.inputs) {
    inputs.push_back({{"role", input.role},
                      {"name", input.name},
                      {"size", input.size},
                      {"xxh128", input.xxh128},
                      {"made_by", input.made_by < 0 ? Json() : Json(input.made_by)}});
  }
  return {{"command_line", step.command_line},
          {"created_by", step.created_by},
          {"created_at", step.created_at},
          {"inputs", std::move(inputs)}};
}

Json provenance_json(const formats::Provenance& provenance) {
  Json steps = Json::array();
  for (const formats::ProvenanceStep& step : provenance.earlier) steps.push_back(step_json(step));
  steps.push_back(step_json(provenance.own));
  return steps;
}

}  // namespace

Json as_json(const Summary& summary) {
  Json json = {{"name", summary.name}, {"kind", summary.kind}};
  if (summary.parameters) json["parameters"] = *summary.parameters;
  if (summary.head_parameters) json["head_parameters"] = *summary.head_parameters;
  if (summary.config) json["config"] = formats::to_json(*summary.config);
  if (summary.objective) json["objective"] = formats::to_json(*summary.objective);
  if (summary.task) json["task"] = formats::to_json(models::TaskSettings{*summary.task});
  if (summary.task && summary.task->left_out > 0) json["task"]["left_out"] = summary.task->left_out;
  if (summary.adapters) json["adapters"] = formats::to_json(*summary.adapters);
  if (summary.ensemble) json["ensemble"] = formats::to_json(*summary.ensemble);
  if (summary.weights) json["weights"] = weights_json(*summary.weights);
  if (summary.tokens) {
    json["documents"] = summary.tokens->documents;
    add_counts(json, *summary.tokens);
  }
  if (summary.pairs) {
    json["pairs"] = summary.pairs->pairs;
    add_counts(json["source"], summary.pairs->source);
    add_counts(json["target"], summary.pairs->target);
  }
  if (summary.graphs) add_members(json, *summary.graphs);
  if (summary.pieces) json["pieces"] = *summary.pieces;
  if (summary.source_tokenizer) json["source_tokenizer"] = tokenizer_json(*summary.source_tokenizer);
  if (summary.tokenizer) json["tokenizer"] = tokenizer_json(*summary.tokenizer);
  if (summary.history) json["history"] = as_json(*summary.history);
  if (summary.provenance) json["provenance"] = provenance_json(*summary.provenance);
  return json;
}

Json as_json(const formats::History& history) {
  Json columns = Json::object();
  for (const formats::History::Column& column : history.columns()) columns[column.name] = column.values;
  return columns;
}

}  // namespace heddle
