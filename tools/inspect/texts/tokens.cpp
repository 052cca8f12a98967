// inspect tokens: how a text is cut into tokens.
#include <fmt/format.h>

#include <array>
#include <iostream>
#include <utility>

#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/loss_tokens.hpp"
#include "tools/inspect/texts/token_picture.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/lines/special_text.hpp"

namespace heddle {

namespace {

using formats::Json;

constexpr std::size_t most_in_table = 50000;

struct TokensOptions {
  GivenTexts given;
  bool table = false;
  text::SpecialText special = text::SpecialText::token;
  std::string loss;
  TokenAnswer answer;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GivenTexts::visit(self.given, visitor);
    visitor(Field("table", "print a table of the tokens: ids, pieces, offsets in bytes and characters").essential(),
            self.table);
    visitor(Field("special", "text that spells a special token becomes that token, or plain text"), self.special);
    visitor(Field("loss",
                  "the FILE holds prompts, steps and answers, as finetune takes for lm: print which tokens the "
                  "loss counts; TEXT is what stands between steps and answer (objective respond)")
                .bare_value(" #### ")
                .not_empty()
                .takes("TEXT"),
            self.loss);
    TokenAnswer::visit(self.answer, visitor);
  }
};

struct TokenTotals {
  std::size_t tokens = 0, bytes = 0, characters = 0, unknown = 0;

  void add(const EncodedText& text, const text::Tokenizer& tokenizer) {
    tokens += text.tokens();
    bytes += text.text().size();
    characters += static_cast<std::size_t>(
        std::ranges::count_if(text.text(), [](unsigned char byte) { return byte < 0x80 || byte >= 0xC0; }));
    for (const TokenId id : text.ids()) unknown += id == tokenizer.unknown() ? 1 : 0;
  }
};

struct Cut {
  const text::Tokenizer& tokenizer;
  std::string name;  // name of the tokenizer's file
  std::vector<EncodedText> texts;
  TokenTotals totals{};
};

// Pale colours, so that neighbours differ; grey for special tokens, red for the unknown one.
int colour_of(std::size_t number, TokenId id, const text::Tokenizer& tokenizer) {
  static constexpr std::array pale{153, 229, 157, 225};
  constexpr int grey = 250, red = 217;
  if (id == tokenizer.unknown()) return red;
  return tokenizer.is_special(id) ? grey : pale[number % pale.size()];
}

// Lines end where the text's do; ↵ shows the token that has the line end.
void write_coloured(std::ostream& out, const EncodedText& text, const text::Tokenizer& tokenizer) {
  std::size_t number = 0;
  const std::string end = text.for_each([&](const CutToken& token) {
    const int colour = colour_of(number++, token.id, tokenizer);
    out << printable_lines(token.gap);
    const std::vector<std::string> lines = split(token.shown, '\n');
    for (std::size_t line = 0; line < lines.size(); ++line) {
      const bool last = line + 1 == lines.size();
      const std::string shown = printable_lines(lines[line]) + (last ? "" : "↵");
      if (!shown.empty()) out << on_colour(colour, shown);
      if (!last) out << '\n';
    }
  });
  out << printable_lines(end);
}

// A bar between tokens.
void write_separated(std::ostream& out, const EncodedText& text) {
  bool first = true;
  const std::string end = text.for_each([&](const CutToken& token) {
    out << printable_lines(token.gap) << (std::exchange(first, false) ? "" : "│") << printable_lines(token.shown);
  });
  out << printable_lines(end);
}

std::string table_of(const EncodedText& text, const text::Tokenizer& tokenizer) {
  constexpr std::size_t widest = 26;
  std::vector<std::vector<std::string>> rows{{"", "id", "piece", "bytes", "characters", "text"}};
  text.for_each([&](const CutToken& token) {
    rows.push_back({std::to_string(rows.size() - 1), std::to_string(token.id),
                    shortened(printable(tokenizer.piece(token.id)), widest), range_text(token.bytes),
                    range_text(token.characters), shortened(label_of(token), widest)});
  });
  return text_table(rows, "rrlrrl");
}

void print_summary(const TokenTotals& totals) {
  const auto tokens = static_cast<double>(std::max<std::size_t>(1, totals.tokens));
  std::cout << fmt::format("{}, {}, {}: {} bytes and {} characters per token",
                           counted(static_cast<long long>(totals.tokens), "token", "tokens"),
                           counted(static_cast<long long>(totals.bytes), "byte", "bytes"),
                           counted(static_cast<long long>(totals.characters), "character", "characters"),
                           format_fixed(static_cast<double>(totals.bytes) / tokens, 2),
                           format_fixed(static_cast<double>(totals.characters) / tokens, 2));
  if (totals.unknown > 0) std::cout << "; " << totals.unknown << " unknown";
  std::cout << '\n';
}

void print(const Cut& cut, bool table) {
  check<DataError>(!table || cut.totals.tokens <= most_in_table, grouped(static_cast<long long>(cut.totals.tokens)),
                   " tokens are more than the ", grouped(most_in_table),
                   " of a table for people; give less text, or write a .tsv with -o");
  const bool colours = !table && has_colours();
  for (const EncodedText& text : cut.texts) {
    if (table) {
      std::cout << table_of(text, cut.tokenizer);
    } else {
      colours ? write_coloured(std::cout, text, cut.tokenizer) : write_separated(std::cout, text);
      std::cout << '\n';
    }
    if (table || &text == &cut.texts.back()) std::cout << '\n';
  }
  print_summary(cut.totals);
}

// An object, token by token: a text may have millions.
void write_text_json(std::ostream& out, const EncodedText& text, const text::Tokenizer& tokenizer) {
  out << "{\"text\":" << json_line(text.text()) << ",\"tokens\":[";
  bool first = true;
  text.for_each([&](const CutToken& token) {
    out << (std::exchange(first, false) ? "" : ",") << json_line(as_json(token, tokenizer));
  });
  out << "]}";
}

void print_json(const Cut& cut, bool lines) {
  std::ostream& out = std::cout;
  if (!lines) {
    const std::string totals = json_line({{"tokenizer", to_text(cut.tokenizer.kind())},
                                          {"tokens", cut.totals.tokens},
                                          {"bytes", cut.totals.bytes},
                                          {"characters", cut.totals.characters},
                                          {"unknown", cut.totals.unknown}});
    out << totals.substr(0, totals.size() - 1) << ",\"texts\":[\n";
  }
  for (const EncodedText& text : cut.texts) {
    if (!lines && &text != &cut.texts.front()) out << ",\n";
    write_text_json(out, text, cut.tokenizer);
    if (lines) out << '\n';
  }
  if (!lines) out << "\n]}\n";
}

void write_tsv(const Cut& cut, const std::string& path) {
  cli::Output output(path);
  std::ostream& out = output.stream();
  out << "text_number\ttoken\tid\tpiece\tbegin\tend\tbegin_character\tend_character\ttext\n";
  for (std::size_t number = 0; number < cut.texts.size(); ++number) {
    std::size_t i = 0;
    cut.texts[number].for_each([&](const CutToken& token) {
      out << number << '\t' << i++ << '\t' << token.id << '\t' << escaped_field(cut.tokenizer.piece(token.id));
      for (const auto& range : {token.bytes, token.characters}) {
        out << '\t' << (range ? std::to_string(range->begin) : "") << '\t' << (range ? std::to_string(range->end) : "");
      }
      out << '\t' << printable(escaped_field(token.text)) << '\n';
    });
  }
  output.close();
}

void write_tokens_page(const Cut& cut, const std::string& path) {
  check_fits_page(cut.totals.tokens, path);
  Json texts = Json::array();
  for (const EncodedText& text : cut.texts) texts.push_back(page_data(cut_text(text), cut.tokenizer));
  write_token_page(path, "Tokens of ", cut.name, cut.tokenizer, nullptr, std::move(texts));
}

// Every second token is shaded, with its id below it.
void draw_cut(const Cut& cut, const std::string& path) {
  std::vector<DrawnToken> drawn;
  for (const EncodedText& text : cut.texts) {
    bool is_first = true;
    text.for_each([&](const CutToken& token) {
      const std::string label = label_of(token);
      drawn.push_back({label.empty() ? printable(cut.tokenizer.piece(token.id)) : label, std::to_string(token.id),
                       drawn.size() % 2 == 0 ? 0.45 : 0.15, token.text.ends_with('\n'),
                       std::exchange(is_first, false)});
    });
  }
  draw_tokens(path, "tokens of " + printable(cut.name), drawn);
}

void tokens(const cli::Arguments& arguments, const TokensOptions& options) {
  const auto& [output, json, jsonl] = options.answer;
  options.answer.check_usage(options.table, "tokens are");
  if (!output.empty()) cli::protect_inputs({}, {output}, arguments);
  const std::string name = arguments.operand("TOKENIZER");
  const text::Tokenizer tokenizer = cli::load_tokenizer(name, arguments);
  if (!options.loss.empty()) {
    refuse({"table", "output", "json", "text", "documents", "special"}, arguments,
           ": --loss prints lines, or objects with --jsonl; leave it out");
    check<UsageError>(!arguments.operand("TEXT").empty(), "--loss: FILE is missing: prompts and answers");
    return print_loss(tokenizer, arguments.operand("TEXT"), options.loss, jsonl, arguments);
  }
  Cut cut{tokenizer, name, {}};
  for (const InputText& input : read_texts(arguments, "TEXT", options.given)) {
    cut.texts.emplace_back(tokenizer, input, options.special);
    cut.totals.add(cut.texts.back(), tokenizer);
  }
  if (is_page_name(output)) {
    write_tokens_page(cut, output);
  } else if (Picture::is_name(output)) {
    draw_cut(cut, output);
  } else if (!output.empty()) {
    write_tsv(cut, output);
  } else if (json || jsonl) {
    print_json(cut, jsonl);
  } else {
    print(cut, options.table);
  }
}

}  // namespace

cli::Verb verbs::tokens() {
  return cli::make_verb<TokensOptions>(
      {.summary = "Shows how a text is cut into tokens.",
       .synopsis = {"TOKENIZER [FILE|TEXT] [--table] [-o x.html|x.svg|x.tsv] [--json|--jsonl]",
                    "TOKENIZER FILE --loss[=TEXT] [--jsonl]"},
       .operands = {{"TOKENIZER", "a tokenizer, token or model file, or a foreign tokenizer that tokenize -t takes", 1,
                     1},
                    {"TEXT", "a text, or a file; none or - is standard input", 0, 1}}},
      heddle::tokens);
}

}  // namespace heddle
