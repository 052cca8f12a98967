// inspect positions: what a scheme of positions does, of a model or by itself.
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/inspect/shapes/scheme_alone.hpp"
#include "tools/inspect/shapes/shape_tables.hpp"
#include "tools/inspect/shapes/stacks.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

template <>
struct Names<analysis::SimilarityMeasure> {
  static constexpr std::pair<analysis::SimilarityMeasure, std::string_view> list[] = {
      {analysis::SimilarityMeasure::cosine, "cosine"}, {analysis::SimilarityMeasure::dot, "dot"}};
};

namespace {

using analysis::Grid;
using analysis::PositionVectors;

constexpr Index usual_count = 50;
constexpr std::size_t most_curves = 32;

// The shape of the model that a scheme alone is in.
struct AloneOptions {
  Index width = 128, heads = 8, head_width = 0;
  bool causal = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("width", "width of embeddings").range(1, 16384).takes("N").essential(), self.width);
    visitor(Field("heads", "number of attention heads").range(1, 1024).takes("N").essential(), self.heads);
    visitor(Field("head_width", "width of a head; auto means width / heads").range(1, 4096).word(0, "auto").takes("N"),
            self.head_width);
    visitor(Field("causal", "queries see no keys after them, as in decoders").essential(), self.causal);
  }
};

struct PositionsOptions : Answer {
  std::string scheme;
  std::vector<std::string> tables;
  StackChoice choice;
  Index count = 0;
  analysis::SimilarityMeasure measure = analysis::SimilarityMeasure::cosine;
  AloneOptions alone;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("scheme", "a scheme of positions instead of a model, as pretrain takes it, perhaps with settings")
                .not_empty()
                .takes("NAME")
                .essential(),
            self.scheme);
    visitor(Field("what", "what to show; by default all that the scheme has")
                .one_of({"heatmap", "circles", "similarity", "distance", "bias"})
                .not_empty()
                .takes("NAME,...")
                .essential(),
            self.tables);
    visitor(Field("count", "number of positions; auto means 50, or those of a model with fewer")
                .range(2, 4096)
                .word(0, "auto")
                .takes("N")
                .essential(),
            self.count);
    visitor(Field("measure", "how alike vectors of positions are: the cosine of their angle, or their dot product")
                .takes("NAME")
                .essential(),
            self.measure);
    StackChoice::visit(self.choice, visitor);
    visitor(Field("alone", "Shape of the model that a scheme is in").needs({"scheme"}), self.alone);
    Answer::visit(self, visitor, "a picture .svg, .png or .pdf, a table .tsv, or .h5 with all tables");
  }
};

// Subject of the tables.
struct PositionSubject {
  std::string scheme;    // its text
  std::string heading;   // "sinusoidal positions", "model.h5: learned positions"
  bool before_training;  // numbers are learned, and not yet trained
  Index count;
  std::vector<std::pair<Index, analysis::PositionsInLayer>> layers;  // with their numbers, from 1
};

HeadShape head_shape(const AloneOptions& options) {
  const Index head_width = options.head_width > 0 ? options.head_width : options.width / options.heads;
  check<UsageError>(options.head_width > 0 || options.width % options.heads == 0, "--width ", options.width,
                    " is not a multiple of --heads ", options.heads, "; give --head-width, too");
  return {options.heads, head_width};
}

// 0, 1, …
std::vector<double> numbers_to(Index count, Index first = 0) {
  std::vector<double> numbers;
  for (Index i = 0; i < count; ++i) numbers.push_back(static_cast<double>(first + i));
  return numbers;
}

class PositionShapes : public Shapes {
 public:
  PositionShapes(const PositionSubject& subject, const PositionsOptions& options)
      : options_(options), vectors_(analysis::position_vectors(subject.layers.front().second, subject.count)) {
    if (vectors_) add_vectors();
    const bool acts = subject.layers.front().second.layer != nullptr;
    if (acts || !vectors_) add_bias(subject);
    choose(subject.scheme);
  }

 private:
  std::string text_of(const ShapeTable& table) const override {
    if (table.name == "heatmap" || table.name == "similarity") return table_text(table, TableForm::shades);
    return table_text(table.name == "bias" ? turned(table) : table, TableForm::columns);
  }

  bool of_embeddings() const { return vectors_->of == PositionVectors::Of::embeddings; }

  void add_vectors() {
    const Grid& table = vectors_->table;
    tables_.push_back({"heatmap",
                       of_embeddings() ? "Vectors added to embeddings" : "A query as it is turned at each position",
                       {"position", numbers_to(table.rows), {}},
                       {"dimension", numbers_to(table.columns), {}},
                       table});
    if (!vectors_->circles.empty()) add_circles();
    const analysis::Similarity similarity = analysis::similarity_of(table, options_.measure);
    const std::string measure = options_.measure == analysis::SimilarityMeasure::dot ? "Dot product" : "Cosine";
    tables_.push_back({"similarity",
                       measure + " of the vectors of two positions",
                       {"position", numbers_to(table.rows), {}},
                       {"position", numbers_to(table.rows), {}},
                       similarity.all});
    Grid by_distance(table.rows, 3);
    for (Index i = 0; i < table.rows; ++i) {
      const auto at = static_cast<std::size_t>(i);
      by_distance.at(i, 0) = similarity.mean[at];
      by_distance.at(i, 1) = similarity.least[at];
      by_distance.at(i, 2) = similarity.most[at];
    }
    tables_.push_back({"distance",
                       measure + " of the vectors of two positions, by distance",
                       {"distance", numbers_to(table.rows), {}},
                       {"", {}, {"mean", "least", "most"}},
                       by_distance});
  }

  void add_circles() {
    const auto& circles = vectors_->circles;
    Grid table(static_cast<Index>(circles.size()), 5);
    for (std::size_t i = 0; i < circles.size(); ++i) {
      const auto row = static_cast<Index>(i);
      table.at(row, 0) = static_cast<double>(circles[i].first);
      table.at(row, 1) = static_cast<double>(circles[i].second);
      table.at(row, 2) = circles[i].radius;
      table.at(row, 3) = circles[i].radians_per_position;
      table.at(row, 4) = 2 * std::numbers::pi / std::abs(circles[i].radians_per_position);
    }
    tables_.push_back({"circles",
                       "Pairs of dimensions that are circles",
                       {"circle", numbers_to(table.rows), {}},
                       {"", {}, {"dimension", "and", "radius", "radians_per_position", "positions_per_turn"}},
                       table,
                       true});
  }

  void add_bias(const PositionSubject& subject) {
    ShapeTable table{"bias", "What positions add to scores, by the offset of the key from the query", {}, {}, {}};
    for (const auto& [number, in] : subject.layers) {
      const analysis::OffsetBias bias = analysis::bias_by_offset(in, subject.count);
      table.columns = {"offset of the key", numbers_to(bias.heads.columns, bias.first), {}};
      table.values.columns = bias.heads.columns;
      for (const Index head : chosen_heads(options_.choice.head, bias.heads.rows)) {
        table.rows.names.push_back(subject.layers.size() > 1 ? fmt::format("{}.{}", number, head + 1)
                                                             : std::to_string(head + 1));
        const auto begin = bias.heads.values.begin() + head * bias.heads.columns;
        table.values.values.insert(table.values.values.end(), begin, begin + bias.heads.columns);
        ++table.values.rows;
      }
    }
    table.rows.name = subject.layers.size() > 1 ? "layer.head" : "head";
    tables_.push_back(std::move(table));
  }

  // Throws UsageError for what the scheme does not have.
  void choose(const std::string& scheme) {
    if (options_.tables.empty()) return;
    std::vector<std::string> names;
    for (const ShapeTable& table : tables_) names.push_back(table.name);
    for (const std::string& wanted : options_.tables) {
      check<UsageError>(std::ranges::find(names, wanted) != names.end(), "--what ", wanted, ": ", scheme,
                        " has no such picture; it has ", join(names));
    }
    std::erase_if(tables_, [&](const ShapeTable& table) {
      return std::ranges::find(options_.tables, table.name) == options_.tables.end();
    });
  }

  void draw(const ShapeTable& table, Panels& panels) const override {
    if (table.name == "circles") {
      const auto count = vectors_->circles.size();
      const std::string some = count > 16 ? fmt::format(", 16 of {}", count) : "";
      panels.push_back(panel_of(CirclePlot{
          fmt::format("{}{}: position 0 is light and ringed, {} dark", table.title, some, vectors_->table.rows - 1),
          vectors_->table, vectors_->circles}));
    } else if (table.name == "distance") {
      CurvePlot plot{table.title, table.rows, {}, {}};
      for (const std::size_t column : {0, 1, 2}) {
        PanelCurve curve{table.columns.names[column], {}};
        for (Index row = 0; row < table.values.rows; ++row) {
          curve.values.push_back(table.values.at(row, static_cast<Index>(column)));
        }
        plot.curves.push_back(std::move(curve));
      }
      panels.push_back(panel_of(std::move(plot)));
    } else {
      if (table.name == "bias") draw_bias(table, panels);
      panels.push_back(panel_of(HeatMap{.title = table.title,
                                        .grid = table.values,
                                        .rows = table.rows,
                                        .columns = table.columns,
                                        .square = table.name == "similarity"}));
    }
  }

  // A curve for each head, where there are few enough.
  static void draw_bias(const ShapeTable& table, Panels& panels) {
    if (table.rows.names.size() > most_curves) return;
    CurvePlot plot{table.title, table.columns, "added to the score", {}};
    for (std::size_t row = 0; row < table.rows.names.size(); ++row) {
      const auto begin = table.values.values.begin() + static_cast<Index>(row) * table.values.columns;
      plot.curves.push_back({table.rows.name + " " + table.rows.names[row], {begin, begin + table.values.columns}});
    }
    panels.push_back(panel_of(std::move(plot)));
  }

  const PositionsOptions& options_;
  std::optional<PositionVectors> vectors_;
};

int show(const PositionSubject& subject, const cli::Arguments& arguments, const PositionsOptions& options) {
  std::vector<std::string> heading{subject.heading};
  if (subject.before_training) heading.emplace_back("Learned numbers are those before training.");
  return PositionShapes(subject, options)
      .show(options,
            {std::move(heading),
             {{"scheme", subject.scheme}, {"before_training", subject.before_training}, {"positions", subject.count}},
             "give a smaller --count"},
            arguments);
}

int show_model(const cli::Arguments& arguments, const PositionsOptions& options) {
  const std::string path = arguments.operand("MODEL");
  cli::protect_inputs({options.choice.base}, {options.output}, arguments);
  const ModelStack stack(path, "inspect positions", options.choice);
  const std::optional<Index> context = stack.view.context;
  const Index count = options.count > 0 ? options.count : std::min(usual_count, context.value_or(usual_count));
  check<UsageError>(!context || count <= *context, "--count ", count, ": the model has ", context.value_or(0),
                    " positions");
  PositionSubject subject{stack.view.scheme,
                          fmt::format("{}, {}: {} positions", printable(path), stack.view.name, stack.view.scheme),
                          false,
                          count,
                          {}};
  for (const Index layer : stack.layers(options.choice)) subject.layers.emplace_back(layer, stack.positions(layer));
  return show(subject, arguments, options);
}

int show_scheme(const cli::Arguments& arguments, const PositionsOptions& options) {
  const Index count = options.count > 0 ? options.count : usual_count;
  const SchemeAlone alone(options.scheme, head_shape(options.alone), options.alone.width, count, options.alone.causal,
                          static_cast<std::uint64_t>(arguments.common().seed));
  return show({options.scheme,
               fmt::format("{} positions, width {}, {}", options.scheme, options.alone.width,
                           counted(options.alone.heads, "head", "heads")),
               alone.has_parameters(),
               count,
               {{1, alone.in()}}},
              arguments, options);
}

int positions(const cli::Arguments& arguments, const PositionsOptions& options) {
  check_choice(arguments);
  check<UsageError>(arguments.operand("MODEL").empty() != options.scheme.empty(),
                    "give one MODEL, or --scheme NAME (inspect positions --help shows the usage)");
  options.check("positions", table_files);
  return options.scheme.empty() ? show_model(arguments, options) : show_scheme(arguments, options);
}

}  // namespace

cli::Verb verbs::positions() {
  return cli::make_verb<PositionsOptions>(
      {.summary = "Shows what a scheme of positions does: heat map, circles, similarities, biases of scores.",
       .synopsis = {"MODEL [--what NAME,...] [--layer N,...] [--head N] [--count N] [-o FILE] [--json]",
                    "--scheme NAME [--what NAME,...] [--width N] [--heads N] [--count N] [-o FILE] [--json]"},
       .operands = {{"MODEL", "a model of attention layers, or an adapter of one", 0, 1}}},
      heddle::positions);
}

}  // namespace heddle
