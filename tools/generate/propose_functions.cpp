#include "tools/generate/propose_functions.hpp"

#include <iostream>
#include <tuple>

#include "libcore/base/printable.hpp"
#include "libcore/parallel/divided.hpp"
#include "tools/generate/translate_texts.hpp"
#include "tools/lines/answer_texts.hpp"
#include "tools/lines/json_line.hpp"
#include "tools/symbolic/judge.hpp"

namespace heddle {

namespace {

// Ten candidates unless the options say how many, and all that are found.
GenerateOptions with_candidates(GenerateOptions options, const cli::Arguments& arguments) {
  constexpr Index usual = 10;
  if (options.search.beam == 0 && !arguments.given("num_samples")) options.search.beam = usual;
  if (options.search.beam > 0 && !arguments.given("n_best")) options.search.n_best = options.search.beam;
  return options;
}

class FunctionProposer {
 public:
  FunctionProposer(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                   const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out)
      : options_(options),
        translator_(model, loaded, options, arguments, out),
        judge_(arguments, {.claim = options.verify}),
        out_(out) {}

  struct Item {
    LyapunovLine line;
    std::string unreadable;         // why it is no system
    TextTranslator::Source source;  // blank if there is none
  };
  Index batch_size() const { return translator_.batch_size(); }

  // Throws DataError for a system that is longer than the model reads.
  Item make(const InputText& input) {
    Item item{{.number = std::max<Index>(1, input.line), .system = input.text, .functions = {}, .of_a_model = true},
              "",
              translator_.make({"", input.file, input.line})};
    InputText tokens = input;
    try {
      check_equilibrium(read_any_system(input.text));
      tokens.text = system_tokens(input.text);
    } catch (const DataError& error) {
      item.unreadable = error.what();
      return item;
    }
    item.source = translator_.make(tokens);
    return item;
  }

  void answer(const std::vector<Item>& items) {
    std::vector<TextTranslator::Source> sources;
    for (const Item& item : items) sources.push_back(item.source);
    const std::vector<std::vector<std::string>> candidates = translator_.candidates(sources);
    std::vector<Judged> judged(items.size());
    const parallel::Group& group = parallel::dividing();
    std::vector<std::size_t> own;
    for (auto i = static_cast<std::size_t>(group.rank()); i < items.size(); i += static_cast<std::size_t>(group.size()))
      own.push_back(i);
    complete(group, judged, own, [&] {
      for (const std::size_t i : own) judged[i] = judge(items[i], candidates[i]);
    });
    for (const Judged& one : judged) {
      ++systems_;
      certified_ += one.is_certified ? 1 : 0;
      out_ << one.text << '\n';
    }
    out_.flush();
  }

  int status() const { return certified_ == systems_ ? 0 : 1; }
  void report(const cli::Arguments& arguments) const {
    translator_.report();
    if (systems_ > 1)
      arguments.say(
          concatenate(certified_, " of ", counted(systems_, "system", "systems"), " have a certified function"));
  }

 private:
  // Printed results of a system.
  struct Judged {
    std::string text;
    bool is_certified = false;
    auto parts() { return std::tie(text, is_certified); }
    auto parts() const { return std::tie(text, is_certified); }
  };

  Judged judge(const Item& item, const std::vector<std::string>& candidates) const {
    LyapunovAnswer answer;
    answer.number = item.line.number;
    answer.system = item.line.system;
    answer.unreadable = item.unreadable;
    if (item.unreadable.empty()) {
      LyapunovLine line = item.line;
      line.functions = candidates;
      answer = judge_.answer(line);
    }
    if (options_.jsonl) return {json_line(answer_json(answer)), answer.is_certified()};
    if (answer.is_certified()) return {answer.function, true};
    if (!item.unreadable.empty()) return {concatenate("none found: ", printable(item.unreadable)), false};
    const auto count = std::ssize(candidates);
    return {concatenate("none found: of ", counted(count, "candidate", "candidates"), " ", answer.refuted, " refuted, ",
                        count - answer.refuted - answer.unread, " not proved, ", answer.unread, " no expression"),
            false};
  }

  const GenerateOptions options_;
  TextTranslator translator_;
  LyapunovJudge judge_;
  std::ostream& out_;
  Index systems_ = 0, certified_ = 0;
};

}  // namespace

int propose_functions(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                      const GenerateOptions& given, const std::string& file, const cli::Arguments& arguments) {
  const GenerateOptions options = with_candidates(given, arguments);
  cli::Output output(options.output);
  FunctionProposer proposer(model, loaded, options, arguments, output.stream());
  if (arguments.given("prompt")) {
    const auto item = proposer.make({options.prompt, "--prompt", 0});
    check<DataError>(item.unreadable.empty(), "--prompt: ", item.unreadable);
    proposer.answer({item});
  } else {
    answer_texts(
        arguments.open_text(file), {.texts = proposer.batch_size() * parallel::dividing().size()},
        [&](const InputText& text) { return proposer.make(text); }, [&](const auto& batch) { proposer.answer(batch); });
  }
  output.close();
  proposer.report(arguments);
  return proposer.status();
}

}  // namespace heddle
