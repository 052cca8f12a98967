#include "tools/symbolic/judge.hpp"

#include <algorithm>
#include <iostream>

#include "formats/symbolic/certificate_file.hpp"
#include "formats/symbolic/csdp.hpp"
#include "libcore/symbolic/generators.hpp"
#include "libcore/symbolic/operators.hpp"

namespace heddle {

namespace {

using symbolic::Judgement;
using symbolic::System;
using symbolic::Tree;
using symbolic::Verdict;

template <class Read>
auto naming(const char* subject, const Read& read) {
  try {
    return read();
  } catch (const DataError& error) {
    throw DataError(concatenate(subject, ", ", error.what()));
  }
}

// As models write it, or as people do: infix, or prefix tokens, which are tried second unless it begins with one.
Tree read_candidate(const std::string& text, const System& system, bool of_a_model) {
  const auto n = static_cast<Index>(system.names.size());
  return naming("V", [&] {
    if (of_a_model || is_prefix_system(text)) return symbolic::read_prefix(text, n);
    try {
      return symbolic::read_infix(text, system.names);
    } catch (const DataError&) {
      const std::string first = text.substr(0, text.find(' '));
      if (std::ranges::find(symbolic::operator_names, first, &symbolic::OperatorName::token) ==
          std::end(symbolic::operator_names))
        throw;
      return symbolic::read_prefix(text, n);
    }
  });
}

symbolic::SemidefiniteSolver solver_of(const cli::Arguments& arguments, const JudgeSettings& settings) {
  const std::string path = formats::find_csdp();
  check<DataError>(!path.empty() || settings.propose == 0,
                   "--propose needs the program csdp, which is not on PATH; install coinor-csdp");
  if (path.empty() && !arguments.common().quiet)
    std::cerr << arguments.tool()
              << ": the program csdp is not on PATH (coinor-csdp); few functions can be proved without it\n";
  return path.empty() ? symbolic::SemidefiniteSolver() : formats::csdp_solver(path, settings.solver_seconds);
}

symbolic::VerifierSettings settings_of(const cli::Arguments& arguments, const JudgeSettings& settings) {
  using symbolic::Claim;
  const Claim claim = settings.claim == "nonnegative"  ? Claim::nonnegative
                      : settings.claim == "asymptotic" ? Claim::asymptotic
                      : settings.claim == "global"     ? Claim::global
                                                       : Claim::stable;
  return {.claim = claim,
          .samples = settings.samples,
          .descents = settings.samples > 0 ? 20 : 0,
          .seed = static_cast<std::uint64_t>(arguments.common().seed),
          .box = settings.box};
}

}  // namespace

bool is_prefix_system(std::string_view text) {
  return text.starts_with("INT") || text.starts_with("<SPECIAL");
}

System read_any_system(std::string_view text) {
  return naming("the system", [&] {
    return is_prefix_system(text) ? symbolic::read_prefix_system(text) : symbolic::read_system(text);
  });
}

void check_equilibrium(const System& system) {
  static_cast<void>(symbolic::LyapunovProblem(system, Tree()));
}

std::string system_tokens(std::string_view text) {
  System system = read_any_system(text);
  for (Tree& field : system.fields)
    if (const auto polynomial = polynomial_of(field, static_cast<Index>(system.names.size())))
      field = polynomial->tree();
  std::string tokens = prefix(system);
  naming("the system as tokens", [&] { return symbolic::read_prefix_system(tokens); });
  return tokens;
}

std::string LyapunovAnswer::verdict() const {
  if (!unreadable.empty()) return "unreadable";
  return function.empty() ? "none" : verdict_text(judgement.verdict);
}

formats::Json answer_json(const LyapunovAnswer& answer) {
  const Judgement& judgement = answer.judgement;
  formats::Json json{{"line", answer.number},
                     {"system", answer.system},
                     {"verdict", answer.verdict()},
                     {"evidence", answer.evidence()},
                     {"function", answer.function},
                     {"refuted_candidates", answer.refuted},
                     {"unreadable_candidates", answer.unread}};
  if (judgement.certificate)
    json["certificate"] = formats::Json::parse(formats::certificate_json(*judgement.certificate));
  return json;
}

LyapunovJudge::LyapunovJudge(const cli::Arguments& arguments, const JudgeSettings& settings)
    : settings_(settings),
      solver_(solver_of(arguments, settings)),
      verifier_(solver_, settings_of(arguments, settings)) {}

LyapunovAnswer LyapunovJudge::answer(const LyapunovLine& line) const {
  const System system = read_any_system(line.system);
  check_equilibrium(system);
  LyapunovAnswer best;
  best.number = line.number;
  best.system = infix(system);
  best.judgement.evidence = "no candidate";
  for (const std::string& text : line.functions) {
    try {
      if (consider(system, read_candidate(text, system, line.of_a_model), best)) return best;
    } catch (const DataError& error) {
      if (++best.unread == 1) best.why_unread = error.what();
    }
  }
  const bool is_unread = !line.of_a_model && best.function.empty() && best.unread > 0;
  for (Index degree = 2; degree <= settings_.propose; degree += 2)
    if (propose(system, degree / 2, best)) return best;
  if (is_unread && best.function.empty()) best.unreadable = best.why_unread;
  return best;
}

// Whether the function is certified; it replaces the best if it is nearer to that.
bool LyapunovJudge::consider(const System& system, const Tree& function, LyapunovAnswer& best) const {
  Judgement judgement = verifier_.judge({system, function});
  best.refuted += judgement.verdict == Verdict::refuted ? 1 : 0;
  if (best.function.empty() || judgement.verdict < best.judgement.verdict) {
    best.judgement = std::move(judgement);
    best.function = infix(function, system.names);
  }
  return best.is_certified();
}

bool LyapunovJudge::propose(const System& system, Index half_degree, LyapunovAnswer& best) const {
  for (const int bits : {3, 8, 20}) {
    const auto function = symbolic::proposed_function(system, half_degree, solver_, bits);
    if (!function) return false;
    if (!function->is_zero() && consider(system, primitive(*function).tree(), best)) return true;
  }
  return false;
}

}  // namespace heddle
