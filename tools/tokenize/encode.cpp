#include <fmt/format.h>

#include <optional>
#include <span>
#include <utility>

#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/text/stream_encoder.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/lines/document_encoder.hpp"
#include "tools/tokenize/modes.hpp"

namespace heddle {

namespace {

class Learner : public TextConsumer {
 public:
  Learner(DocumentReader& reader, const text::TrainerOptions& options) : reader_(reader), trainer_(options) {}

  void add(std::string_view text) override { trainer_.add(text); }
  void end_document() override {
    trainer_.end_document();
    reader_.finish_document();
  }
  void pause() override {}
  text::TokenizerModel finish() { return trainer_.finish(); }

 private:
  DocumentReader& reader_;
  text::Trainer trainer_;
};

// Prints one line of tokens per line of text. A last line without a newline gets none, so that --decode restores the
// same bytes.
class LinePrinter : public TextConsumer {
 public:
  LinePrinter(DocumentReader& reader, text::Tokenizer tokenizer, const TokenizeOptions& options, std::ostream& out)
      : reader_(reader),
        tokenizer_(std::move(tokenizer)),
        pieces_(options.pieces),
        out_(out),
        encoder_(tokenizer_, [this](const auto& part) { print(part); }, {.special = options.special}) {}

  void add(std::string_view text) override {
    line_ends_ = text.ends_with('\n');
    if (line_ends_) text.remove_suffix(1);
    encoder_.add(text);
  }
  void end_document() override {
    if (line_ends_) return encoder_.end_document();
    encoder_.flush();
    line_is_open_ = true;
    encoder_.end_document();
    encoder_.flush();
  }
  void pause() override {
    encoder_.flush();
    out_.flush();
  }

 private:
  void print(const text::StreamEncoder::Part& part);
  void append(TokenId id);

  DocumentReader& reader_;
  text::Tokenizer tokenizer_;
  bool pieces_;
  std::ostream& out_;
  text::StreamEncoder encoder_;
  bool line_ends_ = true;      // the line being read
  bool line_is_open_ = false;  // the line being printed has no newline
  bool owes_line_end_ = false;
  bool has_tokens_ = false;  // the line being printed
  std::string text_;
};

void LinePrinter::print(const text::StreamEncoder::Part& part) {
  text_.clear();
  if (std::exchange(owes_line_end_, false)) text_ += '\n';
  for (const TokenId id : part.ids) append(id);
  if (part.ends_document) {
    has_tokens_ = false;
    owes_line_end_ = std::exchange(line_is_open_, false);
    if (!owes_line_end_) text_ += '\n';
    reader_.finish_document();
  }
  out_ << text_;
}

void LinePrinter::append(TokenId id) {
  if (std::exchange(has_tokens_, true)) text_ += ' ';
  if (pieces_) {
    text_ += tokenizer_.piece(id);
    return;
  }
  text_ += fmt::format_int(id).c_str();
}

class FileSink : public TokenSink {
 public:
  explicit FileSink(formats::TokenFileWriter& writer) : writer_(writer) {}
  void append(std::span<const TokenId> ids, Index text_bytes) override { writer_.append(ids, text_bytes); }
  void end_document() override { writer_.end_document(); }

 private:
  formats::TokenFileWriter& writer_;
};

void check_has_text(const DocumentReader& reader) {
  check<DataError>(reader.bytes() > 0, reader.shown_names(), ": no text to encode");
}

// Fails before the work rather than after it if the file cannot be written.
void check_writable(const std::string& path) {
  const formats::AtomicFile attempt(path);
}

void warn_if_small(const cli::Arguments& arguments, const text::TrainerOptions& wanted, Index pieces) {
  if (pieces >= wanted.vocab_size || !arguments.given("vocab_size")) return;
  arguments.warn(concatenate("the vocabulary has ", grouped(pieces), " pieces instead of ", grouped(wanted.vocab_size),
                             ": the text has no more pieces to learn; give more text, or a smaller --vocab-size"));
}

std::string ratio_text(double value) {
  return format_fixed(value, 2);
}

}  // namespace

void train_tokenizer(const cli::Arguments& arguments, const TokenizeOptions& options) {
  DocumentReader reader(arguments, arguments.input_or_usage("FILE"), options.documents);
  Learner learner(reader, options.training);
  check_writable(options.output);
  // Character and word tokenizers need valid text, and so does wordpiece, which lower-cases and splits it.
  const bool has_bytes = options.training.byte_fallback || options.training.kind == text::TokenizerKind::bpe;
  InvalidBytes invalid = invalid_bytes(options.training.kind == text::TokenizerKind::byte ||
                                           (has_bytes && options.training.kind != text::TokenizerKind::wordpiece),
                                       options, arguments);
  reader.read_into(learner, invalid);
  invalid.report(arguments);
  if (options.training.kind != text::TokenizerKind::byte) check_has_text(reader);
  const text::TokenizerModel model = learner.finish();

  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  reader.add_inputs(provenance);
  formats::save_tokenizer(options.output, model, provenance);
  const auto pieces = static_cast<Index>(model.pieces.size());
  warn_if_small(arguments, options.training, pieces);
  arguments.say(concatenate(options.output, ": ", to_text(model.kind), " tokenizer with ", grouped(pieces),
                            " pieces, from ", grouped(reader.bytes()), " bytes of text"));
}

void print_tokens(const cli::Arguments& arguments, const TokenizeOptions& options) {
  DocumentReader reader(arguments, arguments.input_or_usage("FILE"), Documents::line);
  const text::Tokenizer tokenizer = cli::load_tokenizer(options.tokenizer, arguments);
  cli::Output output(options.output);
  LinePrinter printer(reader, tokenizer, options, output.stream());
  InvalidBytes invalid = invalid_bytes(takes_any_bytes(tokenizer), options, arguments);
  reader.read_into(printer, invalid);
  output.close();
  invalid.report(arguments);
}

void write_token_file(const cli::Arguments& arguments, const TokenizeOptions& options) {
  DocumentReader reader(arguments, arguments.input_or_usage("FILE"), options.documents);
  const text::Tokenizer tokenizer = cli::load_tokenizer(options.tokenizer, arguments);
  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_tokenizer_input(provenance, options.tokenizer);
  formats::TokenFileWriter writer(options.output, tokenizer, {.compress = options.compress});
  FileSink sink(writer);
  DocumentEncoder encoder(reader, tokenizer, sink, {.special = options.special});
  InvalidBytes invalid = invalid_bytes(takes_any_bytes(tokenizer), options, arguments);
  reader.read_into(encoder, invalid);
  invalid.report(arguments);
  check_has_text(reader);
  reader.add_inputs(provenance);
  writer.commit(provenance);
  arguments.say(concatenate(
      options.output, ": ", grouped(writer.size()), writer.size() == 1 ? " token of " : " tokens of ",
      grouped(writer.documents()), writer.documents() == 1 ? " document, " : " documents, ", grouped(reader.bytes()),
      " bytes of text, ", ratio_text(static_cast<double>(reader.bytes()) / static_cast<double>(writer.size())),
      " bytes per token"));
}

}  // namespace heddle
