// inspect surprise: how probable each token of a text is under a model.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <numbers>

#include "formats/heddle/task_file.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/interlinear.hpp"
#include "tools/inspect/texts/token_picture.hpp"
#include "tools/inspect/texts/token_scores.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

using decoding::TokenPrediction;
using formats::Json;

struct SurpriseOptions {
  GivenTexts given;
  Index top = 5;
  bool table = false;
  data::Overlong overlong = data::Overlong::error;
  std::string base;
  TokenAnswer answer;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GivenTexts::visit(self.given, visitor);
    visitor(Field("top", "how many of the most probable tokens to show in each token's place")
                .range(0, 1000)
                .takes("K")
                .essential(),
            self.top);
    visitor(Field("table", "print a table of the tokens: surprise, probability, rank, and more probable tokens")
                .essential(),
            self.table);
    visitor(Field("overlong",
                  "texts longer than the context: report an error, truncate them, or read them in overlapping parts")
                .essential(),
            self.overlong);
    visitor(base_field(), self.base);
    TokenAnswer::visit(self.answer, visitor);
  }
};

double bits(double nats) {
  return nats / std::numbers::ln2;
}
double surprise(const TokenPrediction& prediction) {
  return bits(-prediction.log_probability);
}

std::string shown(const CutToken& token, const text::Tokenizer& tokenizer) {
  const std::string label = label_of(token);
  return label.empty() ? printable(tokenizer.piece(token.id)) : label;
}

std::string number_of(const TokenPrediction* prediction) {
  return prediction == nullptr ? "-" : fmt::format("{:.1f}", surprise(*prediction));
}

// From 1 bit on; darker is more surprising.
int shade_of(const TokenPrediction* prediction) {
  static constexpr std::pair<double, int> shades[] = {{10, 203}, {6, 209}, {3, 216}, {1, 223}};
  for (const auto& [least, colour] : shades) {
    if (prediction != nullptr && surprise(*prediction) >= least) return colour;
  }
  return Interlinear::no_colour;
}

std::string interlinear(const ScoredCut& text, const text::Tokenizer& tokenizer, bool colours) {
  Interlinear lines(colours);
  for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
    const CutToken& token = text.cut.tokens[i];
    const TokenPrediction* const prediction = text.prediction(i);
    lines.add(shown(token, tokenizer), number_of(prediction), shade_of(prediction), token.text.ends_with('\n'));
  }
  return lines.text();
}

// "the 0.31  a 0.12", as far as they fit the columns.
std::string alternatives(const TokenPrediction& prediction, const text::Tokenizer& tokenizer, std::size_t columns) {
  std::string result;
  for (const auto& [id, probability] : prediction.top) {
    const std::string piece = shortened(printable(tokenizer.piece(id)), 16);
    const std::string one = (result.empty() ? "" : "  ") + fmt::format("{} {:.2g}", piece, probability);
    if (display_width(result) + display_width(one) > columns) break;
    result += one;
  }
  return result;
}

std::string table_of(const ScoredCut& text, const text::Tokenizer& tokenizer) {
  constexpr std::size_t widest = 24, widest_list = 38;
  std::vector<std::vector<std::string>> rows{{"", "piece", "bits", "probability", "rank", "most probable"}};
  for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
    const TokenPrediction* const prediction = text.prediction(i);
    const std::string piece = printable(tokenizer.piece(text.cut.tokens[i].id));
    rows.push_back({std::to_string(i), shortened(piece, widest), number_of(prediction)});
    if (prediction == nullptr) {
      rows.back().insert(rows.back().end(), 3, "");
      continue;
    }
    rows.back().push_back(fmt::format("{:.3g}", std::exp(prediction->log_probability)));
    rows.back().push_back(grouped(prediction->rank));
    rows.back().push_back(alternatives(*prediction, tokenizer, widest_list));
  }
  return text_table(rows, "rlrrrl");
}

void print_totals(const Scored& scored) {
  const Totals totals = scored.totals();
  const auto line = [](std::string_view name, double value) {
    std::cout << fmt::format("{:<17} {:.6g}\n", name, value);
  };
  std::cout << fmt::format("{:<17} {}\n", "probabilities of", scored.likelihood.sentence);
  std::cout << fmt::format("{:<17} {}\n", "tokens", grouped(totals.tokens));
  line("bits", bits(totals.nats));
  line("nats per token", totals.nats_per_token());
  line(scored.likelihood.is_pseudo ? "pseudo-perplexity" : "perplexity", totals.perplexity());
  if (totals.bytes > 0) line("bits per byte", totals.bits_per_byte());
}

void print(const Scored& scored, bool table) {
  const bool colours = !table && has_colours();
  for (const ScoredCut& text : scored.texts) {
    std::cout << (table ? table_of(text, scored.tokenizer) + "\n" : interlinear(text, scored.tokenizer, colours));
  }
  print_totals(scored);
}

Json likelihood_json(const Totals& totals, const Likelihood& likelihood) {
  Json json{{"log_likelihood", -totals.nats},
            {"tokens", totals.tokens},
            {"nats_per_token", totals.nats_per_token()},
            {likelihood.is_pseudo ? "pseudo_perplexity" : "perplexity", totals.perplexity()}};
  if (totals.bytes > 0) json["bits_per_byte"] = totals.bits_per_byte();
  return json;
}

Json top_of(const TokenPrediction& prediction, const text::Tokenizer& tokenizer) {
  Json top = Json::array();
  for (const auto& [id, probability] : prediction.top) {
    top.push_back({{"id", id}, {"piece", tokenizer.piece(id)}, {"probability", probability}});
  }
  return top;
}

// Tokens that were not scored have only what they are.
Json scored_text_json(const ScoredCut& text, const Scored& scored) {
  Json tokens = Json::array();
  for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
    Json token = as_json(text.cut.tokens[i], scored.tokenizer);
    if (const TokenPrediction* const prediction = text.prediction(i)) {
      token["log_probability"] = prediction->log_probability;
      token["surprise"] = surprise(*prediction);
      token["rank"] = prediction->rank;
      token["entropy"] = bits(prediction->entropy);
      token["top"] = top_of(*prediction, scored.tokenizer);
    }
    tokens.push_back(std::move(token));
  }
  Json json{{"text", text.cut.text}};
  if (scored.likelihood.has_source) json["source"] = text.source;
  json.update(likelihood_json(text.totals(), scored.likelihood));
  json["probabilities_of"] = scored.likelihood.name;
  json["scores"] = std::move(tokens);
  return json;
}

void print_json(const Scored& scored, bool lines) {
  Json texts = json_list(scored.texts, lines, [&](const ScoredCut& text) { return scored_text_json(text, scored); });
  if (lines) return;
  Json json{{"probabilities_of", scored.likelihood.name}};
  json.update(likelihood_json(scored.totals(), scored.likelihood));
  json["texts"] = std::move(texts);
  std::cout << dump(json);
}

void write_tsv(const Scored& scored, const std::string& path) {
  cli::Output output(path);
  std::ostream& out = output.stream();
  out << "text_number\ttoken\tid\tpiece\tbegin\tend\tlog_probability\tsurprise\trank\tentropy\ttop\n";
  for (std::size_t number = 0; number < scored.texts.size(); ++number) {
    const ScoredCut& text = scored.texts[number];
    for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
      const CutToken& token = text.cut.tokens[i];
      out << number << '\t' << i << '\t' << token.id << '\t' << escaped_field(scored.tokenizer.piece(token.id)) << '\t';
      if (token.bytes) out << token.bytes->begin << '\t' << token.bytes->end << '\t';
      if (!token.bytes) out << "\t\t";
      const TokenPrediction* const prediction = text.prediction(i);
      if (prediction == nullptr) {
        out << "\t\t\t\t\n";
        continue;
      }
      out << fmt::format("{}\t{}\t{}\t{}\t", prediction->log_probability, surprise(*prediction), prediction->rank,
                         bits(prediction->entropy));
      for (std::size_t k = 0; k < prediction->top.size(); ++k) {
        const auto& [id, probability] = prediction->top[k];
        out << (k == 0 ? "" : " ") << fmt::format("{}:{:.6g}", escaped_field(scored.tokenizer.piece(id)), probability);
      }
      out << '\n';
    }
  }
  output.close();
}

// The predictions of a text for tokens.js, as lists over its tokens; null for those that were not scored.
Json scores_for_page(const ScoredCut& text, const text::Tokenizer& tokenizer) {
  Json surprises = Json::array(), ranks = Json::array(), entropies = Json::array(), tops = Json::array();
  const auto rounded = [](double value) { return std::round(value * 1e4) / 1e4; };
  for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
    const TokenPrediction* const prediction = text.prediction(i);
    surprises.push_back(prediction == nullptr ? Json() : Json(rounded(surprise(*prediction))));
    ranks.push_back(prediction == nullptr ? Json() : Json(prediction->rank));
    entropies.push_back(prediction == nullptr ? Json() : Json(rounded(bits(prediction->entropy))));
    Json top = Json::array();
    for (std::size_t k = 0; prediction != nullptr && k < prediction->top.size(); ++k) {
      const auto& [id, probability] = prediction->top[k];
      top.push_back({printable(tokenizer.piece(id)), rounded(probability), id});
    }
    tops.push_back(std::move(top));
  }
  return {{"surprise", surprises}, {"rank", ranks}, {"entropy", entropies}, {"top", tops}};
}

void write_surprise_page(const Scored& scored, const std::string& path) {
  std::size_t tokens = 0;
  Json texts = Json::array();
  for (const ScoredCut& text : scored.texts) {
    tokens += text.cut.tokens.size();
    texts.push_back(page_data(text.cut, scored.tokenizer));
    texts.back().update(scores_for_page(text, scored.tokenizer));
    texts.back()["source"] = printable_lines(text.source);
  }
  check_fits_page(tokens, path);
  Json totals = likelihood_json(scored.totals(), scored.likelihood);
  totals["of"] = scored.likelihood.sentence;
  write_token_page(path, "Surprise of ", scored.name, scored.tokenizer, std::move(totals), std::move(texts));
}

// Shaded as in the page: 15 bits and more are the strongest.
void draw_surprise(const Scored& scored, const std::string& path) {
  std::vector<DrawnToken> tokens;
  for (const ScoredCut& text : scored.texts) {
    for (std::size_t i = 0; i < text.cut.tokens.size(); ++i) {
      const CutToken& token = text.cut.tokens[i];
      const TokenPrediction* const prediction = text.prediction(i);
      const double bits = prediction == nullptr ? 0 : surprise(*prediction);
      tokens.push_back({shown(token, scored.tokenizer), number_of(prediction), bits / 15, token.text.ends_with('\n'),
                        i == 0, std::max(0.0, bits)});
    }
  }
  draw_tokens(path, "surprise in bits under " + printable(scored.name), tokens);
}

void surprise_of_texts(const cli::Arguments& arguments, const SurpriseOptions& options) {
  const auto& [output, json, jsonl] = options.answer;
  options.answer.check_usage(options.table, "surprise is");
  const bool shows_top = options.table || json || jsonl || (!output.empty() && !Picture::is_name(output));
  check<UsageError>(shows_top || !arguments.given("top"),
                    "--top has no effect without --table, --json or --jsonl, or a page or table of -o; add one of them "
                    "or leave --top out");
  if (!output.empty()) cli::protect_inputs({options.base}, {output}, arguments);
  const formats::LoadedModel loaded = formats::load_language_model(arguments.operand("MODEL"), options.base);
  GivenTexts given = options.given;
  const bool pairs = loaded.model->as<models::SequenceToSequence>() != nullptr;
  check<UsageError>(!pairs || given.documents == TextOf::line || !arguments.given("documents"),
                    "--documents: this model scores pairs, which are lines SOURCE, tab, TARGET; leave it out");
  if (pairs) given.documents = TextOf::line;
  const Scored scored = score_texts(loaded, read_texts(arguments, "TEXT", given),
                                    {.top = options.top, .overlong = options.overlong}, arguments);
  check<DataError>(scored.totals().tokens > 0, "no token was scored: the text has none, or only the first one");
  if (is_page_name(output)) {
    write_surprise_page(scored, output);
  } else if (Picture::is_name(output)) {
    draw_surprise(scored, output);
  } else if (!output.empty()) {
    write_tsv(scored, output);
  } else if (json || jsonl) {
    print_json(scored, jsonl);
  } else {
    print(scored, options.table);
  }
}

}  // namespace

cli::Verb verbs::surprise() {
  return cli::make_verb<SurpriseOptions>(
      {.summary = "Shows how probable and how surprising each token of a text is under a model.",
       .synopsis = {"MODEL [FILE|TEXT] [--top K] [--table] [-o x.html|x.svg|x.tsv] [--json|--jsonl]"},
       .operands = {{"MODEL", "a model that predicts next tokens, masked tokens or target texts; or an adapter", 1, 1},
                    {"TEXT", "a text, or a file; none or - is standard input", 0, 1}}},
      surprise_of_texts);
}

}  // namespace heddle
