// inspect kernels: how the weights of attention variants depend on queries and keys.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libcore/analysis/kernel_shapes.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/inspect/shapes/scheme_alone.hpp"
#include "tools/inspect/shapes/shape_tables.hpp"
#include "tools/inspect/shapes/stacks.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

template <>
struct Names<analysis::ProbeDirection> {
  static constexpr std::pair<analysis::ProbeDirection, std::string_view> list[] = {
      {analysis::ProbeDirection::axis, "axis"},
      {analysis::ProbeDirection::diagonal, "diagonal"},
      {analysis::ProbeDirection::random, "random"}};
};

namespace {

using analysis::Grid;

constexpr Index points = 121, angles = 91, plane_points = 61, error_planes = 64;
constexpr Index feature_counts[] = {16, 64, 256, 1024};

struct KernelsOptions : Answer {
  std::vector<std::string> attention;
  std::string scheme;
  std::vector<std::string> tables;
  StackChoice choice;
  Index head_width = 16, heads = 1, count = 50;
  bool causal = false;
  double length = 0, reach = 0;
  analysis::ProbeDirection direction = analysis::ProbeDirection::axis;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("attention",
                  "attention variants, as pretrain takes them, perhaps with settings; several are comma-separated")
                .not_empty()
                .takes("NAME[:KEY=VALUE,...],...")
                .essential(),
            self.attention);
    visitor(Field("scheme", "a scheme of positions: show the weight of each offset of positions, too")
                .not_empty()
                .takes("NAME")
                .essential(),
            self.scheme);
    visitor(Field("what", "what to show; by default all but plane")
                .one_of({"distance", "distance-score", "angle", "angle-score", "plane", "error", "offset"})
                .not_empty()
                .takes("NAME,...")
                .essential(),
            self.tables);
    visitor(Field("length",
                  "length of the query; auto means head-width^(1/4), with which its dot product with itself "
                  "has the score 1")
                .range(0, 1e6)
                .word(0, "auto")
                .takes("X")
                .essential(),
            self.length);
    visitor(Field("reach", "largest distance of keys; auto means 3 head-width^(1/4)")
                .above(0, 1e6)
                .word(0, "auto")
                .takes("X")
                .essential(),
            self.reach);
    visitor(
        Field("direction",
              "direction of the query; keys lie in a plane through it: a coordinate's axis, the diagonal, or random")
            .takes("NAME")
            .essential(),
        self.direction);
    StackChoice::visit(self.choice, visitor);
    visitor(Field("head_width", "width of a head, of variants without a MODEL").range(2, 1024).takes("N"),
            self.head_width);
    visitor(Field("heads", "number of attention heads, of variants without a MODEL").range(1, 64).takes("N"),
            self.heads);
    visitor(Field("count", "number of positions").range(2, 4096).takes("N"), self.count);
    visitor(Field("causal", "queries see no keys after them, as in decoders"), self.causal);
    Answer::visit(self, visitor, "a picture .svg, .png or .pdf, a table .tsv, or .h5 with all tables");
  }
};

// A variant that is compared: all of one layer's heads.
struct KernelSubject {
  std::string name, text;  // display name, and argument of make_attention()
  const Attention* variant;
  HeadShape shape;
  std::optional<analysis::PositionsInLayer> positions;
};

struct VariantAlone {
  VariantAlone(const std::string& text, const HeadShape& shape, std::uint64_t seed)
      : parameters(ParameterSource(seed)),
        variant(make_attention(text, {Scope(parameters, "layer"), Scope(parameters, "")}, shape)) {}
  bool has_parameters() const { return parameters.count() > 0; }

  Parameters parameters;
  std::unique_ptr<const Attention> variant;
};

// The variants, those that they estimate, and the model and the positions that they are of.
class KernelSubjects {
 public:
  KernelSubjects(const cli::Arguments& arguments, const KernelsOptions& options)
      : options_(options), seed_(static_cast<std::uint64_t>(arguments.common().seed)) {
    const std::string path = arguments.operand("MODEL");
    shape_ = {options.heads, options.head_width};
    if (!path.empty()) add_model(path);
    if (!options.scheme.empty()) make_scheme();
    for (const std::string& text : with_their_settings(options.attention)) add(text);
    add_estimated();
  }

  const std::vector<KernelSubject>& all() const { return all_; }
  const HeadShape& shape() const { return shape_; }
  bool before_training() const { return before_training_; }
  std::uint64_t seed() const { return seed_; }

  // The variant with one head, kept as long as this object.
  const Attention& one_head(const std::string& text) { return made(text, {1, shape_.key_width}); }

 private:
  const Attention& made(const std::string& text, const HeadShape& shape) {
    models::naming_errors("`attention`", [&] { alone_.push_back(std::make_unique<VariantAlone>(text, shape, seed_)); });
    return *alone_.back()->variant;
  }

  void add_model(const std::string& path) {
    model_.emplace(path, "inspect kernels", options_.choice);
    for (const Index layer : model_->layers(options_.choice)) {
      const nn::MultiHeadAttention& module = model_->attention(layer);
      check<DataError>(module.support().weights, path, ": ", model_->view.attention, " does not return its weights");
      shape_ = module.shape();
      std::optional<analysis::PositionsInLayer> positions;
      if (module.positions() != nullptr) positions = model_->positions(layer);
      all_.push_back({fmt::format("{} layer {}", model_->view.name, layer), model_->view.attention, &module.variant(),
                      shape_, positions});
    }
  }

  void make_scheme() {
    scheme_.emplace(options_.scheme, shape_, shape_.heads * shape_.key_width, options_.count, options_.causal, seed_);
    check<UsageError>(scheme_->in().layer != nullptr, "--scheme: ", options_.scheme,
                      " does not act in attention; inspect positions shows it");
    before_training_ = scheme_->has_parameters();
  }

  void add(const std::string& text) {
    const HeadShape shape{shape_.heads, shape_.key_width};
    const Attention& variant = made(text, shape);
    check<UsageError>(variant.support().weights, "--attention: ", text, " does not return its weights");
    before_training_ = before_training_ || alone_.back()->has_parameters();
    std::optional<analysis::PositionsInLayer> positions;
    if (scheme_) positions = scheme_->in();
    all_.push_back({text, text, &variant, shape, positions});
  }

  // Adds the functions that estimates are compared with.
  void add_estimated() {
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const auto estimate = all_[i].variant->estimate();
      if (!estimate) continue;
      const bool there =
          std::ranges::any_of(all_, [&](const KernelSubject& each) { return each.text == estimate->of; });
      if (!there) add(estimate->of);
    }
  }

  const KernelsOptions& options_;
  std::uint64_t seed_;
  HeadShape shape_{1, 2};
  std::optional<ModelStack> model_;
  std::optional<SchemeAlone> scheme_;
  bool before_training_ = false;
  std::vector<std::unique_ptr<VariantAlone>> alone_;
  std::vector<KernelSubject> all_;
};

bool has_equal_rows(const Grid& grid) {
  const auto rest = grid.values.begin() + grid.columns;  // each row equals the one before it
  return std::equal(rest, grid.values.end(), grid.values.begin());
}

// The logarithms of weights: scores, as far as a constant.
Grid logarithms(const Grid& weights) {
  Grid scores = weights;
  for (double& value : scores.values) value = std::log(value);
  return scores;
}

std::vector<double> evenly(double from, double to, Index count) {
  std::vector<double> values;
  for (Index i = 0; i < count; ++i) {
    values.push_back(std::lerp(from, to, static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  return values;
}

class KernelShapes : public Shapes {
 public:
  KernelShapes(KernelSubjects& subjects, const KernelsOptions& options) : subjects_(subjects), options_(options) {
    const double root = std::pow(static_cast<double>(subjects.shape().key_width), 0.25);
    length_ = options.length > 0 ? options.length : root;
    reach_ = options.reach > 0 ? options.reach : 3 * root;
    plane_ = analysis::probe_plane(options.direction, subjects.shape().key_width, subjects.seed());
    add_distance();
    add_angle();
    if (asked_for("plane")) add_planes();
    if (wanted("error")) add_error();
    if (wanted("offset")) add_offset();
  }

  double length() const { return length_; }

 private:
  static bool is_plane(const ShapeTable& table) { return table.name.starts_with("plane"); }

  void draw(const ShapeTable& table, Panels& panels) const override {
    is_plane(table) ? draw_plane(table, panels) : draw_curves(table, panels);
  }

  std::string text_of(const ShapeTable& table) const override {
    return is_plane(table) ? table_text(table, TableForm::shades) : numbered_text(table);
  }

  bool asked_for(const std::string& name) const {
    return std::ranges::find(options_.tables, name) != options_.tables.end();
  }
  bool wanted(const std::string& name) const { return options_.tables.empty() || asked_for(name); }

  // A row of the table for each chosen head of each variant, or one where all heads are equal.
  template <class Weights>
  ShapeTable curves(const std::string& name, const std::string& title, const PanelAxis& x,
                    const Weights& weights) const {
    ShapeTable table{name, title, {"curve", {}, {}}, x, {}};
    for (const KernelSubject& subject : subjects_.all()) {
      const Grid grid = weights(subject);
      std::vector<Index> heads = chosen_heads(options_.choice.head, grid.rows);
      const bool one = heads.size() > 1 && has_equal_rows(grid);
      if (one) heads.resize(1);
      table.values.columns = grid.columns;
      for (const Index head : heads) {
        const auto begin = grid.values.begin() + head * grid.columns;
        table.values.values.insert(table.values.values.end(), begin, begin + grid.columns);
        table.rows.names.push_back(grid.rows > 1 && !one ? fmt::format("{} head {}", subject.name, head + 1)
                                                         : subject.name);
        ++table.values.rows;
      }
    }
    return table;
  }

  // The weights, and the scores, of keys as described, where they are wanted.
  void add_with_scores(const std::string& name, const std::string& keys, const PanelAxis& x,
                       const analysis::KernelProbe& probe) {
    if (!wanted(name) && !wanted(name + "-score")) return;
    ShapeTable weights = curves(name, "Weight of a key " + keys, x, [&](const KernelSubject& subject) {
      return analysis::relative_weights(*subject.variant, subject.shape, probe);
    });
    ShapeTable scores{name + "-score",
                      "Score (logarithm of the weight) of a key " + keys,
                      weights.rows,
                      x,
                      logarithms(weights.values),
                      true};
    if (wanted(name)) tables_.push_back(std::move(weights));
    if (wanted(name + "-score")) tables_.push_back(std::move(scores));
  }

  void add_distance() {
    const std::vector<double> x = evenly(-reach_, reach_, points);
    add_with_scores("distance", "displaced along the query, relative to a key equal to it",
                    {"displacement of the key from the query", x, {}}, analysis::probe_along(plane_, length_, x));
  }

  void add_angle() {
    const std::vector<double> degrees = evenly(0, 180, angles);
    std::vector<double> radians;
    for (const double degree : degrees) radians.push_back(degree * std::numbers::pi / 180);
    add_with_scores("angle", "of the query's length at an angle from it, relative to a key equal to it",
                    {"angle of the key and the query, in degrees", degrees, {}},
                    analysis::probe_around(plane_, length_, radians));
  }

  // A map for the first chosen head of each variant.
  void add_planes() {
    const std::vector<double> x = evenly(-reach_, reach_, plane_points), down(x.rbegin(), x.rend());
    const analysis::KernelProbe probe = analysis::probe_over(plane_, length_, x);
    Index number = 0;
    for (const KernelSubject& subject : subjects_.all()) {
      const Grid all = analysis::relative_weights(*subject.variant, subject.shape, probe);
      const Index head = chosen_heads(options_.choice.head, all.rows).front();
      Grid map(plane_points, plane_points);
      for (Index row = 0; row < plane_points; ++row) {
        for (Index column = 0; column < plane_points; ++column) {
          map.at(row, column) = all.at(head, (plane_points - 1 - row) * plane_points + column);
        }
      }
      tables_.push_back(
          {fmt::format("plane-{}", ++number),
           fmt::format("{}: weight of each key of a plane, relative to a key equal to the query at ({:.3g}, 0)",
                       subject.name, length_),
           {"y", down, {}},
           {"x", x, {}},
           map});
    }
  }

  // Adds the error of variants that estimate others.
  void add_error() {
    ShapeTable table{
        "error", "Error of estimated weights: root mean square of estimate / exact - 1", {"curve", {}, {}}, {}, {},
        true};
    for (const Index count : feature_counts) table.columns.numbers.push_back(static_cast<double>(count));
    for (const KernelSubject& subject : subjects_.all()) {
      const auto estimate = subject.variant->estimate();
      if (!estimate) continue;
      table.columns.name = estimate->setting;
      table.rows.names.push_back(subject.name);
      ++table.values.rows;
      for (const Index count : feature_counts) {
        const Attention& finer = subjects_.one_head(analysis::with_setting(subject.text, estimate->setting, count));
        table.values.values.push_back(analysis::estimate_error(finer, subjects_.one_head(estimate->of),
                                                               {1, subjects_.shape().key_width}, length_, error_planes,
                                                               subjects_.seed()));
      }
    }
    table.values.columns = static_cast<Index>(std::size(feature_counts));
    check<UsageError>(!asked_for("error") || table.values.rows > 0,
                      "--what error: none of the variants is an estimate");
    if (table.values.rows > 0) tables_.push_back(std::move(table));
  }

  void add_offset() {
    const bool all =
        std::ranges::all_of(subjects_.all(), [](const KernelSubject& each) { return each.positions.has_value(); });
    check<UsageError>(!asked_for("offset") || all,
                      "--what offset needs positions that act in attention: give --scheme NAME");
    if (!all) return;
    analysis::OffsetWeights last{};
    ShapeTable table =
        curves("offset", "Weight of a key equal to the query, relative to that at the query's own position",
               {"offset of the key's position from the query's", {}, {}}, [&](const KernelSubject& subject) {
                 last = analysis::weights_by_offset(*subject.variant, subject.text, *subject.positions, options_.count);
                 return last.heads;
               });
    for (Index i = 0; i < last.heads.columns; ++i) {
      table.columns.numbers.push_back(static_cast<double>(last.first + i));
    }
    tables_.push_back(std::move(table));
  }

  static void draw_curves(const ShapeTable& table, Panels& panels) {
    CurvePlot plot{table.title, table.columns, {}, {}};
    const bool is_score = table.name.ends_with("-score"), is_error = table.name == "error";
    for (std::size_t row = 0; row < table.rows.names.size(); ++row) {
      const auto begin = table.values.values.begin() + static_cast<Index>(row) * table.values.columns;
      plot.curves.push_back({table.rows.names[row], {begin, begin + table.values.columns}});
    }
    if (is_score) {
      plot.least = -10;
      plot.most = 5;
    } else if (!is_error) {
      plot.least = -0.25;
      plot.most = 2;
    }
    plot.logarithmic = is_error;
    panels.push_back(panel_of(std::move(plot)));
  }

  static void draw_plane(const ShapeTable& table, Panels& panels) {
    panels.push_back(panel_of(HeatMap{
        .title = table.title, .grid = table.values, .rows = table.rows, .columns = table.columns, .square = true}));
  }

  // The table has a column for each curve, named by its number.
  static std::string numbered_text(const ShapeTable& table) {
    ShapeTable numbered = turned(table);
    numbered.columns = {};
    std::string legend;
    for (Index row = 0; row < table.values.rows; ++row) {
      numbered.columns.names.push_back(fmt::format("({})", row + 1));
      legend += fmt::format("  ({}) {}\n", row + 1, table.rows.names[static_cast<std::size_t>(row)]);
    }
    return table_text(numbered, TableForm::columns) + legend;
  }

  KernelSubjects& subjects_;
  const KernelsOptions& options_;
  double length_, reach_;
  analysis::ProbePlane plane_;
};

int kernels(const cli::Arguments& arguments, const KernelsOptions& options) {
  const std::string model = arguments.operand("MODEL"), &path = options.output;
  check_choice(arguments);
  if (!options.scheme.empty()) {  // only for a known name
    models::naming_errors("`scheme`", [&] { context_of(options.scheme, std::nullopt, options.count); });
  }
  check<UsageError>(!model.empty() || !options.attention.empty(),
                    "give a MODEL, or --attention NAME,... (inspect kernels --help shows the usage)");
  for (const char* of_variants : {"head-width", "heads", "scheme", "causal"}) {
    check<UsageError>(model.empty() || !arguments.given(of_variants), "--", of_variants,
                      " is the model's own where a MODEL is given");
  }
  for (const char* of_positions : {"count", "causal"}) {
    check<UsageError>(!arguments.given(of_positions) || !options.scheme.empty() || !model.empty(), "--", of_positions,
                      " is of positions; give --scheme NAME");
  }
  options.check("kernels", table_files);
  cli::protect_inputs({options.choice.base}, {path}, arguments);
  KernelSubjects subjects(arguments, options);
  const KernelShapes shapes(subjects, options);
  std::vector<std::string> heading{
      model.empty() ? "Kernels of attention" : printable(model) + ": kernels of attention",
      fmt::format("Head width {}, query of length {:.4g}{}", subjects.shape().key_width, shapes.length(),
                  subjects.before_training() ? "; learned numbers are those before training" : "")};
  return shapes.show(options,
                     {std::move(heading),
                      {{"head_width", subjects.shape().key_width},
                       {"length", shapes.length()},
                       {"before_training", subjects.before_training()}},
                      "choose fewer variants"},
                     arguments);
}

}  // namespace

cli::Verb verbs::kernels() {
  return cli::make_verb<KernelsOptions>(
      {.summary = "Shows how the weights of attention variants depend on the distance and the angle of query and key.",
       .synopsis = {"--attention NAME,... [--scheme NAME] [--what NAME,...] [-o FILE] [--json]",
                    "MODEL [--attention NAME,...] [--what NAME,...] [--layer N,...] [--head N] [-o FILE] [--json]"},
       .operands = {{"MODEL", "a model of attention layers, or an adapter of one", 0, 1}}},
      heddle::kernels);
}

}  // namespace heddle
