#include <charconv>
#include <iterator>
#include <string_view>

#include "heddle/analysis/embed.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/formats/heddle/embedding_file.hpp"
#include "heddle/formats/heddle/load_model.hpp"
#include "tools/inspect/vectors.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

using analysis::TextToEmbed;

constexpr std::size_t texts_at_once = 256;

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

// The shortest texts that read as the same numbers.
std::string row_text(const Real* row, Index width, std::string_view separator) {
  std::string line;
  char digits[32];
  for (Index i = 0; i < width; ++i) {
    const char* const end = std::to_chars(std::begin(digits), std::end(digits), row[i]).ptr;
    line.append(i == 0 ? "" : separator).append(digits, static_cast<std::size_t>(end - digits));
  }
  return line;
}

// Reads texts, embeds some at a time, and hands their states over in order.
class Embedder {
 public:
  Embedder(const cli::Arguments& arguments, const VectorOptions& options)
      : arguments_(arguments), options_(options), loaded_(arguments.operand("FILE"), "--embed") {
    if (!options.layer.empty()) embedding_.layers = options.layer;
  }

  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }
  Index width() const { return loaded_.vectors.width(); }
  // Where the texts came from, for messages.
  const std::string& source() const { return source_; }

  // Calls take(text, states) for each.
  template <class Take>
  void run(const Take& take) {
    if (options_.embed != "-") {
      add(options_.embed, "--embed");
    } else {
      cli::Input input = arguments_.open_text(arguments_.input_or_usage("INPUT").front());
      source_ = input.name();
      cli::LineReader lines(input);
      while (const auto line = lines.next()) {
        try {
          add(line->text, lines.where());
        } catch (const DataError&) {
          flush(take);  // the lines before the bad one are not lost
          throw;
        }
        if (texts_.size() == texts_at_once) flush(take);
      }
    }
    flush(take);
    if (cut_ > 0) arguments_.say(counted(cut_, "text was", "texts were") + " longer than the context, and cut");
  }

 private:
  void add(std::string_view line, const std::string& where) {
    try {
      const std::vector<TokenId> tokens = loaded_.tokenizer.encode(line);
      TextToEmbed text = analysis::text_to_embed(loaded_.vectors, loaded_.tokenizer, tokens, {0, 0});
      if (text.text.last - text.text.first + 1 < static_cast<Index>(tokens.size())) {
        check<DataError>(options_.overlong == Overlong::truncate, tokens.size(),
                         " tokens are more than the context of ", loaded_.vectors.position_limit(),
                         "; shorten it, or keep its beginning with --overlong truncate");
        ++cut_;
      }
      text.wanted = wanted_of(text, options_.pooling);
      texts_.push_back(std::move(text));
    } catch (const DataError& error) {
      throw DataError(concatenate(where, ": ", error.what()));
    }
  }

  template <class Take>
  void flush(const Take& take) {
    const std::vector<Tensor> states = analysis::embed(loaded_.vectors, texts_, embedding_);
    for (std::size_t i = 0; i < states.size(); ++i) take(texts_[i], states[i]);
    texts_.clear();
  }

  const cli::Arguments& arguments_;
  const VectorOptions& options_;
  std::string source_ = "--embed";
  VectorModel loaded_;
  analysis::EmbedOptions embedding_;
  std::vector<TextToEmbed> texts_;
  Index cut_ = 0;
};

// A line a text; or a line a token, begun by its piece, and an empty one behind each of several texts.
void write_tsv(Embedder& embedder, const VectorOptions& options, const std::string& path) {
  cli::Output output(path);
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    const Index width = states.shape()[1];
    for (Index row = 0; row < states.shape()[0]; ++row) {
      if (text.wanted.empty())
        output.stream() << embedder.tokenizer().piece(text.ids[static_cast<std::size_t>(row)]) << '\t';
      output.stream() << row_text(states.data() + row * width, width, "\t") << '\n';
    }
    if (text.wanted.empty() && options.embed == "-") output.stream() << '\n';
    output.stream().flush();
  });
  output.close();
}

// An object a text: {"vector":[...]}, or {"pieces":[...],"vectors":[[...],...]}.
void write_json(Embedder& embedder, const std::string& path) {
  cli::Output output(path);
  embedder.run([&](const TextToEmbed& text, const Tensor& states) {
    const Index rows = states.shape()[0], width = states.shape()[1];
    std::string vectors;
    for (Index row = 0; row < rows; ++row) {
      vectors += (row == 0 ? "[" : ",[") + row_text(states.data() + row * width, width, ",") + "]";
    }
    std::vector<std::string> pieces;
    for (const TokenId id : text.ids) pieces.push_back(embedder.tokenizer().piece(id));
    if (text.wanted.empty()) {
      output.stream() << "{\"pieces\":" << json_line(pieces) << ",\"vectors\":[" << vectors << "]}\n";
    } else {
      output.stream() << "{\"vector\":" << vectors << "}\n";
    }
    output.stream().flush();
  });
  output.close();
}

void write_hdf5(Embedder& embedder, const cli::Arguments& arguments, const VectorOptions& options,
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
  check<DataError>(rows > 0, embedder.source(), ": has no text to embed; give one a line");
  if (options.pooling == TextPooling::none) embeddings.texts.push_back(rows);
  embeddings.hidden = Tensor({rows, embedder.width()}, elements);
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_input(provenance, "model", arguments.operand("FILE"));
  formats::write_embeddings(path, embeddings, provenance);
}

}  // namespace

void embed_texts(const cli::Arguments& arguments, const VectorOptions& options, const std::string& output, bool json) {
  check<UsageError>(!json || !output.ends_with(".h5"), "--json: ", output, " would be HDF5; give -o another ending");
  check<UsageError>(json || output.empty() || output == "-" || output.ends_with(".tsv") || output.ends_with(".h5"),
                    output, ": vectors can be written into .tsv and .h5 files");
  Embedder embedder(arguments, options);
  if (output.ends_with(".h5")) {
    write_hdf5(embedder, arguments, options, output);
  } else if (json) {
    write_json(embedder, output);
  } else {
    write_tsv(embedder, options, output);
  }
}

}  // namespace heddle
