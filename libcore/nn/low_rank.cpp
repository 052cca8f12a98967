#include "libcore/nn/low_rank.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {

ParameterSource with_adapters(const ParameterSource& source, const LowRankOptions& options) {
  const std::vector<std::string> known{"query", "key", "value", "output", "up", "down"};
  for (const std::string& target : split(options.lora_targets, ',')) {
    check<UsageError>(std::find(known.begin(), known.end(), target) != known.end(), "`lora_targets`: '", target,
                      "' is none of ", join(known));
  }
  return source.with_settings(options);
}

void check_adapters(const Parameters& parameters, const LowRankOptions& options) {
  const auto is_adapter = [](const Parameter& parameter) { return parameter.name.find("/lora/") != std::string::npos; };
  check<UsageError>(options.lora_rank == 0 || std::ranges::any_of(parameters.all(), is_adapter),
                    "`lora_targets` = ", options.lora_targets,
                    ": this model has no such matrices, or has narrow ones, which take no adapters; ",
                    "name others, such as output,up,down");
}

namespace nn {

namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::optional<LowRank> LowRank::of(const Scope& scope, const std::vector<std::string>& matrices, Index in, Index out) {
  const auto* const options = scope.settings<LowRankOptions>();
  if (options == nullptr) return std::nullopt;
  std::vector<std::string> adapted;
  std::vector<Index> columns;
  Index column = 0;
  for (const std::string& matrix : matrices) {
    if (options->targets(last_part(matrix.empty() ? scope.path() : matrix))) {
      adapted.push_back(matrix.empty() ? "lora/" : matrix + "/lora/");
      columns.push_back(column);
    }
    column += out;
  }
  if (adapted.empty()) return std::nullopt;
  return LowRank(scope, *options, adapted, columns, in, out);
}

LowRank::LowRank(const Scope& scope, const LowRankOptions& options, const std::vector<std::string>& matrices,
                 const std::vector<Index>& columns, Index in, Index out)
    : scale_(static_cast<Real>(options.scale())),
      dropout_(options.lora_dropout),
      dropout_site_(random_site(scope.path() + "/lora/dropout")),
      columns_(columns) {
  const auto names = [&](const char* parameter) {
    std::vector<std::string> result;
    for (const std::string& matrix : matrices) result.push_back(matrix + parameter);
    return result;
  };
  const Index rank = options.lora_rank;
  check<UsageError>(rank <= std::min(in, out), "`lora_rank` = ", rank, " is more than ", std::min(in, out),
                    ", the smaller side of ", scope.path(), "; an adapter of that rank is as large as the matrix");
  a_ = scope.stacked(names("a"), {rank, in}, Initializer::uniform(1 / std::sqrt(static_cast<double>(in))), Decay::yes);
  b_ = scope.stacked(names("b"), {out, rank}, Initializer::zeros(), Decay::yes);
}

std::optional<ops::LowRankTerm> LowRank::operator()(const Variable& x, const Pass& pass,
                                                    const ProductColumns& columns) const {
  const auto begin = std::ranges::lower_bound(columns_, columns.first);
  const auto end = std::find_if(begin, columns_.end(), [&](Index c) { return c - columns.first >= columns.count; });
  if (begin == end) return std::nullopt;
  const auto parts = static_cast<Index>(columns_.size());
  const auto rows_of_some = [&, first = begin - columns_.begin(), count = end - begin](const Variable& all) {
    if (count == parts) return all;
    return view(all, [=](const Tensor& t) {
      const Index rows = t.shape()[0] / parts;
      return t.narrowed(0, first * rows, count * rows);
    });
  };
  std::vector<Index> shifted;
  for (auto column = begin; column != end; ++column) shifted.push_back(*column - columns.first);
  const bool drops = pass.training && dropout_ > 0;
  return ops::LowRankTerm{drops ? pass.drop(x, dropout_site_, dropout_) : Variable(), rows_of_some(a_),
                          rows_of_some(b_), std::move(shifted), scale_};
}

}  // namespace nn
}  // namespace heddle
