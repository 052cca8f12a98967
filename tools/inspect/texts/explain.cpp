// inspect explain: what each word of a text contributes to what a model answers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "libcore/base/printable.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/version.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/drawing/terminal.hpp"
#include "tools/inspect/answer.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/model_fields.hpp"
#include "tools/inspect/page_parts.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/explanation.hpp"
#include "tools/inspect/texts/explanation_picture.hpp"
#include "tools/inspect/texts/given_texts.hpp"
#include "tools/inspect/texts/interlinear.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/escaped.hpp"

namespace heddle {

namespace {

using formats::Json;

struct ExplainOptions : Answer {
  GivenTexts given;
  ExplainWanted wanted;
  std::string base;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    GivenTexts::visit(self.given, visitor);
    visitor(Field("method",
                  "for networks: integrated gradients (auto), the gradient times the input, or the change if each word "
                  "in turn is left out; contributions of a bag of words are exact")
                .essential(),
            self.wanted.method);
    visitor(Field("class", "the class or tag to explain instead of the predicted one; all means each of them")
                .not_empty()
                .takes("TEXT")
                .essential(),
            self.wanted.label);
    visitor(Field("place",
                  "number, from 1, of the word whose tag is explained, or of the token that the model predicts; all "
                  "means each")
                .range(1)
                .word(0, "all")
                .takes("N")
                .essential(),
            self.wanted.place);
    visitor(base_field(), self.base);
    Answer::visit(self, visitor, "an interactive page .html, a picture .svg, .png or .pdf, or a table .tsv");
  }
};

std::string sentence_of(const Explainer& explainer) {
  if (explainer.method == "exact") return "exact contributions";
  if (explainer.method == "gradient") return "gradient times input";
  return explainer.method == "integrated" ? "integrated gradients" : "the change where a word is left out";
}

// "tag of Paris: LOC, logit 3.21, probability 0.98"
std::string title_of(const ExplainedAnswer& answer, const Explainer& explainer) {
  std::string title = printable(answer.name);
  if (!answer.of.empty()) title = concatenate("word ", answer.place, ", ", printable(answer.of), ": ", title);
  if (answer.of.empty() && answer.place > 0) title = concatenate("token ", answer.place, ", ", label_of(answer.name));
  title += fmt::format("  {} {:.4g}", explainer.value, answer.contributions.value);
  if (answer.probability) title += fmt::format(", probability {:.3g}", *answer.probability);
  return title;
}

// Darker is a larger part of the largest: orange for the answer, blue against it.
int colour_of(double contribution, double largest) {
  static constexpr std::array<int, 4> supports{223, 216, 209, 203}, opposes{189, 153, 111, 75};
  const double part = largest > 0 ? std::abs(contribution) / largest : 0;
  if (part < 0.1) return Interlinear::no_colour;
  const auto shade = static_cast<std::size_t>(std::min(3.0, std::floor(4 * part)));
  return (contribution > 0 ? supports : opposes)[shade];
}

void print_answer(const Explanation& explanation, const ExplainedAnswer& answer, const Explainer& explainer) {
  std::cout << title_of(answer, explainer) << "\n\n";
  const analysis::Contributions& found = answer.contributions;
  double largest = 0;
  for (const double word : found.words) largest = std::max(largest, std::abs(word));
  Interlinear lines(has_colours());
  for (std::size_t w = 0; w < found.words.size(); ++w) {
    const bool ends_text =
        w + 1 < explanation.words.size() && explanation.words[w + 1].is_second && !explanation.words[w].is_second;
    lines.add(label_of(explanation.words[w].text), fmt::format("{:.2f}", found.words[w]),
              colour_of(found.words[w], largest), ends_text);
  }
  std::cout << lines.text();
  if (found.base) {
    const double sum = std::accumulate(found.words.begin(), found.words.end(), 0.0);
    std::cout << fmt::format("{} without the words {:.4g}, with them {:+.4g}", explainer.value, *found.base, sum);
    if (found.steps > 0) std::cout << fmt::format("; {} steps leave {:.2g}", found.steps, found.gap);
    std::cout << "\n\n";
  }
}

void print(const std::vector<Explanation>& explanations, const Explainer& explainer) {
  std::cout << sentence_of(explainer) << "\n";
  for (const Explanation& explanation : explanations) {
    if (!explanation.target.empty()) std::cout << printable(explanation.target) << "\n";
    for (const ExplainedAnswer& answer : explanation.answers) print_answer(explanation, answer, explainer);
  }
}

Json answer_json(const ExplainedAnswer& answer) {
  const analysis::Contributions& found = answer.contributions;
  Json json{{"answer", answer.name}, {"value", found.value}, {"contributions", found.words}};
  if (answer.place > 0) json["place"] = answer.place;
  if (!answer.of.empty()) json["of"] = answer.of;
  if (answer.probability) json["probability"] = *answer.probability;
  if (found.base) json["base"] = *found.base;
  if (found.steps > 0) json.update({{"steps", found.steps}, {"gap", found.gap}});
  return json;
}

Json explanation_json(const Explanation& explanation) {
  Json words = Json::array(), answers = Json::array();
  for (const ExplainedWord& word : explanation.words) words.push_back(word.text);
  for (const ExplainedAnswer& answer : explanation.answers) answers.push_back(answer_json(answer));
  Json json{{"words", words}, {"answers", answers}};
  if (!explanation.target.empty()) json["target"] = explanation.target;
  return json;
}

void print_json(const std::vector<Explanation>& explanations, const Explainer& explainer) {
  Json texts = Json::array();
  for (const Explanation& explanation : explanations) texts.push_back(explanation_json(explanation));
  std::cout << dump({{"method", explainer.method}, {"value", explainer.value}, {"texts", texts}});
}

// A row for each word and answer; one without a word has the value without the words.
void write_table(const std::vector<Explanation>& explanations, const std::string& path) {
  cli::Output output(path);
  std::ostream& out = output.stream();
  out << "text_number\tplace\tanswer\tvalue\tword_number\tword\tcontribution\n";
  for (std::size_t t = 0; t < explanations.size(); ++t) {
    for (const ExplainedAnswer& answer : explanations[t].answers) {
      const analysis::Contributions& found = answer.contributions;
      const std::string start =
          fmt::format("{}\t{}\t{}\t{}\t", t + 1, answer.place > 0 ? std::to_string(answer.place) : "",
                      escaped_field(answer.name), found.value);
      if (found.base) out << start << "\t\t" << fmt::format("{}\n", *found.base);
      for (std::size_t w = 0; w < found.words.size(); ++w) {
        out << start << w + 1 << '\t' << escaped_field(explanations[t].words[w].text) << '\t'
            << fmt::format("{}\n", found.words[w]);
      }
    }
  }
  output.close();
}

Json page_text(const Explanation& explanation) {
  Json words = Json::array(), answers = Json::array();
  for (const ExplainedWord& word : explanation.words) {
    words.push_back({printable_lines(word.gap), printable_lines(word.text), word.is_second});
  }
  for (const ExplainedAnswer& answer : explanation.answers) {
    Json json = answer_json(answer);
    json["answer"] = label_of(answer.name);
    if (!answer.of.empty()) json["of"] = printable(answer.of);
    answers.push_back(std::move(json));
  }
  return {{"words", words},
          {"end", printable_lines(explanation.end)},
          {"target", printable_lines(explanation.target)},
          {"answers", answers}};
}

void write_explain_page(const std::vector<Explanation>& explanations, const Explainer& explainer,
                        const std::string& model, const std::string& path) {
  std::size_t numbers = 0;
  Json texts = Json::array();
  for (const Explanation& explanation : explanations) {
    numbers += explanation.words.size() * explanation.answers.size();
    texts.push_back(page_text(explanation));
  }
  check_fits_page(numbers, path);
  write_page(path, "Why " + printable(model) + " answers", explain_parts(),
             {{"generator", "heddle " + cli::version()},
              {"name", printable(model)},
              {"method", sentence_of(explainer)},
              {"sums", explainer.method == "exact" || explainer.method == "integrated"},
              {"value", explainer.value},
              {"texts", texts}});
}

// The largest part of a difference that integrated gradients leave, if it is more than they should.
std::optional<double> largest_gap(const std::vector<Explanation>& explanations) {
  double largest = 0;
  for (const Explanation& explanation : explanations) {
    for (const ExplainedAnswer& answer : explanation.answers) {
      const analysis::Contributions& found = answer.contributions;
      if (found.steps == 0) continue;
      largest = std::max(largest, std::abs(found.gap) / std::max(1.0, std::abs(found.value - *found.base)));
    }
  }
  return largest > analysis::explained_gap ? std::optional(largest) : std::nullopt;
}

void explain_texts(const cli::Arguments& arguments, const ExplainOptions& options) {
  const std::string &path = options.output, model = arguments.operand("MODEL");
  options.check("explanations", {".html", ".svg", ".png", ".pdf", ".tsv"});
  cli::protect_inputs({options.base}, {path}, arguments);
  const Explainer explainer = heddle::explainer(model, options.base, options.wanted);
  GivenTexts given = options.given;
  if (explainer.reads_lines) given.documents = TextOf::line;
  const std::vector<InputText> texts = read_texts(arguments, "TEXT", given);
  check<UsageError>(!Picture::is_name(path) || texts.size() == 1, path, ": a picture shows one text, and there are ",
                    texts.size());
  std::vector<Explanation> explanations;
  for (const InputText& text : texts) explanations.push_back(explainer.explain(text));
  if (const auto gap = largest_gap(explanations)) {
    arguments.warn(
        fmt::format("{}: integrated gradients leave {:.2g} of a difference: the model's answer changes in "
                    "leaps, as of int8 models; --method leave-out needs no derivatives",
                    model, *gap));
  }
  if (is_page_name(path)) {
    write_explain_page(explanations, explainer, model, path);
  } else if (path.ends_with(".tsv")) {
    write_table(explanations, path);
  } else if (!path.empty()) {
    draw_explanation(path, explanations.front(), explainer.value + ", " + sentence_of(explainer));
  } else if (options.json) {
    print_json(explanations, explainer);
  } else {
    print(explanations, explainer);
  }
}

}  // namespace

cli::Verb verbs::explain() {
  return cli::make_verb<ExplainOptions>(
      {.summary = "Shows what each word of a text contributes to what a model answers.",
       .synopsis = {"MODEL [FILE|TEXT] [--method WHICH] [--class TEXT] [--place N] [-o FILE] [--json]"},
       .operands = {{"MODEL",
                     "a fine-tuned model that labels texts or words or predicts numbers, a model that predicts next "
                     "tokens, or one that translates; or an adapter",
                     1, 1},
                    {"TEXT", "a text, or a file; none or - is standard input", 0, 1}}},
      explain_texts);
}

}  // namespace heddle
