// inspect diff: prints the differences between two files.
#include <fmt/format.h>

#include <iostream>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/inspect/files/compare.hpp"
#include "tools/inspect/files/summary.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

using formats::Json;

const std::string none = "(none)";

std::string value_text(const Json& value) {
  if (value.is_null()) return none;
  if (value.is_object()) return "{...}";
  return value.is_string() && !value.get_ref<const std::string&>().empty() ? value.get<std::string>() : value.dump();
}

std::string fields_text(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows{{"", printable(comparison.first), printable(comparison.second), ""}};
  for (const FieldDifference& each : comparison.fields) {
    const std::string others = each.others > 0 ? "and " + grouped(each.others) + " more" : "";
    rows.push_back({each.field, value_text(each.first), value_text(each.second), others});
  }
  return text_table(rows, "llll");
}

std::string short_number(double value) {
  return fmt::format("{:.3g}", value);
}

std::string shape_text(const std::optional<Shape>& shape) {
  return shape ? concatenate(*shape) : none;
}

std::string weights_text(const WeightComparison& weights) {
  if (weights.compared.empty()) return "no weight is in both\n";
  const std::string count = grouped(static_cast<Index>(weights.compared.size()));
  if (weights.differing() == 0) return "all " + count + " in both files are equal\n";
  std::vector<std::vector<std::string>> rows{{"", "shape", "relative norm", "largest", ""}};
  for (const WeightDifference& each : weights.compared) {
    if (each.same()) continue;
    const bool same_type = each.first_type == each.second_type;
    rows.push_back({each.name, concatenate(each.shape), short_number(each.distance.relative_norm),
                    short_number(each.distance.largest),
                    same_type ? "" : concatenate(each.first_type, " | ", each.second_type)});
  }
  rows.push_back({concatenate(grouped(weights.differing()), " of ", count, " differ"), "",
                  short_number(weights.total.relative_norm), short_number(weights.total.largest), ""});
  return text_table(rows, "llrrl");
}

std::string mismatches_text(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows{{"", printable(comparison.first), printable(comparison.second)}};
  for (const WeightMismatch& each : comparison.weights->mismatched) {
    rows.push_back({each.name, shape_text(each.first), shape_text(each.second)});
  }
  return text_table(rows, "lll");
}

Json shape_json(const std::optional<Shape>& shape) {
  return shape ? Json(shape->extents()) : Json();
}

Json weights_json(const WeightComparison& weights) {
  Json differing = Json::array(), mismatched = Json::array();
  for (const WeightDifference& each : weights.compared) {
    if (each.same()) continue;
    differing.push_back({{"name", each.name},
                         {"shape", each.shape.extents()},
                         {"types", {each.first_type, each.second_type}},
                         {"relative_norm", each.distance.relative_norm},
                         {"largest", each.distance.largest}});
  }
  for (const WeightMismatch& each : weights.mismatched) {
    mismatched.push_back(
        {{"name", each.name}, {"first_shape", shape_json(each.first)}, {"second_shape", shape_json(each.second)}});
  }
  return {{"compared", weights.compared.size()},
          {"relative_norm", weights.total.relative_norm},
          {"largest", weights.total.largest},
          {"differing", std::move(differing)},
          {"mismatched", std::move(mismatched)}};
}

std::string comparison_text(const Comparison& comparison) {
  const std::string names = printable(comparison.first) + " and " + printable(comparison.second);
  if (comparison.same()) return names + " have the same content\n";
  std::string text = names + " differ\n";
  if (!comparison.fields.empty()) text += text_section("Fields", fields_text(comparison));
  if (comparison.token) {
    text += text_section("Tokens", "differ from token " + grouped(*comparison.token) + " on, counted from 0\n");
  }
  if (comparison.pair) {
    text += text_section("Pairs", "differ from pair " + grouped(*comparison.pair) + " on, counted from 0\n");
  }
  if (comparison.graph) {
    text += text_section("Graphs", "differ from graph " + grouped(*comparison.graph) + " on, counted from 0\n");
  }
  if (!comparison.weights) return text;
  text += text_section("Weights", weights_text(*comparison.weights));
  if (comparison.weights->mismatched.empty()) return text;
  return text + text_section("Weights that only one file has, or of different shapes", mismatches_text(comparison));
}

Json comparison_json(const Comparison& comparison) {
  Json fields = Json::array();
  for (const FieldDifference& each : comparison.fields) {
    fields.push_back({{"field", each.field}, {"first", each.first}, {"second", each.second}, {"others", each.others}});
  }
  Json json{{"first", comparison.first},
            {"second", comparison.second},
            {"same", comparison.same()},
            {"fields", std::move(fields)}};
  if (comparison.token) json["first_token"] = *comparison.token;
  if (comparison.pair) json["first_pair"] = *comparison.pair;
  if (comparison.graph) json["first_graph"] = *comparison.graph;
  if (comparison.weights) json["weights"] = weights_json(*comparison.weights);
  return json;
}

struct DiffOptions {
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

int diff(const cli::Arguments& arguments, const DiffOptions& options) {
  const Comparison comparison = compare(arguments.operand("A"), arguments.operand("B"));
  std::cout << (options.json ? dump(comparison_json(comparison)) : printable_lines(comparison_text(comparison)));
  return comparison.same() ? 0 : 1;
}

}  // namespace

cli::Verb verbs::diff() {
  return cli::make_verb<DiffOptions>(
      {.summary = "Compares two files; exit status 0 the same, 1 different, 2 trouble.",
       .synopsis = {"A B [--json]"},
       .operands = {{"A", "a tokenizer, token, pairs, graphs, model or adapter file", 1, 1},
                    {"B", "another one", 1, 1}},
       .failure_status = 2},
      heddle::diff);
}

}  // namespace heddle
