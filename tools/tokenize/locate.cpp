#include <ostream>
#include <utility>

#include "formats/heddle/token_file.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/invalid_bytes.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/tokenize/modes.hpp"

namespace heddle {

namespace {

constexpr Index bytes_at_once = Index{1} << 20;

// A line may be all of a file: its offsets are found again when they are printed.
struct Line {
  std::string text;
  std::vector<TokenId> ids;
};

Line read_line(const InputText& input, const text::Tokenizer& tokenizer, const TokenizeOptions& options,
               InvalidBytes& invalid) {
  Line line{std::string(invalid.valid(input.text)), {}};
  invalid.check_valid(input.file, {input.line, 1});
  return encode_at(input, [&] {
    line.ids = tokenizer.encode(line.text, options.special);
    return std::move(line);
  });
}

// Calls write(token) for each token, and writes the separator between them.
template <class Write>
void write_located(std::ostream& out, const Line& line, const text::Tokenizer& tokenizer,
                   const TokenizeOptions& options, char separator, const Write& write) {
  bool first = true;
  tokenizer.locate(line.text, line.ids, options.special, [&](const text::LocatedToken& token) {
    if (!std::exchange(first, false)) out << separator;
    write(token);
  });
}

void write_plain(std::ostream& out, const Line& line, const text::Tokenizer& tokenizer,
                 const TokenizeOptions& options) {
  write_located(out, line, tokenizer, options, ' ', [&](const text::LocatedToken& token) {
    options.pieces ? out << tokenizer.piece(token.id) : out << token.id;
    out << ':' << token.begin << ':' << token.end;
  });
  out << '\n';
}

// `, "name": [...]`, where write(id) writes the element of a token.
template <class Write>
void write_list(std::ostream& out, const char* name, const std::vector<TokenId>& ids, const Write& write) {
  out << ",\"" << name << "\":[";
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (i > 0) out << ',';
    write(ids[i]);
  }
  out << ']';
}

// An object, element by element.
void write_json(std::ostream& out, const Line& line, const text::Tokenizer& tokenizer, const TokenizeOptions& options) {
  out << "{\"text\":" << json_line(line.text);
  write_list(out, "ids", line.ids, [&](TokenId id) { out << id; });
  if (options.pieces) {
    write_list(out, "pieces", line.ids, [&](TokenId id) { out << json_line(tokenizer.piece(id)); });
  }
  if (options.offsets) {
    out << ",\"offsets\":[";
    write_located(out, line, tokenizer, options, ',',
                  [&](const text::LocatedToken& token) { out << '[' << token.begin << ',' << token.end << ']'; });
    out << ']';
  }
  out << "}\n";
}

}  // namespace

void print_located(const cli::Arguments& arguments, const TokenizeOptions& options) {
  const text::Tokenizer tokenizer = cli::load_tokenizer(options.tokenizer, arguments);
  cli::Output output(options.output);
  InvalidBytes invalid = invalid_bytes(takes_any_bytes(tokenizer), options, arguments);
  for (const std::string& name : arguments.input_or_usage("FILE")) {
    answer_texts(
        invalid.pass() ? arguments.open_text(name) : cli::Input(name),
        {.unit = TextUnit::exact_line, .bytes = bytes_at_once},
        [&](const InputText& text) { return read_line(text, tokenizer, options, invalid); },
        [&](const std::vector<Line>& lines) {
          for (const Line& line : lines) {
            (options.jsonl ? write_json : write_plain)(output.stream(), line, tokenizer, options);
          }
          output.stream().flush();
        });
  }
  output.close();
  invalid.report(arguments);
}

}  // namespace heddle
