// inspect align: the source tokens that a sequence-to-sequence model attends to while it predicts the target.
#include <cmath>
#include <iostream>
#include <span>

#include "formats/heddle/attention_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/inspect/answer.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/page_parts.hpp"
#include "tools/inspect/texts/attention_export.hpp"
#include "tools/inspect/texts/attention_report.hpp"
#include "tools/inspect/texts/attention_text.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

namespace {

using formats::Json;

struct AlignOptions : Answer {
  std::vector<Index> layer{-1};
  Index head = 0;
  std::string base;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(layer_field("layers of the decoder, from 1").essential(), self.layer);
    visitor(Field("head", "head of the layer, from 1; mean is the mean of all heads")
                .range(1, 100000)
                .word(0, "mean")
                .takes("N")
                .essential(),
            self.head);
    visitor(base_field(), self.base);
    Answer::visit(self, visitor,
                  "a page .html, a picture .svg, .png or .pdf, a table .tsv, or .h5 with every layer and head");
  }
};

// Row i of the weights [target, source] predicts target token i, the last one the token that ends the text.
struct Alignment {
  TokenText source, target;
  AttentionGroup group;  // attention of all layers
  std::string problem;   // not_finite()
};

// A pair of sentences; without a target the model's own translation.
struct SentencePair {
  InputText source;
  std::optional<InputText> target;
};

std::vector<SentencePair> read_pairs(const cli::Arguments& arguments) {
  const std::vector<std::vector<InputText>> texts = read_each(arguments, {"SOURCE", "TARGET"}, TextOf::line);
  std::vector<SentencePair> pairs;
  for (const InputText& source : texts.front()) pairs.push_back({source, std::nullopt});
  if (texts.size() > 1) {
    check<DataError>(texts.back().size() == pairs.size(), "SOURCE has ", counted(pairs.size(), "sentence", "sentences"),
                     ", and TARGET has ", texts.back().size(), "; a line of one belongs to a line of the other");
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i].target = texts.back()[i];
    return pairs;
  }
  for (auto& [source, target] : pairs) {
    const std::size_t tab = source.text.find('\t');
    if (tab == source.text.npos) continue;
    target = source;
    target->text.erase(0, tab + 1);
    source.text.erase(tab);
  }
  return pairs;
}

Alignment align(const formats::LoadedModel& loaded, const std::string& path, const InputText& source_text,
                const std::optional<InputText>& target_text) {
  const auto& model = models::require<models::SequenceToSequence>(*loaded.model, "inspect align", path);
  AttentionReport report =
      read_attention(loaded, path, source_text, target_text,
                     {.user = "inspect align", .layers = {analysis::all_layers}, .group = "source"});
  const TranslationFrames frames(model, loaded);
  const auto prompt = static_cast<std::ptrdiff_t>(frames.prompt.size());
  Alignment result{report.texts[0], {.name = "target"}, report.groups.front(), not_finite(report, path)};
  const std::vector<TokenId>& read = report.texts[1].ids;
  result.target.add(loaded.tokenizer, {read.begin() + prompt, read.end()});
  result.target.add(loaded.tokenizer, {frames.target.end});
  result.target.labels.back() = result.source.labels.back() = "end";
  for (models::AttentionMap& map : result.group.layers) {
    const Tensor& all = map.pairs.weights;
    map.pairs = {all.narrowed(2, prompt - 1, all.shape()[2] - prompt + 1).copy()};
  }
  return result;
}

// The mean over the chosen layers of their mean or chosen heads: [target, source].
Tensor chosen(const Alignment& alignment, const AlignOptions& options) {
  const AttentionGroup& group = alignment.group;
  const auto layers = analysis::chosen_layers(options.layer, 1, static_cast<Index>(group.layers.size()));
  check<UsageError>(options.head <= group.heads, "--head ", options.head, ": the layer has ",
                    counted(group.heads, "head", "heads"));
  const Index first = options.head == 0 ? 0 : options.head - 1, count = options.head == 0 ? group.heads : 1;
  Tensor sum({alignment.target.tokens(), alignment.source.tokens()}, Real(0));
  for (const Index layer : layers) {
    for (Index head = first; head < first + count; ++head) {
      sum.add(group.weights(static_cast<std::size_t>(layer - 1), head));
    }
  }
  sum.scale(Real(1) / static_cast<Real>(count * static_cast<Index>(layers.size())));
  return sum;
}

// The sign of NaN, which streams print, means nothing.
void write_number(std::ostream& out, Real weight) {
  if (std::isnan(weight)) {
    out << "nan";
  } else {
    out << weight;
  }
}

struct WeightedPair {
  Alignment alignment;
  Tensor weights;
};

void write_rows(std::ostream& out, const WeightedPair& pair) {
  for (const std::string& piece : pair.alignment.source.pieces) out << '\t' << printable(piece);
  out << '\n';
  const Real* weight = pair.weights.data();
  for (const std::string& piece : pair.alignment.target.pieces) {
    out << printable(piece);
    for (Index j = 0; j < pair.alignment.source.tokens(); ++j) write_number(out << '\t', *weight++);
    out << '\n';
  }
}

void write_table(const std::vector<WeightedPair>& pairs, const std::string& path) {
  cli::Output output(path);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i > 0) output.stream() << '\n';
    write_rows(output.stream(), pairs[i]);
  }
  output.close();
}

// For align.js: weights in thousandths, row by row; null where they are not finite.
Json page_pair(const WeightedPair& pair) {
  Json weights = Json::array();
  for (const Real weight : std::span(pair.weights.data(), static_cast<std::size_t>(pair.weights.size()))) {
    weights.push_back(std::isfinite(weight) ? Json(std::lround(1000 * weight)) : Json());
  }
  return {{"source", pair.alignment.source.labels}, {"target", pair.alignment.target.labels}, {"weights", weights}};
}

std::string what_is_shown(const AlignOptions& options, Index layers) {
  std::string heads = options.head == 0 ? "mean of the heads" : concatenate("head ", options.head);
  std::vector<std::string> numbers;
  for (const Index layer : analysis::chosen_layers(options.layer, 1, layers)) numbers.push_back(std::to_string(layer));
  return concatenate(heads, " of layer", numbers.size() == 1 ? " " : "s ", join(numbers));
}

void write_align_page(const std::vector<WeightedPair>& pairs, const AlignOptions& options, const std::string& model) {
  std::size_t numbers = 0;
  Json list = Json::array();
  for (const WeightedPair& pair : pairs) {
    numbers += static_cast<std::size_t>(pair.weights.size());
    list.push_back(page_pair(pair));
  }
  check_fits_page(numbers, options.output);
  const auto layers = static_cast<Index>(pairs.front().alignment.group.layers.size());
  write_page(options.output, "Alignment by " + printable(model), align_parts(),
             {{"generator", "heddle " + cli::version()},
              {"name", printable(model)},
              {"shown", what_is_shown(options, layers)},
              {"pairs", list}});
}

Json json_of_pair(const WeightedPair& pair) {
  return {{"source", pair.alignment.source.pieces},
          {"target", pair.alignment.target.pieces},
          {"weights", rows_of(pair.weights)}};
}

void print(const std::vector<WeightedPair>& pairs, const AlignOptions& options) {
  if (options.json) {
    std::cout << dump(pairs.size() == 1 ? json_of_pair(pairs.front())
                                        : Json{{"pairs", json_list(pairs, false, json_of_pair)}});
    return;
  }
  for (const WeightedPair& pair : pairs) {
    if (&pair != &pairs.front()) std::cout << '\n';
    write_shades(std::cout, pair.weights, pair.alignment.target.labels, pair.alignment.source.labels,
                 {.files = ".html, .png or .tsv"});
  }
}

// Source tokens above the columns, target tokens beside the rows (Bahdanau et al. 2015).
void draw(const Alignment& alignment, const Tensor& weights, const std::string& path) {
  draw_matrix(path, {.title = "",
                     .weights = weights,
                     .rows = alignment.target.labels,
                     .columns = alignment.source.labels,
                     .numbers_from = 0.3});
}

void write_hdf5(const Alignment& alignment, const cli::Arguments& arguments, const std::string& path) {
  formats::AttentionGroup stored{"source", alignment.target.pieces, alignment.source.pieces, {}};
  for (const models::AttentionMap& map : alignment.group.layers) {
    const Shape& shape = map.pairs.weights.shape();
    stored.layers.push_back({map.name, map.pairs.weights.reshaped({shape[1], shape[2], shape[3]})});
  }
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", arguments.operand("MODEL"));
  formats::write_attention(path, {stored}, provenance);
}

void check_usage(const cli::Arguments& arguments, const AlignOptions& options) {
  options.check("alignments", {".html", ".svg", ".png", ".pdf", ".tsv", ".h5"});
  cli::protect_inputs({options.base}, {options.output}, arguments);
}

// Weights that are not finite are shown, and the status says so.
int align(const cli::Arguments& arguments, const AlignOptions& options) {
  check_usage(arguments, options);
  const std::string &path = options.output, model = arguments.operand("MODEL");
  const std::vector<SentencePair> sentences = read_pairs(arguments);
  const bool holds_one = Picture::is_name(path) || path.ends_with(".h5");
  check<UsageError>(!holds_one || sentences.size() == 1, path,
                    ": such a file shows one pair of sentences, and there are ", sentences.size(),
                    "; .html and .tsv files show all");
  const formats::LoadedModel loaded = formats::load_body(model, options.base);
  std::vector<WeightedPair> pairs;
  std::string problem;
  for (const auto& [source, target] : sentences) {
    Alignment alignment = align(loaded, model, source, target);
    Tensor weights = chosen(alignment, options);
    if (problem.empty()) problem = alignment.problem;
    pairs.push_back({std::move(alignment), std::move(weights)});
  }
  if (path.empty()) {
    print(pairs, options);
  } else if (path.ends_with(".h5")) {
    write_hdf5(pairs.front().alignment, arguments, path);
  } else if (path.ends_with(".tsv")) {
    write_table(pairs, path);
  } else if (is_page_name(path)) {
    write_align_page(pairs, options, model);
  } else {
    draw(pairs.front().alignment, pairs.front().weights, path);
  }
  if (problem.empty()) return 0;
  arguments.warn(problem);
  return NumericError(problem).exit_status();
}

}  // namespace

cli::Verb verbs::align() {
  return cli::make_verb<AlignOptions>(
      {.summary = "Shows the source tokens that a sequence-to-sequence model attends to while it predicts the target.",
       .synopsis = {"MODEL [SOURCE|FILE [TARGET]] [--layer N,...] [--head N] [-o FILE] [--json]"},
       .operands =
           {{"MODEL", "a sequence-to-sequence model; or an adapter", 1, 1},
            {"SOURCE",
             "the source sentence, or a file with one in each line, or - for standard input, as without it; a "
             "target may follow it after a tab",
             0, 1},
            {"TARGET",
             "the target sentence, or a file with one in each line; none is the model's own, by greedy decoding", 0, 1,
             true}}},
      static_cast<int (*)(const cli::Arguments&, const AlignOptions&)>(heddle::align));
}

}  // namespace heddle
