#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "libcore/text/spelling.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/tokenize/modes.hpp"

namespace heddle {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;
constexpr Index block_tokens = Index{1} << 16;
constexpr std::size_t longest_number = 20;  // characters; more than any id has

// Decodes numbers separated by white space, one line of text per line of numbers, from parts of any size.
class IdParser {
 public:
  IdParser(const text::Tokenizer& tokenizer, std::string name) : tokenizer_(tokenizer), name_(std::move(name)) {}

  // Appends to the text. Throws DataError with file and line.
  void add(std::string_view ids, std::string& text) {
    for (const char letter : ids) {
      if (letter != ' ' && letter != '\n' && letter != '\t' && letter != '\r') {
        number_ += letter;
        if (number_.size() > longest_number) end_number(text);
        continue;
      }
      end_number(text);
      if (letter != '\n') continue;
      text += '\n';
      place_ = text::TextPlace::begin;
      ++line_;
    }
  }
  void end_number(std::string& text) {
    if (number_.empty()) return;
    tokenizer_.decode(parse(), text, std::exchange(place_, text::TextPlace::inside));
    number_.clear();
  }

 private:
  TokenId parse() const {
    Index id = 0;
    const char* const end = number_.data() + number_.size();
    const auto [rest, error] = std::from_chars(number_.data(), end, id);
    const bool is_number = rest == end && number_.front() != '-';
    check<DataError>(is_number && error != std::errc::invalid_argument, name_, ":", line_, ": ", text::quoted(number_),
                     " is not a token id; --decode reads numbers, or token files given by name");
    check<DataError>(error == std::errc() && id < tokenizer_.vocab_size(), name_, ":", line_, ": token id ", number_,
                     " is outside the tokenizer's vocabulary of ", tokenizer_.vocab_size(),
                     "; decode it with the tokenizer that encoded it");
    return static_cast<TokenId>(id);
  }

  const text::Tokenizer& tokenizer_;
  std::string name_;
  std::string number_;                              // so far
  text::TextPlace place_ = text::TextPlace::begin;  // place in its line
  Index line_ = 1;
};

void decode_ids(const std::string& name, const text::Tokenizer& tokenizer, std::ostream& out) {
  cli::Input input(name);
  IdParser parser(tokenizer, input.name());
  std::vector<char> block(block_bytes);
  std::string text;
  while (const std::size_t count = input.read(block)) {
    text.clear();
    parser.add({block.data(), count}, text);
    // Flushes after each line, for a program that writes a line and waits for its text.
    out << text << std::flush;
  }
  text.clear();
  parser.end_number(text);
  out << text;
}

bool loses_line_ends(const text::Tokenizer& tokenizer) {
  return tokenizer.kind() == text::TokenizerKind::wordpiece || tokenizer.model().spaced_words;
}

// The end-of-text token that tokenize adds after each document is not part of the text. If the tokenizer drops line
// ends, it becomes a line end.
void decode_token_file(const formats::TokenFile& file, const text::Tokenizer& tokenizer, std::ostream& out) {
  const std::optional<TokenId> end_of_text = tokenizer.end_of_text();
  Index document = -1, document_end = 0;
  std::vector<TokenId> ids;
  std::string text;
  text::TextPlace place = text::TextPlace::begin;
  for (Index first = 0; first < file.size(); first += block_tokens) {
    ids.resize(static_cast<std::size_t>(std::min(block_tokens, file.size() - first)));
    file.read(first, ids);
    text.clear();
    for (Index at = first; const TokenId id : ids) {
      while (at >= document_end) {
        document_end = file.document(++document).second;
        place = text::TextPlace::begin;
      }
      ++at;
      if (id != end_of_text || at != document_end) {
        tokenizer.decode(id, text, std::exchange(place, text::TextPlace::inside));
      } else if (loses_line_ends(tokenizer)) {
        text += '\n';
      }
    }
    out << text;
  }
}

void check_same_tokenizer(const formats::TokenFile& file, const text::Tokenizer& tokenizer, const std::string& path) {
  check<DataError>(file.tokenizer().fingerprint() == tokenizer.fingerprint(), file.name(),
                   ": was made with another tokenizer than ", path, "; leave out -t, the file contains its tokenizer");
}

// A line for each pair: SOURCE, tab, TARGET.
void decode_pairs_file(const formats::PairsFile& file, std::ostream& out) {
  using formats::Side;
  const text::Tokenizer source = file.tokenizer(Side::source), target = file.tokenizer(Side::target);
  for (Index i = 0; i < file.size(); ++i) {
    out << source.decode(file.source(i)) << '\t' << target.decode(file.target(i)) << '\n';
  }
}

bool is_pairs_file(const std::string& path) {
  return formats::kind_of(path) == formats::FileKind::pairs;
}

}  // namespace

void decode(const cli::Arguments& arguments, const TokenizeOptions& options) {
  std::optional<text::Tokenizer> tokenizer;
  if (!options.tokenizer.empty()) tokenizer = cli::load_tokenizer(options.tokenizer, arguments);
  cli::Output output(options.output);
  for (const std::string& name : arguments.input_or_usage("FILE")) {
    if (name != "-" && formats::looks_like_hdf5(name) && is_pairs_file(name)) {
      check<UsageError>(!tokenizer, name, ": contains the tokenizers of its sides; leave out -t");
      decode_pairs_file(formats::PairsFile(name), output.stream());
    } else if (name != "-" && formats::looks_like_hdf5(name)) {
      const formats::TokenFile file(name);
      if (tokenizer) check_same_tokenizer(file, *tokenizer, options.tokenizer);
      decode_token_file(file, tokenizer ? *tokenizer : file.tokenizer(), output.stream());
    } else {
      check<UsageError>(tokenizer.has_value(), "-t TOKENIZER is missing; only token and pairs files contain one");
      decode_ids(name, *tokenizer, output.stream());
    }
  }
  output.close();
}

}  // namespace heddle
