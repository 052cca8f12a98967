// inspect embed: the hidden states of texts.
#include <charconv>
#include <iterator>
#include <string_view>

#include "formats/heddle/embedding_file.hpp"
#include "formats/heddle/load_model.hpp"
#include "libcore/analysis/embed.hpp"
#include "tools/cli/answer_precision.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/token_text.hpp"
#include "tools/inspect/vectors/vector_model.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/lines/length_limit.hpp"

namespace heddle {

// Vectors that represent a text.
enum class TextPooling {
  none,   // a vector per token
  first,  // the first token's: an encoder's [CLS]
  mean,   // the mean over the text's own tokens
  last,   // the last one's of the text's own tokens
};
template <>
struct Names<TextPooling> {
  static constexpr std::pair<TextPooling, std::string_view> list[] = {{TextPooling::none, "none"},
                                                                      {TextPooling::first, "first"},
                                                                      {TextPooling::mean, "mean"},
                                                                      {TextPooling::last, "last"}};
};

namespace {

using analysis::TextToEmbed;

constexpr Index texts_at_once = 256;

struct EmbedOptions {
  std::string text;
  std::vector<Index> layer{-1};
  TextPooling pooling = TextPooling::none;
  data::Overlong overlong = data::Overlong::error;
  std::string base, output;
  bool json = false, jsonl = false;
  PrecisionChoice precision = PrecisionChoice::f32;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("text", "one text instead of the lines of FILE").not_empty().takes("TEXT").essential(), self.text);
    visitor(hidden_layer_field().essential(), self.layer);
    visitor(Field("pooling",
                  "none: one vector per token; first, mean or last: one per text, of the first token, the mean or the "
                  "last token")
                .essential(),
            self.pooling);
    visitor(Field("overlong", "what to do with a text longer than the context: report an error, or keep its beginning")
                .one_of({"error", "truncate"})
                .essential(),
            self.overlong);
    visitor(base_field(), self.base);
    visitor(cli::precision_field(), self.precision);
    visitor(Field("output", "file for the vectors: .h5, or .tsv in the format of standard output")
                .letter('o')
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per text, one per line").essential(), self.jsonl);
  }
};

std::vector<data::TokenSpan> wanted_of(const TextToEmbed& text, TextPooling pooling) {
  switch (pooling) {
    case TextPooling::first:
      return {{0, 0}};
    case TextPooling::mean:
      return {text.text};
    case TextPooling::last:
      return {{text.text.last, text.text.last}};
    default:
      return {};
  }
}

// The fewest digits that read back as the same numbers.
std::string row_text(const Real* row, Index width, std::string_view separator) {
  std::string line;
  char digits[32];
  for (Index i = 0; i < width; ++i) {
    const char* const end = std::to_chars(std::begin(digits), std::end(digits), row[i]).ptr;
    line.append(i == 0 ? "" : separator).append(digits, static_cast<std::size_t>(end - digits));
  }
  return line;
}

// Reads texts, embeds some at a time, and returns their states in order.
class Embedder {
 public:
  Embedder(const cli::Arguments& arguments, const EmbedOptions& options)
      : arguments_(arguments),
        options_(options),
        loaded_(arguments.operand("MODEL"), options.base, "inspect embed"),
        limit_(options.overlong) {
    embedding_.layers = options.layer;
  }

  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }
  Index width() const { return loaded_.vectors.width(); }
  // The name of the input, for messages.
  const std::string& source() const { return source_; }

  // Calls take(text, states) for each.
  template <class Take>
  void run(const Take& take) {
    const auto make = [this](const InputText& text) { return this->make(text); };
    const auto answer = [&](const std::vector<TextToEmbed>& texts) {
      const std::vector<Tensor> states = analysis::embed(loaded_.vectors, texts, embedding_);
      for (std::size_t i = 0; i < states.size(); ++i) take(texts[i], states[i]);
    };
    if (!options_.text.empty()) {
      answer({make({options_.text, source_, 0})});
    } else {
      cli::Input input = arguments_.open_text(arguments_.input_or_usage("FILE").front());
      source_ = input.name();
      answer_texts(std::move(input), {.texts = texts_at_once * parallel::dividing().size()}, make, answer);
    }
    limit_.report(arguments_);
  }

 private:
  TextToEmbed make(const InputText& input) {
    const std::vector<TokenId> tokens = encode_valid(loaded_.tokenizer, input);
    check<DataError>(!tokens.empty(), input.where(), ": has no token");
    TextToEmbed text = analysis::text_to_embed(loaded_.vectors, loaded_.tokenizer, tokens, {0, 0});
    limit_.is_exceeded(static_cast<Index>(tokens.size()), text.text.last - text.text.first + 1, input.where(),
                       "shorten it, or keep its beginning with --overlong truncate");
    text.wanted = wanted_of(text, options_.pooling);
    return text;
  }

  const cli::Arguments& arguments_;
  const EmbedOptions& options_;
  std::string source_ = "--text";
  VectorModel loaded_;
  analysis::EmbedOptions embedding_;
  LengthLimit limit_;
};

// One line per text; or one per token, which begins with its piece, and an empty one after each text of a file.
void write_tsv(Embedder& embedder, const EmbedOptions& options, const std::string& path) {
  cli::Output output(path);
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    const Index width = states.shape()[1];
    for (Index row = 0; row < states.shape()[0]; ++row) {
      if (text.wanted.empty())
        output.stream() << escaped(embedder.tokenizer().piece(text.ids[static_cast<std::size_t>(row)]), "\n\r\t")
                        << '\t';
      output.stream() << row_text(states.data() + row * width, width, "\t") << '\n';
    }
    if (text.wanted.empty() && options.text.empty()) output.stream() << '\n';
    output.stream().flush();
  });
  output.close();
}

// {"vector":[...]}, or {"pieces":[...],"vectors":[[...],...]}.
std::string json_of(const TextToEmbed& text, const Tensor& states, const text::Tokenizer& tokenizer) {
  const Index rows = states.shape()[0], width = states.shape()[1];
  std::string vectors;
  for (Index row = 0; row < rows; ++row) {
    vectors += (row == 0 ? "[" : ",[") + row_text(states.data() + row * width, width, ",") + "]";
  }
  if (!text.wanted.empty()) return "{\"vector\":" + vectors + "}";
  std::vector<std::string> pieces;
  for (const TokenId id : text.ids) pieces.push_back(tokenizer.piece(id));
  return "{\"pieces\":" + json_line(pieces) + ",\"vectors\":[" + vectors + "]}";
}

void write_json_lines(Embedder& embedder, const std::string& path) {
  cli::Output output(path);
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    output.stream() << json_of(text, states, embedder.tokenizer()) << '\n';
    output.stream().flush();
  });
  output.close();
}

// {"texts":[...]} of the same objects.
void write_json(Embedder& embedder, const std::string& path) {
  cli::Output output(path);
  bool first = true;
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    output.stream() << (first ? "{\"texts\":[\n" : ",\n") << json_of(text, states, embedder.tokenizer());
    first = false;
  });
  output.stream() << (first ? "{\"texts\":[" : "\n") << "]}\n";
  output.close();
}

void write_hdf5(Embedder& embedder, const cli::Arguments& arguments, const EmbedOptions& options,
                const std::string& path) {
  formats::Embeddings embeddings;
  std::vector<Real> elements;
  Index rows = 0;
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    elements.insert(elements.end(), states.data(), states.data() + states.size());
    if (text.wanted.empty()) {
      embeddings.texts.push_back(rows);
      embeddings.ids.insert(embeddings.ids.end(), text.ids.begin(), text.ids.end());
      for (const TokenId id : text.ids) embeddings.pieces.push_back(embedder.tokenizer().piece(id));
    }
    rows += states.shape()[0];
  });
  check<DataError>(rows > 0, embedder.source(), ": has no text to embed; give texts, one per line");
  if (options.pooling == TextPooling::none) embeddings.texts.push_back(rows);
  embeddings.hidden = Tensor({rows, embedder.width()}, elements);
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", arguments.operand("MODEL"));
  if (parallel::dividing().is_first()) formats::write_embeddings(path, embeddings, provenance);
}

void check_usage(const cli::Arguments& arguments, const EmbedOptions& options) {
  check_forms(options.json, options.jsonl);
  const std::string& output = options.output;
  const bool json = options.json || options.jsonl;
  check<UsageError>(options.text.empty() || arguments.operands("FILE").empty(), "give --text or a FILE, not both");
  check<UsageError>(!json || !output.ends_with(".h5"), output,
                    ": the ending means HDF5, and --json JSON; give -o another ending");
  check<UsageError>(json || output.empty() || output == "-" || output.ends_with(".tsv") || output.ends_with(".h5"),
                    output, ": vectors can only be written to .tsv and .h5 files");
  cli::protect_inputs({options.base}, {output}, arguments);
}

void embed(const cli::Arguments& arguments, const EmbedOptions& options) {
  check_usage(arguments, options);
  const cli::AnswerPrecision precision(options.precision, arguments);
  Embedder embedder(arguments, options);
  if (options.output.ends_with(".h5")) {
    write_hdf5(embedder, arguments, options, options.output);
  } else if (options.json) {
    write_json(embedder, options.output);
  } else if (options.jsonl) {
    write_json_lines(embedder, options.output);
  } else {
    write_tsv(embedder, options, options.output);
  }
}

}  // namespace

cli::Verb verbs::embed() {
  return cli::make_verb<EmbedOptions>(
      {.summary = "Computes the hidden states of texts.",
       .synopsis = {"MODEL [FILE] [--layer N] [--pooling NAME] [-o x.h5|x.tsv] [--jsonl]",
                    "MODEL --text TEXT [--layer N] [--pooling NAME] [-o x.h5|x.tsv] [--json]"},
       .operands = {{"MODEL", "a model file, or an adapter", 1, 1},
                    {"FILE", "texts, one per line; none or - is standard input", 0, 1}},
       .has_ranks = true},
      heddle::embed);
}

}  // namespace heddle
