#include "tools/inspect/symbolic/lyapunov_answers.hpp"

#include <filesystem>
#include <iostream>
#include <unordered_set>

#include "formats/files/atomic_file.hpp"
#include "formats/symbolic/certificate_file.hpp"
#include "formats/symbolic/csdp.hpp"
#include "libcore/base/printable.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/symbolic/portrait.hpp"
#include "tools/symbolic/judge.hpp"

namespace heddle {

namespace {

using symbolic::System;
using symbolic::Tree;
using symbolic::Verdict;

// Counts of what came out, for people.
struct LyapunovCounts {
  Index systems = 0, certified = 0, unrefuted = 0, refuted = 0, unreadable = 0, without = 0;

  void add(const LyapunovAnswer& answer) {
    ++systems;
    const Verdict verdict = answer.judgement.verdict;
    ++(!answer.unreadable.empty()      ? unreadable
       : answer.function.empty()       ? without
       : verdict == Verdict::certified ? certified
       : verdict == Verdict::unrefuted ? unrefuted
                                       : refuted);
  }
  std::string text() const {
    return concatenate(systems, " systems: ", certified, " certified, ", unrefuted, " unrefuted, ", refuted, " refuted",
                       without > 0 ? concatenate(", ", without, " without a candidate") : "",
                       unreadable > 0 ? concatenate(", ", unreadable, " unreadable") : "", "\n");
  }
};

class LyapunovOutput {
 public:
  LyapunovOutput(const cli::Arguments& arguments, const LyapunovOptions& options, bool has_lines)
      : arguments_(arguments), options_(options), has_lines_(has_lines) {
    if (!options.output.empty()) file_.emplace(options.output);
  }

  void add(const LyapunovAnswer& answer) {
    counts_.add(answer);
    if (file_ && answer.judgement.certificate) file_->write(formats::certificate_json(*answer.judgement.certificate));
    if (options_.jsonl) {
      std::cout << json_line(answer_json(answer)) << std::endl;
    } else if (options_.json) {
      list_.push_back(answer_json(answer));
    } else if (has_lines_) {
      std::cout << answer.number << '\t' << answer.verdict() << '\t' << printable(answer.evidence()) << '\t'
                << answer.function << '\n';
    } else {
      print_one(answer);
    }
  }

  // Returns the exit status.
  int finish() {
    if (options_.json) std::cout << dump({{"systems", std::move(list_)}});
    if (has_lines_ && !options_.json && !options_.jsonl) std::cout << counts_.text();
    if (file_ && counts_.certified > 0) file_->commit();
    if (file_ && counts_.certified == 0)
      arguments_.say(concatenate(options_.output, ": not written, since nothing was certified"));
    return counts_.certified == counts_.systems ? 0 : 1;
  }

 private:
  void print_one(const LyapunovAnswer& answer) const {
    if (answer.function.empty()) {
      std::cout << "none found\n";
      return;
    }
    std::cout << answer.verdict() << ": " << answer.evidence() << '\n';
    std::cout << "V = " << answer.function << '\n';
    if (answer.judgement.verdict != Verdict::certified) std::cout << "none found; " << answer.refuted << " refuted\n";
  }

  const cli::Arguments& arguments_;
  const LyapunovOptions& options_;
  bool has_lines_;
  std::optional<formats::AtomicFile> file_;
  formats::Json list_ = formats::Json::array();
  LyapunovCounts counts_;
};

LyapunovLine parsed_line(std::string_view text, Index number) {
  if (text.starts_with("1|")) text.remove_prefix(2);
  LyapunovLine line{.number = number, .system = std::string(text.substr(0, text.find('\t'))), .functions = {}};
  while (text.find('\t') != text.npos) {
    text.remove_prefix(text.find('\t') + 1);
    line.functions.emplace_back(text.substr(0, text.find('\t')));
  }
  return line;
}

int answer_lines(cli::Input input, const LyapunovJudge& judge, const LyapunovOptions& options,
                 const cli::Arguments& arguments) {
  check<UsageError>(options.function.empty(),
                    "--function is for a system on the command line; a file has candidates after tabs");
  LyapunovOutput output(arguments, options, true);
  cli::LineReader reader(input);
  while (const auto text = reader.next()) {
    if (text->text.find_first_not_of(" \t\r") == text->text.npos) continue;
    const LyapunovLine line = parsed_line(text->text, reader.number());
    try {
      output.add(judge.answer(line));
    } catch (const DataError& error) {
      LyapunovAnswer answer;
      answer.number = line.number;
      answer.system = line.system;
      answer.unreadable = error.what();
      output.add(answer);
    }
  }
  return output.finish();
}

// Draws the function that the answer is about.
void draw_portrait_of(const LyapunovAnswer& answer, const LyapunovOptions& options) {
  check<DataError>(!answer.function.empty(), "no candidate for V was found, so no picture is drawn");
  const System system = symbolic::read_system(answer.system);
  const Tree function = symbolic::read_infix(answer.function, system.names);
  draw_portrait(options.portrait, system, function, options.reach,
                answer.system + ";  V = " + answer.function + ":  " + verdict_text(answer.judgement.verdict));
}

// Prints the tokens of a system, or of each line of a file.
int print_tokens(const std::string& operand, bool has_lines) {
  if (!has_lines) {
    std::cout << system_tokens(operand) << '\n';
    return 0;
  }
  cli::Input input(operand);
  cli::LineReader reader(input);
  while (const auto text = reader.next()) {
    if (text->text.find_first_not_of(" \t\r") == text->text.npos) continue;
    try {
      std::cout << system_tokens(parsed_line(text->text, reader.number()).system) << '\n';
    } catch (const DataError& error) {
      throw DataError(concatenate(input.name(), ":", reader.number(), ": ", error.what()));
    }
  }
  return 0;
}

int generate_pairs(const cli::Arguments& arguments, const LyapunovOptions& options) {
  const auto seed = static_cast<std::uint64_t>(arguments.common().seed);
  std::optional<formats::AtomicFile> file;
  if (!options.output.empty()) file.emplace(options.output);
  const bool is_backward = options.generate == "backward";
  const std::string csdp = is_backward ? "" : formats::find_csdp();
  const symbolic::BackwardGenerator backward(options.pairs, seed);
  std::optional<symbolic::ForwardGenerator> forward;
  if (!is_backward)
    forward.emplace(options.pairs, seed,
                    csdp.empty() ? symbolic::SemidefiniteSolver() : formats::csdp_solver(csdp, options.solver_seconds));
  std::unordered_set<std::string> seen;
  Index repeated = 0;
  for (std::uint64_t number = 0; static_cast<Index>(seen.size()) < options.count; ++number) {
    const auto pair = is_backward ? backward.pair(number) : forward->pair(number);
    std::string source = pair ? prefix(pair->system) : "";
    if (!pair || !seen.insert(source).second) {
      check<DataError>(++repeated < 10'000 + options.count, "after ", seen.size(),
                       " pairs nearly all are repeated or none is found; let pairs be larger, or fewer");
      continue;
    }
    source += '\t' + prefix(pair->function) + '\n';
    if (file) {
      file->write(source);
    } else {
      std::cout << source;
    }
  }
  if (file) file->commit();
  return 0;
}

}  // namespace

int answer_lyapunov(const cli::Arguments& arguments, const LyapunovOptions& options) {
  check_forms(options.json, options.jsonl);
  const std::string operand = arguments.operand("SYSTEM");
  cli::protect_inputs({}, {options.output, options.portrait}, arguments);
  check<UsageError>(options.portrait.empty() || Picture::is_name(options.portrait), options.portrait,
                    ": pictures are .svg, .png or .pdf files");
  if (!options.generate.empty()) {
    check<UsageError>(
        operand.empty() && options.propose == 0 && options.function.empty() && !options.json && !options.jsonl,
        "--generate prints pairs; leave out the system, --function, --propose, --json and --jsonl");
    refuse({"claim", "box", "samples", "portrait", "tokens"}, arguments,
           " has no effect with --generate; leave it out");
    if (options.generate == "forward") refuse({"functions", "squares"}, arguments, ": is for backward pairs");
    return generate_pairs(arguments, options);
  }
  check<UsageError>(!operand.empty() || options.function.empty(), "--function is for a system; give one");
  check<UsageError>(!operand.empty(), "no system; give one, a file of them, or - for standard input");
  check<UsageError>(options.propose % 2 == 0, "--propose ", options.propose, ": V has an even degree");
  std::error_code ignored;
  const bool has_lines = operand == "-" || std::filesystem::exists(operand, ignored);
  check<DataError>(has_lines || is_prefix_system(operand) || operand.find('=') != operand.npos, operand,
                   ": there is no such file, and a system has equations, such as x' = -x + y; y' = -y");
  if (options.tokens) {
    refuse({"function", "propose", "claim", "box", "samples", "portrait", "output", "json", "jsonl"}, arguments,
           " has no effect with --tokens, which judges nothing; leave it out");
    return print_tokens(operand, has_lines);
  }
  const LyapunovJudge judge(arguments, {.claim = options.claim,
                                        .propose = options.propose,
                                        .samples = options.samples,
                                        .solver_seconds = options.solver_seconds,
                                        .box = options.box});
  check<UsageError>(!has_lines || options.portrait.empty(), "--portrait is for a system on the command line");
  if (has_lines) return answer_lines(cli::Input(operand), judge, options, arguments);
  check<UsageError>(!options.function.empty() || options.propose > 0,
                    "give --function, a candidate for V, or --propose, the degree up to which one is sought");
  LyapunovOutput output(arguments, options, false);
  const LyapunovAnswer answer = judge.answer({.number = 1, .system = operand, .functions = options.function});
  check<DataError>(answer.unreadable.empty(), answer.unreadable);
  if (!options.portrait.empty()) draw_portrait_of(answer, options);
  output.add(answer);
  return output.finish();
}

}  // namespace heddle
