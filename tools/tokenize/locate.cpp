#include "tools/tokenize/locate.hpp"

#include <algorithm>
#include <ostream>

#include "heddle/formats/heddle/token_file.hpp"
#include "tools/corpus/invalid_bytes.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

constexpr Index bytes_at_once = Index{1} << 20;

struct LocatedLine {
  std::string text;
  std::vector<TokenId> ids;
  std::vector<text::LocatedToken> located;  // the same with their places, if these are printed

  std::size_t size() const { return std::max(ids.size(), located.size()); }
  TokenId id(std::size_t i) const { return located.empty() ? ids[i] : located[i].id; }
};

LocatedLine read_line(const InputText& input, const text::Tokenizer& tokenizer, const TokenizeOptions& options,
                      InvalidBytes& invalid) {
  LocatedLine line{std::string(invalid.valid(input.text)), {}, {}};
  invalid.check_valid(input.file, {input.line, 1});
  return encode_at(input, [&] {
    if (options.offsets) {
      line.located = tokenizer.encode_with_offsets(line.text, options.special);
    } else {
      line.ids = tokenizer.encode(line.text, options.special);
    }
    return std::move(line);
  });
}

void write_plain(std::ostream& out, const LocatedLine& line, const text::Tokenizer& tokenizer,
                 const TokenizeOptions& options) {
  for (std::size_t i = 0; i < line.located.size(); ++i) {
    const auto& [id, begin, end] = line.located[i];
    if (i > 0) out << ' ';
    options.pieces ? out << tokenizer.piece(id) : out << id;
    out << ':' << begin << ':' << end;
  }
  out << '\n';
}

// `, "name": [...]`, where write(i) writes the element of a token.
template <class Write>
void write_list(std::ostream& out, const char* name, std::size_t size, const Write& write) {
  out << ",\"" << name << "\":[";
  for (std::size_t i = 0; i < size; ++i) {
    if (i > 0) out << ',';
    write(i);
  }
  out << ']';
}

// An object, element by element: a line may be all of a file.
void write_json(std::ostream& out, const LocatedLine& line, const text::Tokenizer& tokenizer,
                const TokenizeOptions& options) {
  out << "{\"text\":" << json_line(line.text);
  write_list(out, "ids", line.size(), [&](std::size_t i) { out << line.id(i); });
  if (options.pieces) {
    write_list(out, "pieces", line.size(), [&](std::size_t i) { out << json_line(tokenizer.piece(line.id(i))); });
  }
  if (options.offsets) {
    write_list(out, "offsets", line.size(),
               [&](std::size_t i) { out << '[' << line.located[i].begin << ',' << line.located[i].end << ']'; });
  }
  out << "}\n";
}

}  // namespace

void print_located(const cli::Arguments& arguments, const TokenizeOptions& options) {
  const text::Tokenizer tokenizer = formats::load_tokenizer(options.tokenizer);
  cli::Output output(options.output);
  InvalidBytes invalid = invalid_bytes(takes_any_bytes(tokenizer), options, arguments);
  for (const std::string& name : arguments.input_or_usage("FILE")) {
    answer_texts(
        invalid.pass() ? arguments.open_text(name) : cli::Input(name),
        {.unit = TextUnit::exact_line, .bytes = bytes_at_once},
        [&](const InputText& text) { return read_line(text, tokenizer, options, invalid); },
        [&](const std::vector<LocatedLine>& lines) {
          for (const LocatedLine& line : lines) {
            (options.jsonl ? write_json : write_plain)(output.stream(), line, tokenizer, options);
          }
          output.stream().flush();
        });
  }
  output.close();
  invalid.report(arguments);
}

}  // namespace heddle
