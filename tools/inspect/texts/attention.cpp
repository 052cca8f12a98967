// inspect attention: the attention weights of every layer and head in a text, a pair of texts or a graph.
#include <deque>
#include <iostream>

#include "formats/heddle/task_file.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/model_files.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/inspect/answer.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/texts/attention_export.hpp"
#include "tools/inspect/texts/attention_page.hpp"
#include "tools/inspect/texts/attention_text.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/graph_attention.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/tasks/graph_data.hpp"

namespace heddle {

namespace {

struct AttentionOptions : Answer {
  std::vector<Index> layer{analysis::all_layers};
  Index head = AttentionGroup::all_heads;
  std::string of = "all";
  std::string graph = "1";
  Index top = 10;
  std::vector<std::string> hide{"self", "begin", "separator", "punctuation"};
  PageVectors vectors = PageVectors::automatic;
  std::string base;
  std::string beside;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(layer_field("layers, from 1", "are shown").essential(), self.layer);
    visitor(Field("head", "one head of each layer, from 1; mean is the mean of all")
                .range(1, 100000)
                .word(AttentionGroup::all_heads, "all")
                .word(AttentionGroup::mean_head, "mean")
                .takes("N")
                .essential(),
            self.head);
    visitor(Field("of",
                  "which attention of a sequence-to-sequence model: that of the source to itself (encoder), of the "
                  "target to itself (self) or to the source (source); for a model of graphs, answer: the nodes on "
                  "which its answer depends")
                .one_of({"all", "self", "encoder", "source", "answer"})
                .essential(),
            self.of);
    visitor(
        Field("graph", "graph of the graphs file: its number, from 1, or its id").not_empty().takes("N|ID").essential(),
        self.graph);
    visitor(
        Field("top", "how many of the strongest links to print, or to draw between nodes of a graph that no edge joins")
            .range(0, 1000000)
            .takes("K")
            .essential(),
        self.top);
    visitor(Field("hide",
                  "which pairs the strongest links leave out: of a token with itself (self), and with the token that "
                  "begins the text, those that separate or end texts, and punctuation; or none")
                .takes("LIST")
                .essential(),
            self.hide);
    visitor(
        Field("vectors", "vectors of queries and keys in a page: all, none, or all if they take at most 2.5 MB (auto)")
            .takes("WHICH")
            .essential(),
        self.vectors);
    visitor(Field("beside", "a second text, or a file with one, shown side by side with the first on a page")
                .not_empty()
                .takes("TEXT")
                .essential(),
            self.beside);
    visitor(base_field(), self.base);
    Answer::visit(self, visitor, "an interactive page .html, a picture .svg, .png or .pdf, a table .tsv, or .h5");
  }
};

std::string head_title(Index number) {
  return number == AttentionGroup::mean_head ? "mean of the heads" : concatenate("head ", number);
}

bool is_single_head(const AttentionReport& report) {
  return report.groups.size() == 1 && report.groups.front().numbers.size() == 1 && report.groups.front().heads == 1;
}

std::string single_title(const AttentionGroup& group) {
  return concatenate(group.title(), ", layer ", group.numbers.front(), ", ", head_title(group.head_number(0)));
}

// One head with its tokens.
void draw_head(const AttentionReport& report, const std::string& path) {
  const AttentionGroup& group = report.groups.front();
  draw_matrix(path, {.title = single_title(group),
                     .weights = group.weights(0, 0),
                     .rows = report.queries(group).labels,
                     .columns = report.keys(group).labels});
}

// The heads of all layers, drawn a layer at a time, so that the weights of all need not be kept.
class GridPicture {
 public:
  explicit GridPicture(std::string path) : path_(std::move(path)) {}

  void add(const AttentionGroup& group, const Tensor& weights) {
    if (!grid_) grid_.emplace(path_, labels_of(group), Shape{weights.shape()[2], weights.shape()[3]});
    for (Index head = 0; head < group.heads; ++head) {
      grid_->draw(group.numbers.size() - 1, static_cast<std::size_t>(head), head_of(weights, head));
    }
  }
  bool is_empty() const { return !grid_; }
  void save() { grid_->save(); }

 private:
  static GridLabels labels_of(const AttentionGroup& group) {
    GridLabels labels{.title = group.title()};
    for (const Index layer : group.chosen) labels.rows.push_back(concatenate("layer ", layer));
    for (Index head = 0; head < group.heads; ++head) {
      const Index number = group.head_number(head);
      labels.columns.push_back(number == AttentionGroup::mean_head ? "mean" : concatenate("head ", number));
    }
    return labels;
  }

  std::string path_;
  std::optional<MatrixGrid> grid_;
};

std::set<HiddenPairs> hidden_pairs(const AttentionOptions& options) {
  std::set<HiddenPairs> hidden;
  if (options.hide == std::vector<std::string>{"none"}) return hidden;
  for (const std::string& name : options.hide) {
    const auto found = std::ranges::find(Names<HiddenPairs>::list, name, [](const auto& each) { return each.second; });
    check<UsageError>(found != std::end(Names<HiddenPairs>::list), "--hide ", name, ": there are ",
                      join(names_of<HiddenPairs>()), ", and none");
    hidden.insert(found->first);
  }
  return hidden;
}

void print(const AttentionReport& report, const AttentionOptions& options, const std::string& model) {
  if (options.json) {
    std::cout << dump(as_json(report, model));
  } else if (is_single_head(report)) {
    const AttentionGroup& group = report.groups.front();
    std::cout << single_title(group) << "\n";
    write_shades(std::cout, group.weights(0, 0), report.queries(group).labels, report.keys(group).labels,
                 {.files = ".png, .tsv or, without --head, .html",
                  .top = options.top,
                  .causal = group.causal,
                  .hides = hides_pair(report, group, hidden_pairs(options))});
  } else {
    write_patterns(std::cout, report, options.top);
  }
}

void check_usage(const cli::Arguments& arguments, const AttentionOptions& options) {
  const std::string& path = options.output;
  const bool is_page = is_page_name(path), is_file = path.ends_with(".h5");
  options.check("attention", {".html", ".svg", ".png", ".pdf", ".tsv", ".h5"});
  check<UsageError>(options.head == AttentionGroup::all_heads || !(is_page || is_file), path,
                    ": such a file has every head; leave out --head");
  check<UsageError>(is_page || !arguments.given("vectors"), "--vectors is for pages, -o FILE.html");
  cli::protect_inputs({options.base, options.beside}, {path}, arguments);
}

void check_usage_of_texts(const cli::Arguments& arguments, const AttentionOptions& options) {
  check<UsageError>((options.output.empty() && !options.json) || !arguments.given("top"),
                    "--top is for terminal output and drawings; leave it out, or -o and --json");
  check<UsageError>((options.output.empty() && !options.json) || !arguments.given("hide"),
                    "--hide is for terminal output; a page has switches");
  (void)hidden_pairs(options);
  check<UsageError>(!arguments.given("graph") && options.of != "answer",
                    "--graph and --of answer are for graphs files");
  check<UsageError>(options.beside.empty() || is_page_name(options.output), "--beside is for pages, -o FILE.html");
  check<UsageError>(options.beside.empty() || arguments.operands("SECOND").empty(),
                    "--beside is for single texts; leave out SECOND");
}

bool is_of_graph(const cli::Arguments& arguments) {
  const std::vector<std::string>& words = arguments.operands("TEXT");
  return !words.empty() && formats::is_file_of(words.front(), formats::FileKind::graphs);
}

int attention_of_graph(const cli::Arguments& arguments, const AttentionOptions& options) {
  check<UsageError>(arguments.operands("SECOND").empty(), "SECOND is for texts; leave it out with a graphs file");
  check<UsageError>(!arguments.given("vectors"), "--vectors is for pages of texts");
  check<UsageError>(options.beside.empty(), "--beside is for pages of texts");
  check<UsageError>(!arguments.given("of") || options.of == "all" || options.of == "answer", "--of ", options.of,
                    ": of graphs there are all and answer");
  check<UsageError>(!arguments.given("hide"), "--hide is for links between tokens of texts");
  const bool of_answer = options.of == "answer";
  check<UsageError>(!of_answer || !(arguments.given("layer") || arguments.given("head")),
                    "--layer and --head are for attention; leave them out with --of answer");
  return show_graph({.model = arguments.operand("MODEL"),
                     .base = options.base,
                     .file = arguments.operands("TEXT").front(),
                     .graph = options.graph,
                     .layers = options.layer,
                     .head = options.head,
                     .of_answer = of_answer,
                     .top = options.top,
                     .output = options.output,
                     .json = options.json},
                    arguments);
}

int status_of(const std::string& problem, const cli::Arguments& arguments) {
  if (problem.empty()) return 0;
  arguments.warn(problem);
  return NumericError(problem).exit_status();
}

// Two models with one text, or two texts of one model, side by side on a page.
int attention_beside(const std::vector<std::string>& models, const std::vector<InputText>& texts,
                     const cli::Arguments& arguments, const AttentionOptions& options) {
  const bool are_models = models.size() > 1;
  check<UsageError>(models.size() <= 2, "a page shows two models side by side, and these are ", models.size());
  check<UsageError>(!are_models || is_page_name(options.output), "two models are for pages, -o FILE.html");
  check<UsageError>(!are_models || options.beside.empty(),
                    "a page shows two models or two texts side by side, not both; leave out --beside");
  check<UsageError>(!are_models || options.base.empty(),
                    "--base is for one adapter; of two models each must be beside its base");
  const AttentionWanted wanted{.user = "inspect attention", .layers = options.layer, .group = options.of};
  const std::optional<InputText> second = texts.size() < 2 ? std::nullopt : std::optional(texts.back());
  std::vector<AttentionSide> sides;
  std::deque<formats::LoadedModel> loaded;  // reports refer to these
  for (const std::string& model : models) {
    loaded.push_back(formats::load_body(model, options.base));
    sides.push_back({model, read_attention(loaded.back(), model, texts.front(), second, wanted)});
    if (are_models) continue;
    const InputText beside = read_option_text(options.beside, "--beside", arguments);
    sides.front().name = "first text";
    sides.push_back({"second text", read_attention(loaded.back(), model, beside, {}, wanted)});
  }
  check_beside(sides[0], sides[1], are_models);
  write_attention_page(options.output, sides, join(models, " and "), options.vectors);
  for (const AttentionSide& side : sides) {
    const int status = status_of(not_finite(side.report, are_models ? side.name : models.front()), arguments);
    if (status != 0) return status;
  }
  return 0;
}

// Weights that are not finite are shown, and the status says so.
int attention(const cli::Arguments& arguments, const AttentionOptions& options) {
  check_usage(arguments, options);
  if (is_of_graph(arguments)) return attention_of_graph(arguments, options);
  check_usage_of_texts(arguments, options);
  const std::string& path = options.output;
  const std::vector<std::string> models = cli::model_files(arguments.operand("MODEL"));
  const std::vector<InputText> texts = read_each_text(arguments, {"TEXT", "SECOND"});
  if (models.size() > 1 || !options.beside.empty()) return attention_beside(models, texts, arguments, options);
  const std::string& model = models.front();
  const formats::LoadedModel loaded = formats::load_body(model, options.base);
  const bool for_people = path.empty() && !options.json;
  AttentionWanted wanted{.user = "inspect attention",
                         .layers = options.layer,
                         .group = options.of,
                         .head = options.head,
                         .hidden = hidden_pairs(options),
                         .links = for_people ? std::optional(links_for(options.top)) : std::nullopt};
  GridPicture grid(path);
  if (Picture::is_name(path)) {
    wanted.picture = path;
    wanted.take = [&](const AttentionGroup& group, const Tensor& weights) { grid.add(group, weights); };
  }
  const AttentionReport report = read_attention(loaded, model, texts.front(),
                                                texts.size() < 2 ? std::nullopt : std::optional(texts.back()), wanted);
  if (path.empty()) {
    print(report, options, model);
  } else if (path.ends_with(".h5")) {
    write_attention_file(path, report, arguments);
  } else if (path.ends_with(".tsv")) {
    write_attention_table(path, report);
  } else if (is_page_name(path)) {
    write_attention_page(path, {{"", report}}, model, options.vectors);
  } else if (grid.is_empty()) {
    draw_head(report, path);
  } else {
    grid.save();
  }
  return status_of(not_finite(report, model), arguments);
}

}  // namespace

cli::Verb verbs::attention() {
  return cli::make_verb<AttentionOptions>(
      {.summary = "Shows the attention weights of every layer and head in a text, a pair of texts or a graph.",
       .synopsis = {"MODEL [TEXT|FILE [SECOND]] [--layer N,...] [--head N] [--of WHICH] [-o FILE] [--json]",
                    "MODEL TEXT|FILE --beside TEXT|FILE -o FILE.html", "MODEL,MODEL TEXT|FILE [SECOND] -o FILE.html",
                    "MODEL GRAPHS [--graph N|ID] [--layer N,...] [--head N] [--of answer] [-o FILE] [--json]"},
       .operands = {{"MODEL",
                     "a model with attention; or an adapter; or two such, a.h5,b.h5, shown side by side on a page", 1,
                     1},
                    {"TEXT",
                     "a text, or a file with one, or - for standard input, as without it; of a sequence-to-sequence "
                     "model, the source; of a model of graphs, a graphs file",
                     0, 1},
                    {"SECOND",
                     "the second text of a pair, or the target, likewise; without it, the model's own translation", 0,
                     1, true}}},
      heddle::attention);
}

}  // namespace heddle
