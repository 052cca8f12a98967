#include "formats/heddle/pairs_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/lines/document_encoder.hpp"
#include "tools/tokenize/modes.hpp"
#include "tools/tokenize/pair_lines.hpp"

namespace heddle {

namespace {

using formats::Side;

// The limits of a batch, which ends at the one that is reached first.
constexpr Index most_bytes = Index{4} << 20, most_pairs = Index{1} << 14;
constexpr Index texts_per_task = 64;

// Encodes the texts of one side on all threads, a batch at a time.
class SideEncoder {
 public:
  SideEncoder(Side side, text::Tokenizer tokenizer, const TokenizeOptions& options)
      : side_(side),
        tokenizer_(std::move(tokenizer)),
        special_(options.special),
        invalid_(options.invalid, takes_any_bytes(tokenizer_)) {}

  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  bool takes_any_bytes_of_text() const { return invalid_.pass(); }
  void report(const cli::Arguments& arguments) const { invalid_.report(arguments); }

  // A text, unless there is a problem with its pair. Returns the bytes added.
  Index add(const PairSide& side, const std::string& problem) {
    const std::string_view valid = invalid_.valid(side.text);
    texts_.push_back({std::string(valid), side.place, {}, problem});
    try {
      invalid_.check_valid(*side.place.file, side.place.begin);
    } catch (const DataError& error) {
      texts_.back().problem = error.what();
    }
    return static_cast<Index>(valid.size());
  }
  void encode() {
    parallel_ranges(static_cast<Index>(texts_.size()), texts_per_task, [this](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) encode(texts_[static_cast<std::size_t>(i)]);
    });
  }
  void clear() { texts_.clear(); }

  // The following are of encoded texts. Throws DataError for a text with a problem, such as characters without a token.
  void check_encoded(std::size_t i) const {
    const Text& text = texts_[i];
    if (!text.problem.empty()) throw DataError(text.problem);
    check<DataError>(!text.ids.empty() && !text::is_blank(text.bytes), text.place.where(), ": the ",
                     side_ == Side::source ? "source" : "target", " is empty; give both texts");
  }
  Index line(std::size_t i) const { return texts_[i].place.begin.line; }
  void write(std::size_t i, formats::PairsFileWriter& writer) const {
    const Text& text = texts_[i];
    writer.append(side_, text.ids, static_cast<Index>(text.bytes.size()) - spelled_bytes(tokenizer_, text.ids));
    writer.end_text(side_);
  }

 private:
  struct Text {
    std::string bytes;
    PairPlace place;
    std::vector<TokenId> ids;
    std::string problem;  // "FILE:LINE:BYTE: reason"
  };
  void encode(Text& text) const {
    if (!text.problem.empty()) return;
    try {
      tokenizer_.encode(text.bytes, text.ids, special_);
    } catch (const text::TextError& error) {
      text::TextPosition position = text.place.begin;
      position.advance(error.position());
      text.problem = concatenate(*text.place.file, ":", position.line, ":", position.byte, ": ", error.reason());
    }
  }

  Side side_;
  text::Tokenizer tokenizer_;
  text::SpecialText special_;
  InvalidBytes invalid_;
  std::vector<Text> texts_;
};

class PairEncoder {
 public:
  PairEncoder(SideEncoder& source, SideEncoder& target, formats::PairsFileWriter& writer, formats::BadRecords& bad)
      : source_(source), target_(target), writer_(writer), bad_(bad) {}

  // Pairs before a bad one are encoded first, so that the first error is the one that is reported.
  void encode(PairLines& lines) {
    try {
      while (const auto pair = lines.next()) {
        bytes_ += source_.add(pair->source, pair->problem) + target_.add(pair->target, pair->problem);
        ++count_;
        if (bytes_ >= most_bytes || count_ >= most_pairs) encode_waiting();
      }
    } catch (const DataError&) {
      encode_waiting();
      throw;
    }
    encode_waiting();
  }

 private:
  void encode_waiting() {
    source_.encode();
    target_.encode();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) write(i);
    source_.clear();
    target_.clear();
    bytes_ = count_ = 0;
    if (!bad_.are_left_out()) bad_.check();
  }
  void write(std::size_t i) {
    const auto check_pair = [&] {
      source_.check_encoded(i);
      target_.check_encoded(i);
    };
    if (!bad_.attempt(source_.line(i), check_pair)) return;
    source_.write(i, writer_);
    target_.write(i, writer_);
  }

  SideEncoder &source_, &target_;
  formats::PairsFileWriter& writer_;
  formats::BadRecords& bad_;
  Index bytes_ = 0, count_ = 0;  // size of the pending pairs
};

std::vector<std::string> names_of_pairs(const cli::Arguments& arguments) {
  std::vector<std::string> names = arguments.input_or_usage("FILE");
  check<UsageError>(names.size() <= 2,
                    "--pairs takes two files, SOURCE and TARGET, or one of SOURCE, tab, TARGET; not ", names.size(),
                    " files");
  check<UsageError>(names.size() < 2 || names[0] != "-" || names[1] != "-",
                    "standard input cannot be both SOURCE and TARGET");
  return names;
}

}  // namespace

void write_pairs_file(const cli::Arguments& arguments, const TokenizeOptions& options) {
  const std::vector<std::string> names = names_of_pairs(arguments);
  const std::string& source_tokenizer = options.source_tokenizer.empty() ? options.tokenizer : options.source_tokenizer;
  SideEncoder source(Side::source, cli::load_tokenizer(source_tokenizer, arguments, Side::source), options);
  SideEncoder target(Side::target, cli::load_tokenizer(options.tokenizer, arguments), options);
  const bool pass = source.takes_any_bytes_of_text() && target.takes_any_bytes_of_text();
  note_invalid_without_effect(pass, arguments);
  PairLines lines(arguments, names, pass);

  formats::Provenance provenance = formats::start_provenance(arguments.command_line());
  formats::add_tokenizer_input(provenance, options.tokenizer);
  if (!options.source_tokenizer.empty()) {
    formats::add_tokenizer_input(provenance, options.source_tokenizer, "source tokenizer");
  }
  formats::PairsFileWriter writer(options.output, source.tokenizer(), target.tokenizer(),
                                  {.compress = options.compress});
  formats::BadRecords bad(lines.first_name(), options.bad_records, "--bad-records skip");
  PairEncoder(source, target, writer, bad).encode(lines);
  source.report(arguments);
  target.report(arguments);
  bad.check();
  if (const auto note = bad.note()) arguments.warn(*note);
  check<DataError>(writer.texts(Side::source) > 0, lines.shown_names(), ": no pair to encode");
  lines.add_inputs(provenance, static_cast<Index>(bad.all().size()));
  writer.commit(provenance);
  arguments.say(concatenate(options.output, ": ", grouped(writer.texts(Side::source)),
                            writer.texts(Side::source) == 1 ? " pair, " : " pairs, ",
                            grouped(writer.tokens(Side::source)), " source and ", grouped(writer.tokens(Side::target)),
                            " target tokens, ", grouped(lines.bytes()), " bytes of text"));
}

}  // namespace heddle
