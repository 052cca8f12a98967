#include <algorithm>

#include "formats/heddle/token_file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/stream_encoder.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/lines/document_reader.hpp"
#include "tools/tokenize/modes.hpp"

namespace heddle {

namespace {

constexpr std::size_t shown_bytes = 24, kept_bytes = std::size_t{1} << 20;

// Compares each document with its decoded ids, part by part, in constant memory.
class RoundTrip : public TextConsumer {
 public:
  RoundTrip(DocumentReader& reader, text::Tokenizer tokenizer, const TokenizeOptions& options, bool by_lines)
      : reader_(reader),
        tokenizer_(std::move(tokenizer)),
        by_lines_(by_lines),
        encoder_(tokenizer_, [this](const auto& part) { compare(part); }, {.special = options.special}) {}

  void add(std::string_view text) override {
    if (by_lines_ && text.ends_with('\n')) text.remove_suffix(1);
    waiting_ += text;
    encoder_.add(text);
  }
  void end_document() override { encoder_.end_document(); }
  void pause() override { encoder_.flush(); }

  Index documents() const { return documents_; }
  Index different() const { return different_; }
  Index tokens() const { return tokens_; }
  // "FILE:LINE:BYTE: …" of the first difference.
  const std::string& first_difference() const { return first_difference_; }

 private:
  void compare(const text::StreamEncoder::Part& part);
  void note_difference();
  void end_comparison();

  DocumentReader& reader_;
  text::Tokenizer tokenizer_;
  bool by_lines_;
  text::StreamEncoder encoder_;
  std::string waiting_;  // text of which the first bytes are encoded
  std::size_t encoded_ = 0;
  std::string text_, decoded_;   // text of the document being compared, from the first byte not compared yet
  text::TextPosition position_;  // position of that byte in the document
  text::TextPlace place_ = text::TextPlace::begin;
  bool differs_ = false;  // the document being compared
  Index documents_ = 0, different_ = 0, tokens_ = 0;
  std::string first_difference_;
};

void RoundTrip::compare(const text::StreamEncoder::Part& part) {
  const auto size = static_cast<std::size_t>(part.text_bytes);
  if (!differs_) text_.append(waiting_, encoded_, size);
  encoded_ += size;
  if (encoded_ == waiting_.size() || encoded_ > kept_bytes) {
    waiting_.erase(0, encoded_);
    encoded_ = 0;
  }
  tokens_ += static_cast<Index>(part.ids.size());
  for (const TokenId id : part.ids) {
    if (!differs_) tokenizer_.decode(id, decoded_, place_);
    place_ = text::TextPlace::inside;
  }
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(text_, decoded_).in1 - text_.begin());
  position_.advance(std::string_view(text_).substr(0, same));
  text_.erase(0, same);
  decoded_.erase(0, same);
  const bool is_certain =
      part.ends_document ? !text_.empty() || !decoded_.empty() : !text_.empty() && !decoded_.empty();
  if (!differs_ && is_certain) note_difference();
  if (part.ends_document) end_comparison();
}

void RoundTrip::note_difference() {
  differs_ = true;
  ++different_;
  const auto shown = [](const std::string& text) {
    return text.empty() ? "the end" : concatenate(text::quoted(std::string_view(text).substr(0, shown_bytes)));
  };
  if (first_difference_.empty()) {
    first_difference_ = concatenate(reader_.where(position_), ": ", shown(text_), " comes back as ", shown(decoded_));
  }
  text_.clear();
  decoded_.clear();
}

void RoundTrip::end_comparison() {
  ++documents_;
  text_.clear();
  decoded_.clear();
  position_ = {};
  place_ = text::TextPlace::begin;
  differs_ = false;
  reader_.finish_document();
}

}  // namespace

void check_round_trip(const cli::Arguments& arguments, const TokenizeOptions& options) {
  const Documents documents = arguments.given("documents") ? options.documents : Documents::line;
  const bool by_lines = documents == Documents::line;
  DocumentReader reader(arguments, arguments.input_or_usage("FILE"), documents);
  const text::Tokenizer tokenizer = cli::load_tokenizer(options.tokenizer, arguments);
  cli::Output output(options.output);
  InvalidBytes invalid = invalid_bytes(takes_any_bytes(tokenizer), options, arguments);
  RoundTrip check(reader, tokenizer, options, by_lines);
  reader.read_into(check, invalid);
  invalid.report(arguments);
  const std::string unit = by_lines ? "line" : "document";
  output.stream() << counted(check.documents(), unit, unit + "s") << ", " << reader.bytes() << " bytes, "
                  << check.tokens() << " tokens, " << check.different() << " different\n";
  output.close();
  if (check.different() > 0) throw DataError(check.first_difference());
}

}  // namespace heddle
