// inspect align: the source tokens that a sequence-to-sequence model attends to while it predicts the target.
#include <algorithm>
#include <cmath>
#include <iostream>

#include "heddle/base/printable.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/cli/outputs.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/decoding/beam_search.hpp"
#include "heddle/formats/heddle/attention_file.hpp"
#include "heddle/formats/heddle/task_file.hpp"
#include "tools/inspect/picture.hpp"
#include "tools/inspect/print.hpp"
#include "tools/inspect/vectors.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

namespace {

struct AlignOptions {
  std::vector<Index> layer{-1};
  Index head = 0;
  std::string output;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(layer_field("layers of the decoder, from 1").essential(), self.layer);
    visitor(Field("head", "head of the layer, from 1; mean is the mean of all heads")
                .range(1, 100000)
                .word(0, "mean")
                .takes("N")
                .essential(),
            self.head);
    visitor(
        Field("output", "file to write: a picture .svg, .png or .pdf, a table .tsv, or .h5 with every layer and head")
            .letter('o')
            .not_empty()
            .takes("FILE")
            .essential(),
        self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

// The characters of a token, or its piece where it has none, or only a part of one.
std::string label(const text::Tokenizer& tokenizer, TokenId id) {
  std::string text;
  tokenizer.decode(id, text, text::TextPlace::begin);
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos || !is_utf8(text) ? tokenizer.piece(id) : text.substr(begin);
}

struct Side {
  std::vector<std::string> pieces, labels;  // labels are what people read

  void add(const text::Tokenizer& tokenizer, TokenId id) {
    pieces.push_back(tokenizer.piece(id));
    labels.push_back(printable(label(tokenizer, id)));
  }
};

struct Alignment {
  Side source, target;  // row i of the weights predicts target token i
  std::vector<models::AttentionMap> layers;
};

std::vector<TokenId> translated(const models::Generator& model, const formats::LoadedModel& loaded,
                                const TranslationFrames& frames, const std::vector<TokenId>& source) {
  const Index room = model.position_limit() - static_cast<Index>(frames.prompt.size()) + 1;
  const decoding::BeamOptions greedy{.width = 1,
                                     .max_tokens = std::min(static_cast<Index>(source.size()) + 50, room),
                                     .end = frames.target.end,
                                     .vocab_size = loaded.tokenizer.vocab_size()};
  std::vector<TokenId> ids;
  const auto found = decoding::beam_search(model, {frames.prompt}, 0, greedy, {source});
  for (const decoding::Choice& token : found.front().front().tokens) ids.push_back(token.id);
  return ids;
}

// Without a target text, that of the model.
Alignment align(const formats::LoadedModel& loaded, const std::string& path, const std::string& source_text,
                const std::optional<std::string>& target_text) {
  const auto& model = models::require<models::SequenceToSequence>(*loaded.model, "inspect align", path);
  const auto& maps = models::require<models::AttentionMaps>(*loaded.model, "inspect align", path);
  const TranslationFrames frames(model, loaded);
  const auto source = frames.source.around(encode_line(loaded.of_sources(), source_text, "SOURCE"));
  std::vector<TokenId> target =
      target_text ? encode_line(loaded.tokenizer, *target_text, "TARGET")
                  : translated(models::require<models::Generator>(*loaded.model, "inspect align", path), loaded, frames,
                               source);
  Alignment result;
  for (const TokenId id : source) result.source.add(loaded.of_sources(), id);
  for (const TokenId id : target) result.target.add(loaded.tokenizer, id);
  result.target.add(loaded.tokenizer, frames.target.end);
  target.insert(target.begin(), frames.prompt.begin(), frames.prompt.end());
  models::Sequences targets(TokenIds(Shape{1, static_cast<Index>(target.size())}, target));
  targets.sources =
      std::make_shared<const models::Sequences>(TokenIds(Shape{1, static_cast<Index>(source.size())}, source));
  const auto skipped = static_cast<Index>(frames.prompt.size()) - 1;  // rows that predict the prompt itself
  for (models::AttentionMap& map : maps.attention_maps(targets)) {
    if (map.of != models::AttentionMap::Of::source) continue;
    map.weights = map.weights.narrowed(2, skipped, map.weights.shape()[2] - skipped).copy();
    check<NumericError>(std::all_of(map.weights.data(), map.weights.data() + map.weights.size(),
                                    [](Real weight) { return std::isfinite(weight); }),
                        path, ": the attention weights of ", map.name, " are not finite; train it again");
    result.layers.push_back(std::move(map));
  }
  check<DataError>(!result.layers.empty(), path, ": the model does not attend to its source");
  return result;
}

// [target][source]
using Weights = std::vector<std::vector<double>>;

Weights chosen(const Alignment& alignment, const AlignOptions& options) {
  const auto layers = analysis::chosen_layers(options.layer, 1, static_cast<Index>(alignment.layers.size()));
  const Shape& shape = alignment.layers.front().weights.shape();
  const Index heads = shape[1], rows = shape[2], columns = shape[3];
  check<UsageError>(options.head <= heads, "--head ", options.head, ": the layer has ",
                    counted(heads, "head", "heads"));
  const Index first = options.head == 0 ? 0 : options.head - 1, count = options.head == 0 ? heads : 1;
  Weights weights(static_cast<std::size_t>(rows), std::vector<double>(static_cast<std::size_t>(columns), 0));
  const double averaged = static_cast<double>(count) * static_cast<double>(layers.size());
  for (const Index layer : layers) {
    const Tensor& all = alignment.layers[static_cast<std::size_t>(layer - 1)].weights;
    for (Index head = first; head < first + count; ++head) {
      for (Index i = 0; i < rows; ++i) {
        for (Index j = 0; j < columns; ++j) {
          weights[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] +=
              static_cast<double>(all[(head * rows + i) * columns + j]) / averaged;
        }
      }
    }
  }
  return weights;
}

// A row for each target token: its shades, then the source token with the largest weight.
void print_shades(const Alignment& alignment, const Weights& weights) {
  static constexpr const char* shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
  Index width = 0;
  for (const std::string& label : alignment.target.labels) {
    width = std::max(width, static_cast<Index>(display_width(label)));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::string& label = alignment.target.labels[i];
    std::cout << std::string(static_cast<std::size_t>(width) - display_width(label), ' ') << label << " |";
    for (const double weight : weights[i]) {
      std::cout << shades[std::min<Index>(4, static_cast<Index>(std::lround(weight * 4)))];
    }
    const auto largest = std::ranges::max_element(weights[i]) - weights[i].begin();
    std::cout << "| " << alignment.source.labels[static_cast<std::size_t>(largest)] << '\n';
  }
}

void write_table(const Alignment& alignment, const Weights& weights, const std::string& path) {
  cli::Output output(path);
  for (const std::string& piece : alignment.source.pieces) output.stream() << '\t' << printable(piece);
  output.stream() << '\n';
  for (std::size_t i = 0; i < weights.size(); ++i) {
    output.stream() << printable(alignment.target.pieces[i]);
    for (const double weight : weights[i]) output.stream() << '\t' << weight;
    output.stream() << '\n';
  }
  output.close();
}

// Source tokens above the columns, target tokens beside the rows; 0 is black, 1 is white (Bahdanau et al. 2015).
void draw(const Alignment& alignment, const Weights& weights, const std::string& path) {
  constexpr double cell = 18, character = 7, margin = 12;
  const auto longest = [](const std::vector<std::string>& labels) {
    Index width = 0;
    for (const std::string& label : labels) width = std::max(width, static_cast<Index>(display_width(label)));
    return static_cast<double>(width);
  };
  const double left = margin + character * longest(alignment.target.labels) + 6;
  const double row_height = cell, heading = 14;
  const auto columns = static_cast<double>(alignment.source.labels.size()), rows = static_cast<double>(weights.size());
  // Columns are numbered, and the tokens of the numbers listed below, since the tokens are wider than the cells.
  const double width =
      std::max(left + columns * cell + margin, left + character * (longest(alignment.source.labels) + 5));
  Picture picture(path, width, 2 * margin + heading + rows * row_height + margin + (columns + 1) * heading);
  const double top = margin + heading;
  for (std::size_t j = 0; j < alignment.source.labels.size(); ++j) {
    picture.text({left + (static_cast<double>(j) + 0.5) * cell, top - 5}, std::to_string(j + 1), Anchor::middle, {}, 9);
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double y = top + static_cast<double>(i) * row_height;
    picture.text({left - 6, y + row_height - 5}, alignment.target.labels[i], Anchor::end, {}, 11);
    for (std::size_t j = 0; j < weights[i].size(); ++j) {
      const double shade = std::round(255 * std::clamp(weights[i][j], 0.0, 1.0)) / 255;
      picture.rectangle({left + static_cast<double>(j) * cell, y}, cell, row_height, {shade, shade, shade});
    }
  }
  for (std::size_t j = 0; j < alignment.source.labels.size(); ++j) {
    const double y = top + rows * row_height + margin + (static_cast<double>(j) + 1) * heading;
    picture.text({left - 6, y}, std::to_string(j + 1), Anchor::end, {}, 11);
    picture.text({left, y}, alignment.source.labels[j], Anchor::start, {}, 11);
  }
  picture.save();
}

void write_hdf5(const Alignment& alignment, const cli::Arguments& arguments, const std::string& path) {
  formats::AttentionWeights all{{}, alignment.target.pieces, alignment.source.pieces};
  for (const models::AttentionMap& map : alignment.layers) {
    const Shape& shape = map.weights.shape();
    all.layers.push_back({map.name, map.weights.reshaped({shape[1], shape[2], shape[3]})});
  }
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", arguments.operand("MODEL"));
  formats::write_attention(path, all, provenance);
}

void align(const cli::Arguments& arguments, const AlignOptions& options) {
  const std::string &path = options.output, model = arguments.operand("MODEL");
  check<UsageError>(path.empty() || Picture::is_name(path) || path.ends_with(".tsv") || path.ends_with(".h5"), path,
                    ": alignments can be written to .svg, .png, .pdf, .tsv and .h5 files");
  check<UsageError>(path.empty() || !options.json, "--json prints to standard output; leave out -o or --json");
  cli::keep_inputs({model}, {path}, arguments);
  const formats::LoadedModel loaded = formats::load_language_model(model);
  const std::vector<std::string>& target = arguments.operands("TARGET");
  const Alignment alignment =
      align(loaded, model, arguments.operand("SOURCE"), target.empty() ? std::nullopt : std::optional(target.front()));
  const Weights weights = chosen(alignment, options);
  if (options.json) {
    std::cout << dump({{"source", alignment.source.pieces}, {"target", alignment.target.pieces}, {"weights", weights}});
  } else if (path.empty()) {
    print_shades(alignment, weights);
  } else if (path.ends_with(".h5")) {
    write_hdf5(alignment, arguments, path);
  } else if (path.ends_with(".tsv")) {
    write_table(alignment, weights, path);
  } else {
    draw(alignment, weights, path);
  }
}

}  // namespace

cli::Verb verbs::align() {
  return cli::make_verb<AlignOptions>(
      {.summary = "Shows the source tokens that a sequence-to-sequence model attends to while it predicts the target.",
       .synopsis = {"MODEL SOURCE [TARGET] [--layer N,...] [--head N] [-o FILE] [--json]"},
       .operands = {{"MODEL", "a sequence-to-sequence model", 1, 1},
                    {"SOURCE", "the source text", 1, 1},
                    {"TARGET", "the target text; none is the model's own, by greedy decoding", 0, 1}}},
      static_cast<void (*)(const cli::Arguments&, const AlignOptions&)>(heddle::align));
}

}  // namespace heddle
