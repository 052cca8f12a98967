#include "tools/inspect/symbolic/lyapunov_answers.hpp"

#include <filesystem>
#include <iostream>
#include <unordered_set>

#include "formats/files/atomic_file.hpp"
#include "formats/symbolic/certificate_file.hpp"
#include "formats/symbolic/csdp.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/symbolic/verifier.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/symbolic/portrait.hpp"

namespace heddle {

namespace {

using symbolic::Judgement;
using symbolic::System;
using symbolic::Tree;
using symbolic::Verdict;

// A system and its candidates as they were given.
struct LyapunovLine {
  Index number;
  std::string system;
  std::vector<std::string> functions;
};

// What came out for a line.
struct LyapunovAnswer {
  Index number = 0;
  std::string system, function;  // infix; the function of the judgement
  std::string unreadable;        // why there is no judgement
  Judgement judgement;
  Index refuted = 0, unread = 0;  // of the candidates
};

bool is_prefix(std::string_view text) {
  return text.starts_with("INT") || text.starts_with("<SPECIAL");
}

// Of a system in infix a candidate may be prefix tokens all the same, as models print it: a sum, product, quotient or
// power.
bool is_prefix_function(std::string_view text) {
  return is_prefix(text) || (text.size() > 2 && text[1] == ' ' && std::string_view("+*/^").find(text[0]) != text.npos);
}

template <class Read>
auto naming(const char* what, const Read& read) {
  try {
    return read();
  } catch (const DataError& error) {
    throw DataError(concatenate(what, ", ", error.what()));
  }
}

class LyapunovJudge {
 public:
  LyapunovJudge(const cli::Arguments& arguments, const LyapunovOptions& options)
      : options_(options),
        solver_(solver_of(arguments, options)),
        verifier_(solver_, settings_of(arguments, options)) {}

  // The first candidate that is certified, else the one that is nearest to it. Throws DataError for a system that
  // cannot be read.
  LyapunovAnswer answer(const LyapunovLine& line) const {
    const bool has_prefix = is_prefix(line.system);
    const System system = naming("the system", [&] {
      return has_prefix ? symbolic::read_prefix_system(line.system) : symbolic::read_system(line.system);
    });
    LyapunovAnswer best{
        .number = line.number, .system = infix(system), .function = "", .unreadable = "", .judgement = {}};
    best.judgement.evidence = "no candidate";
    const auto n = static_cast<Index>(system.names.size());
    for (const std::string& text : line.functions) {
      try {
        const Tree function = naming("V", [&] {
          return has_prefix || is_prefix_function(text) ? symbolic::read_prefix(text, n)
                                                        : symbolic::read_infix(text, system.names);
        });
        if (consider(system, function, best)) return best;
      } catch (const DataError& error) {
        if (line.functions.size() == 1) throw;
        ++best.unread;
      }
    }
    for (Index degree = 2; degree <= options_.propose; degree += 2)
      if (propose(system, degree / 2, best)) return best;
    return best;
  }

 private:
  static symbolic::SemidefiniteSolver solver_of(const cli::Arguments& arguments, const LyapunovOptions& options) {
    const std::string path = formats::find_csdp();
    check<DataError>(!path.empty() || options.propose == 0,
                     "--propose needs the program csdp, which is not on PATH; install coinor-csdp");
    if (path.empty() && !arguments.common().quiet)
      std::cerr << arguments.tool()
                << ": the program csdp is not on PATH (coinor-csdp); few functions can be proved without it\n";
    return path.empty() ? symbolic::SemidefiniteSolver() : formats::csdp_solver(path, options.solver_seconds);
  }

  static symbolic::VerifierSettings settings_of(const cli::Arguments& arguments, const LyapunovOptions& options) {
    using symbolic::Claim;
    const Claim claim = options.claim == "nonnegative"  ? Claim::nonnegative
                        : options.claim == "asymptotic" ? Claim::asymptotic
                        : options.claim == "global"     ? Claim::global
                                                        : Claim::stable;
    return {.claim = claim,
            .samples = options.samples,
            .descents = options.samples > 0 ? 20 : 0,
            .seed = static_cast<std::uint64_t>(arguments.common().seed),
            .box = options.box};
  }

  // Whether the function is certified; it replaces the best if it is nearer to that.
  bool consider(const System& system, const Tree& function, LyapunovAnswer& best) const {
    Judgement judgement = verifier_.judge({system, function});
    best.refuted += judgement.verdict == Verdict::refuted ? 1 : 0;
    if (best.function.empty() || judgement.verdict < best.judgement.verdict) {
      best.judgement = std::move(judgement);
      best.function = infix(function, system.names);
    }
    return best.judgement.verdict == Verdict::certified;
  }

  bool propose(const System& system, Index half_degree, LyapunovAnswer& best) const {
    for (const int bits : {3, 8, 20}) {
      const auto function = symbolic::proposed_function(system, half_degree, solver_, bits);
      if (!function) return false;
      if (!function->is_zero() && consider(system, primitive(*function).tree(), best)) return true;
    }
    return false;
  }

  const LyapunovOptions& options_;
  symbolic::SemidefiniteSolver solver_;
  symbolic::Verifier verifier_;
};

formats::Json answer_json(const LyapunovAnswer& answer) {
  const Judgement& judgement = answer.judgement;
  const bool is_read = answer.unreadable.empty();
  formats::Json json{{"line", answer.number},
                     {"system", answer.system},
                     {"verdict", is_read ? verdict_text(judgement.verdict) : "unreadable"},
                     {"evidence", is_read ? judgement.evidence : answer.unreadable},
                     {"function", answer.function},
                     {"refuted_candidates", answer.refuted},
                     {"unreadable_candidates", answer.unread}};
  if (judgement.certificate)
    json["certificate"] = formats::Json::parse(formats::certificate_json(*judgement.certificate));
  return json;
}

// Counts of what came out, for people.
struct LyapunovCounts {
  Index systems = 0, certified = 0, unrefuted = 0, refuted = 0, unreadable = 0;

  void add(const LyapunovAnswer& answer) {
    ++systems;
    const Verdict verdict = answer.judgement.verdict;
    ++(!answer.unreadable.empty()      ? unreadable
       : verdict == Verdict::certified ? certified
       : verdict == Verdict::unrefuted ? unrefuted
                                       : refuted);
  }
  std::string text() const {
    return concatenate(systems, " systems: ", certified, " certified, ", unrefuted, " unrefuted, ", refuted, " refuted",
                       unreadable > 0 ? concatenate(", ", unreadable, " unreadable") : "", "\n");
  }
};

class LyapunovOutput {
 public:
  LyapunovOutput(const LyapunovOptions& options, bool has_lines) : options_(options), has_lines_(has_lines) {
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
      std::cout << answer.number << '\t'
                << (answer.unreadable.empty() ? verdict_text(answer.judgement.verdict) : "unreadable") << '\t'
                << printable(answer.unreadable.empty() ? answer.judgement.evidence : answer.unreadable) << '\t'
                << answer.function << '\n';
    } else {
      print_one(answer);
    }
  }

  // Returns the exit status.
  int finish() {
    if (options_.json) std::cout << dump({{"systems", std::move(list_)}});
    if (has_lines_ && !options_.json && !options_.jsonl) std::cout << counts_.text();
    if (file_) file_->commit();
    return counts_.certified == counts_.systems ? 0 : 1;
  }

 private:
  void print_one(const LyapunovAnswer& answer) const {
    std::cout << verdict_text(answer.judgement.verdict) << ": " << answer.judgement.evidence << '\n';
    if (answer.function.empty()) {
      std::cout << "none found\n";
      return;
    }
    std::cout << "V = " << answer.function << '\n';
    if (answer.judgement.verdict != Verdict::certified) std::cout << "none found; " << answer.refuted << " refuted\n";
  }

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

int answer_lines(cli::Input input, const LyapunovJudge& judge, const LyapunovOptions& options) {
  check<UsageError>(options.function.empty(),
                    "--function is for a system on the command line; a file has candidates after tabs");
  LyapunovOutput output(options, true);
  cli::LineReader reader(input);
  while (const auto text = reader.next()) {
    if (text->text.find_first_not_of(" \t\r") == text->text.npos) continue;
    const LyapunovLine line = parsed_line(text->text, reader.number());
    try {
      output.add(judge.answer(line));
    } catch (const DataError& error) {
      LyapunovAnswer answer;
      answer.number = line.number;
      answer.unreadable = error.what();
      output.add(answer);
    }
  }
  return output.finish();
}

// Of the function that the answer is of.
void draw_portrait_of(const LyapunovAnswer& answer, const LyapunovOptions& options) {
  check<DataError>(!answer.function.empty(), "no candidate for V was found, so that there is no picture");
  const System system = symbolic::read_system(answer.system);
  const Tree function = symbolic::read_infix(answer.function, system.names);
  draw_portrait(options.portrait, system, function, options.reach,
                answer.system + ";  V = " + answer.function + ":  " + verdict_text(answer.judgement.verdict));
}

// With polynomials expanded.
int print_tokens(const std::string& text) {
  System system = naming("the system", [&] { return symbolic::read_system(text); });
  for (Tree& field : system.fields)
    if (const auto polynomial = polynomial_of(field, static_cast<Index>(system.names.size())))
      field = polynomial->tree();
  std::cout << prefix(system) << '\n';
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
    return generate_pairs(arguments, options);
  }
  check<UsageError>(!operand.empty() || options.function.empty(), "--function is for a system; give one");
  check<UsageError>(!operand.empty(), "no system; give one, a file of them, or - for standard input");
  check<UsageError>(options.propose % 2 == 0, "--propose ", options.propose, ": V has an even degree");
  std::error_code ignored;
  const bool has_lines = operand == "-" || std::filesystem::exists(operand, ignored);
  check<DataError>(has_lines || is_prefix(operand) || operand.find('=') != operand.npos, operand,
                   ": there is no such file, and a system has equations, such as x' = -x + y; y' = -y");
  if (options.tokens) return print_tokens(operand);
  const LyapunovJudge judge(arguments, options);
  check<UsageError>(!has_lines || options.portrait.empty(), "--portrait is for a system on the command line");
  if (has_lines) return answer_lines(cli::Input(operand), judge, options);
  check<UsageError>(!options.function.empty() || options.propose > 0,
                    "give --function, a candidate for V, or --propose, the degree up to which one is sought");
  LyapunovOutput output(options, false);
  const LyapunovAnswer answer = judge.answer({.number = 1, .system = operand, .functions = options.function});
  if (!options.portrait.empty()) draw_portrait_of(answer, options);
  output.add(answer);
  return output.finish();
}

}  // namespace heddle
