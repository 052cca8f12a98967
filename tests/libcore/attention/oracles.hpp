// Oracles for every variant of variants.def, in plain loops over doubles, and the settings of their tests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "../ops/attention_cases.hpp"
#include "libcore/attention/attention.hpp"

namespace heddle::testing {

// A variant with whatever parameters it has.
struct Made {
  explicit Made(const std::string& text, HeadShape shape, std::uint64_t seed = 7)
      : parameters(ParameterSource(seed)),
        attention(make_attention(text, {Scope(parameters, "layer"), Scope(parameters, "stack")}, shape)) {}
  const Attention* operator->() const { return attention.get(); }
  Parameters parameters;
  std::unique_ptr<const Attention> attention;
};

// One call of a variant, row-major.
struct OracleProblem {
  std::string text;
  AttentionSizes sizes;
  Mask mask;
  NaiveBias bias{};
  std::vector<double> query{}, key{}, value{};
  std::map<std::string, std::vector<double>> parameters{};  // by name, without "layer/"
  std::string site = "layer/features";                      // where random vectors are drawn
  std::vector<double> terms{};                              // [query_time, key_time, heads, term_width]; empty: none
  Index term_width = 1;

  // Settings of the text.
  std::map<std::string, std::string> settings = settings_of(text);
  static std::map<std::string, std::string> settings_of(const std::string& text);
  double number(const std::string& key_of_setting, double fallback) const {
    const auto found = settings.find(key_of_setting);
    return found == settings.end() ? fallback : std::stod(found->second);
  }
  std::string word(const std::string& key_of_setting, const std::string& fallback) const {
    const auto found = settings.find(key_of_setting);
    return found == settings.end() ? fallback : found->second;
  }
  const double* query_row(Index b, Index h, Index i) const {
    return query.data() + ((b * sizes.heads + h) * sizes.query_time + i) * sizes.head_width;
  }
  const double* key_row(Index b, Index h, Index j) const {
    const Index kv_head = h / (sizes.heads / sizes.kv_heads);
    return key.data() + ((b * sizes.kv_heads + kv_head) * sizes.key_time + j) * sizes.head_width;
  }
  double term(Index h, Index i, Index j, Index c = 0) const {
    const Index at = ((i * sizes.key_time + j) * sizes.heads + h) * term_width + c;
    return terms.empty() ? 0 : terms[static_cast<std::size_t>(at)];
  }
};

struct VariantOracle {
  std::vector<std::string> texts;  // to be tested with
  // The weights of query i of head h of batch b.
  std::function<std::vector<double>(const OracleProblem& problem, Index b, Index h, Index i)> weights;
  double least_sum = 1;  // smallest sum of the weights of a query that may attend to a key
};

// Throws for a variant that has none.
const VariantOracle& oracle_of(const std::string& name);

// All texts of all variants.
std::vector<std::string> all_texts();

// [batch, query_time, heads, value_width]
std::vector<double> mix(const OracleProblem& problem);

// The values of the parameters of a variant, as the problem has them.
std::map<std::string, std::vector<double>> values_of(const Parameters& parameters);

// Whether the variant supports the problem.
bool supports(const AttentionSupport& has, const AttentionCase& problem);

}  // namespace heddle::testing
