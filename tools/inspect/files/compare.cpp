#include "tools/inspect/files/compare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "formats/heddle/graphs_file.hpp"
#include "formats/heddle/model_file.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "tools/inspect/files/summary.hpp"

namespace heddle {

namespace {

using formats::FileKind;
using formats::Json;

// Sections of fields, and fields of no section.
Json fields_of(const Summary& summary) {
  Json fields = as_json(summary);
  for (const char* part : {"name", "parameters", "head_parameters", "objective", "weights", "history", "provenance"})
    fields.erase(part);
  if (summary.tokenizer) fields["tokenizer"] = formats::to_json(*summary.tokenizer);
  if (summary.source_tokenizer) fields["source_tokenizer"] = formats::to_json(*summary.source_tokenizer);
  return fields;
}

Json element_or_null(const Json& list, std::size_t i) {
  return i < list.size() ? list[i] : Json();
}

FieldDifference compare_lists(const std::string& field, const Json& first, const Json& second) {
  FieldDifference difference{field, {}, {}};
  Index count = 0;
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    Json a = element_or_null(first, i), b = element_or_null(second, i);
    if (a == b) continue;
    if (count++ == 0) difference = {concatenate(field, "[", i, "]"), std::move(a), std::move(b)};
  }
  difference.others = count - 1;
  return difference;
}

void compare_fields(const std::string& prefix, const Json& first, const Json& second,
                    std::vector<FieldDifference>& differences) {
  const auto compare_field = [&](const std::string& key, const Json& a, const Json& b) {
    if (a == b) return;
    if (a.is_object() && b.is_object()) {
      compare_fields(prefix + key + ".", a, b, differences);
    } else if (a.is_array() && b.is_array()) {
      differences.push_back(compare_lists(prefix + key, a, b));
    } else {
      differences.push_back({prefix + key, a, b});
    }
  };
  for (const auto& [key, value] : first.items()) compare_field(key, value, second.value(key, Json()));
  for (const auto& [key, value] : second.items()) {
    if (!first.contains(key)) compare_field(key, Json(), value);
  }
}

class Distances {
 public:
  void add(double first, double second) {
    const bool equal = first == second || (std::isnan(first) && std::isnan(second));
    const double difference = equal ? 0 : std::abs(second - first);
    const double distance = std::isnan(difference) ? infinity : difference;
    squares_ += distance * distance;
    norm_ += first * first;
    largest_ = std::max(largest_, distance);
  }
  void add(const Distances& other) {
    squares_ += other.squares_;
    norm_ += other.norm_;
    largest_ = std::max(largest_, other.largest_);
  }
  Distance result() const {
    if (squares_ == 0) return {};
    const double relative = std::sqrt(squares_ / norm_);
    return {std::isnan(relative) ? infinity : relative, largest_};
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double squares_ = 0, norm_ = 0, largest_ = 0;
};

Distances distances(const Tensor& first, const Tensor& second) {
  const Tensor a = first.as(DType::real), b = second.as(DType::real);
  Distances sums;
  for (Index i = 0; i < a.size(); ++i) sums.add(a[i], b[i]);
  return sums;
}

WeightComparison compare_weights(const formats::ModelFile& first, const formats::ModelFile& second) {
  std::map<std::string, Tensor> others;
  for (formats::NamedTensor& tensor : second.map_weights()) others.emplace(std::move(tensor.name), tensor.value);
  WeightComparison comparison;
  Distances total;
  for (const auto& [name, value] : first.map_weights()) {
    const auto other = others.find(name);
    if (other == others.end()) {
      comparison.mismatched.push_back({name, value.shape(), {}});
      continue;
    }
    if (other->second.shape() == value.shape()) {
      const Distances sums = distances(value, other->second);
      total.add(sums);
      comparison.compared.push_back({name, value.shape(), std::string(name_of(value.dtype())),
                                     std::string(name_of(other->second.dtype())), sums.result()});
    } else {
      comparison.mismatched.push_back({name, value.shape(), other->second.shape()});
    }
    others.erase(other);
  }
  for (const auto& [name, value] : others) comparison.mismatched.push_back({name, {}, value.shape()});
  comparison.total = total.result();
  return comparison;
}

std::optional<Index> first_difference(const formats::TokenFile& first, const formats::TokenFile& second) {
  constexpr Index block = 1 << 16;
  const Index common = std::min(first.size(), second.size());
  std::vector<TokenId> a, b;
  for (Index begin = 0; begin < common; begin += block) {
    a.resize(static_cast<std::size_t>(std::min(block, common - begin)));
    b.resize(a.size());
    first.read(begin, a);
    second.read(begin, b);
    const auto at = std::ranges::mismatch(a, b).in1;
    if (at != a.end()) return begin + (at - a.begin());
  }
  return first.size() == second.size() ? std::nullopt : std::optional(common);
}

std::optional<Index> first_difference(const formats::PairsFile& first, const formats::PairsFile& second) {
  const Index common = std::min(first.size(), second.size());
  for (Index i = 0; i < common; ++i) {
    if (first.source(i) != second.source(i) || first.target(i) != second.target(i)) return i;
  }
  return first.size() == second.size() ? std::nullopt : std::optional(common);
}

std::optional<Index> first_difference(const formats::GraphsFile& first, const formats::GraphsFile& second) {
  const Index common = std::min(first.size(), second.size());
  for (Index i = 0; i < common; ++i) {
    if (!data::same_record(first.record(i), second.record(i))) return i;
  }
  return first.size() == second.size() ? std::nullopt : std::optional(common);
}

bool has_weights(const Summary& summary) {
  return summary.kind == to_text(FileKind::model) || summary.kind == to_text(FileKind::adapter);
}

Summary summarize_comparable(const std::string& path) {
  Summary summary = summarize_file(path, {});
  check<DataError>(summary.kind != to_text(FileKind::tensors), path,
                   ": holds vectors, which inspect diff does not compare; h5diff does");
  return summary;
}

}  // namespace

Index WeightComparison::differing() const {
  return std::ranges::count_if(compared, [](const WeightDifference& weight) { return !weight.same(); });
}

bool Comparison::same() const {
  return fields.empty() && !token && !pair && !graph &&
         (!weights || (weights->differing() == 0 && weights->mismatched.empty()));
}

Comparison compare(const std::string& first, const std::string& second) {
  const Summary a = summarize_comparable(first), b = summarize_comparable(second);
  Comparison comparison{first, second, {}, {}, {}, {}, {}};
  compare_fields("", fields_of(a), fields_of(b), comparison.fields);
  if (has_weights(a) && has_weights(b)) {
    comparison.weights = compare_weights(formats::ModelFile(first, from_text<FileKind>(a.kind)),
                                         formats::ModelFile(second, from_text<FileKind>(b.kind)));
  }
  if (a.tokens && b.tokens) {
    comparison.token = first_difference(formats::TokenFile(first), formats::TokenFile(second));
  }
  if (a.pairs && b.pairs) comparison.pair = first_difference(formats::PairsFile(first), formats::PairsFile(second));
  if (a.graphs && b.graphs) {
    comparison.graph = first_difference(formats::GraphsFile(first), formats::GraphsFile(second));
  }
  return comparison;
}

}  // namespace heddle
