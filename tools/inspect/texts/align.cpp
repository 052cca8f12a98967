// inspect align: the source tokens that a sequence-to-sequence model attends to while it predicts the target.
#include <cmath>
#include <iostream>

#include "formats/heddle/attention_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/inspect/answer.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/texts/attention_export.hpp"
#include "tools/inspect/texts/attention_report.hpp"
#include "tools/inspect/texts/attention_text.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

namespace {

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
    Answer::visit(self, visitor, "a picture .svg, .png or .pdf, a table .tsv, or .h5 with every layer and head");
  }
};

// Row i of the weights [target, source] predicts target token i, the last one the token that ends the text.
struct Alignment {
  TokenText source, target;
  AttentionGroup group;  // of all layers
  std::string problem;   // not_finite()
};

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

void write_table(const Alignment& alignment, const Tensor& weights, const std::string& path) {
  cli::Output output(path);
  for (const std::string& piece : alignment.source.pieces) output.stream() << '\t' << printable(piece);
  output.stream() << '\n';
  const Real* weight = weights.data();
  for (const std::string& piece : alignment.target.pieces) {
    output.stream() << printable(piece);
    for (Index j = 0; j < alignment.source.tokens(); ++j) write_number(output.stream() << '\t', *weight++);
    output.stream() << '\n';
  }
  output.close();
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
  options.check("alignments", {".svg", ".png", ".pdf", ".tsv", ".h5"});
  cli::protect_inputs({options.base}, {options.output}, arguments);
}

// Weights that are not finite are shown, and the status says so.
int align(const cli::Arguments& arguments, const AlignOptions& options) {
  check_usage(arguments, options);
  const std::string &path = options.output, model = arguments.operand("MODEL");
  const std::vector<InputText> texts = read_each_text(arguments, {"SOURCE", "TARGET"});
  const formats::LoadedModel loaded = formats::load_body(model, options.base);
  const Alignment alignment =
      align(loaded, model, texts.front(), texts.size() < 2 ? std::nullopt : std::optional(texts.back()));
  const Tensor weights = chosen(alignment, options);
  if (options.json) {
    std::cout << dump(
        {{"source", alignment.source.pieces}, {"target", alignment.target.pieces}, {"weights", rows_of(weights)}});
  } else if (path.empty()) {
    write_shades(std::cout, weights, alignment.target.labels, alignment.source.labels, {.files = ".png or .tsv"});
  } else if (path.ends_with(".h5")) {
    write_hdf5(alignment, arguments, path);
  } else if (path.ends_with(".tsv")) {
    write_table(alignment, weights, path);
  } else {
    draw(alignment, weights, path);
  }
  if (alignment.problem.empty()) return 0;
  arguments.warn(alignment.problem);
  return NumericError(alignment.problem).exit_status();
}

}  // namespace

cli::Verb verbs::align() {
  return cli::make_verb<AlignOptions>(
      {.summary = "Shows the source tokens that a sequence-to-sequence model attends to while it predicts the target.",
       .synopsis = {"MODEL [SOURCE|FILE [TARGET]] [--layer N,...] [--head N] [-o FILE] [--json]"},
       .operands = {{"MODEL", "a sequence-to-sequence model; or an adapter", 1, 1},
                    {"SOURCE", "the source text, or a file with it, or - for standard input, as without it", 0, 1},
                    {"TARGET", "the target text, or a file with it; none is the model's own, by greedy decoding", 0, 1,
                     true}}},
      static_cast<int (*)(const cli::Arguments&, const AlignOptions&)>(heddle::align));
}

}  // namespace heddle
