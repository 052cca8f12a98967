#include "tools/inspect/texts/attention_export.hpp"

#include <charconv>
#include <cmath>

#include "formats/heddle/attention_file.hpp"
#include "libcore/base/printable.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

namespace {

using formats::Json;

// The fewest digits that read back as the same number.
std::string digits_of(Real value) {
  if (std::isnan(value)) return "nan";
  char digits[32];
  return {digits, std::to_chars(std::begin(digits), std::end(digits), value).ptr};
}

void write_head(std::ostream& out, const std::string& prefix, const Tensor& weights, const TokenText& queries,
                const TokenText& keys) {
  const Real* weight = weights.data();
  for (std::size_t i = 0; i < queries.pieces.size(); ++i) {
    for (std::size_t j = 0; j < keys.pieces.size(); ++j) {
      out << prefix << i + 1 << '\t' << j + 1 << '\t' << printable(queries.pieces[i]) << '\t'
          << printable(keys.pieces[j]) << '\t' << digits_of(*weight++) << '\n';
    }
  }
}

Json head_name(Index number) {
  return number == AttentionGroup::mean_head ? Json("mean") : Json(number);
}

Json group_json(const AttentionReport& report, const AttentionGroup& group) {
  Json layers = Json::array();
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    Json heads = Json::array(), weights = Json::array();
    for (Index head = 0; head < group.heads; ++head) {
      heads.push_back(head_name(group.head_number(head)));
      weights.push_back(rows_of(group.weights(layer, head)));
    }
    layers.push_back({{"name", group.layers[layer].name},
                      {"layer", group.numbers[layer]},
                      {"heads", std::move(heads)},
                      {"weights", std::move(weights)}});
  }
  return {{"of", group.name},
          {"query", report.queries(group).name},
          {"key", report.keys(group).name},
          {"layers", std::move(layers)}};
}

}  // namespace

formats::Json rows_of(const Tensor& weights) {
  Json rows = Json::array();
  const Index columns = weights.shape()[1];
  for (Index i = 0; i < weights.shape()[0]; ++i) {
    rows.push_back(std::vector<Real>(weights.data() + i * columns, weights.data() + (i + 1) * columns));
  }
  return rows;
}

void write_attention_table(const std::string& path, const AttentionReport& report) {
  cli::Output output(path);
  output.stream() << "of\tlayer\thead\tquery\tkey\tquery_piece\tkey_piece\tweight\n";
  for (const AttentionGroup& group : report.groups) {
    for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
      for (Index head = 0; head < group.heads; ++head) {
        const Index number = group.head_number(head);
        const std::string name = number == AttentionGroup::mean_head ? "mean" : std::to_string(number);
        write_head(output.stream(), concatenate(group.name, '\t', group.numbers[layer], '\t', name, '\t'),
                   group.weights(layer, head), report.queries(group), report.keys(group));
      }
    }
  }
  output.close();
}

Json as_json(const AttentionReport& report, const std::string& model) {
  Json texts = Json::array(), attention = Json::array();
  for (const TokenText& text : report.texts) {
    texts.push_back({{"name", text.name}, {"pieces", text.pieces}, {"ids", text.ids}});
  }
  for (const AttentionGroup& group : report.groups) attention.push_back(group_json(report, group));
  return {{"model", model}, {"texts", std::move(texts)}, {"attention", std::move(attention)}};
}

void write_attention_file(const std::string& path, const AttentionReport& report, const cli::Arguments& arguments) {
  formats::AttentionWeights all;
  for (const AttentionGroup& group : report.groups) {
    formats::AttentionGroup stored{group.name, report.queries(group).pieces, report.keys(group).pieces, {}};
    for (const models::AttentionMap& map : group.layers) {
      const Shape& shape = map.pairs.weights.shape();
      stored.layers.push_back({map.name, map.pairs.weights.reshaped({shape[1], shape[2], shape[3]})});
    }
    all.push_back(std::move(stored));
  }
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", arguments.operand("MODEL"));
  formats::write_attention(path, all, provenance);
}

}  // namespace heddle
