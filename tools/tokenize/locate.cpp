#include "tools/tokenize/locate.hpp"

#include "heddle/formats/heddle/token_file.hpp"
#include "tools/corpus/invalid_bytes.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/encode_line.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

using Json = nlohmann::ordered_json;

constexpr Index bytes_at_once = Index{1} << 20;

struct LocatedLine {
  std::string text;
  std::vector<text::LocatedToken> tokens;  // without offsets if they are not printed
};

std::vector<text::LocatedToken> tokens_of(const std::string& text, const text::Tokenizer& tokenizer,
                                          const TokenizeOptions& options) {
  if (options.offsets) return tokenizer.encode_with_offsets(text, options.special);
  std::vector<text::LocatedToken> tokens;
  for (const TokenId id : tokenizer.encode(text, options.special)) tokens.push_back({id});
  return tokens;
}

LocatedLine read_line(const InputText& input, const text::Tokenizer& tokenizer, const TokenizeOptions& options,
                      InvalidBytes& invalid) {
  LocatedLine line{std::string(invalid.valid(input.text)), {}};
  invalid.check_valid(input.file, {input.line, 1});
  line.tokens = encode_at(input, [&] { return tokens_of(line.text, tokenizer, options); });
  return line;
}

std::string in_plain(const LocatedLine& line, const text::Tokenizer& tokenizer, const TokenizeOptions& options) {
  std::string text;
  for (const auto& [id, begin, end] : line.tokens) {
    if (!text.empty()) text += ' ';
    text += concatenate(options.pieces ? tokenizer.piece(id) : std::to_string(id), ":", begin, ":", end);
  }
  return text;
}

std::string in_json(const LocatedLine& line, const text::Tokenizer& tokenizer, const TokenizeOptions& options) {
  Json ids = Json::array(), pieces = Json::array(), offsets = Json::array();
  for (const auto& [id, begin, end] : line.tokens) {
    ids.push_back(id);
    pieces.push_back(tokenizer.piece(id));
    offsets.push_back({begin, end});
  }
  Json object{{"text", line.text}, {"ids", ids}};
  if (options.pieces) object["pieces"] = pieces;
  if (options.offsets) object["offsets"] = offsets;
  return json_line(object);
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
            output.stream() << (options.jsonl ? in_json : in_plain)(line, tokenizer, options) << "\n";
          }
          output.stream().flush();
        });
  }
  output.close();
  invalid.report(arguments);
}

}  // namespace heddle
