#include "heddle/nn/low_rank.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::nn {

namespace {

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::optional<LowRank> LowRank::of(const Scope& scope, const std::vector<std::string>& matrices, Index in, Index out) {
  std::vector<std::string> adapted;
  std::vector<Index> columns;
  Index column = 0;
  for (const std::string& matrix : matrices) {
    if (scope.adapters().targets(last_part(matrix.empty() ? scope.path() : matrix))) {
      adapted.push_back(matrix.empty() ? "lora/" : matrix + "/lora/");
      columns.push_back(column);
    }
    column += out;
  }
  if (adapted.empty()) return std::nullopt;
  return LowRank(scope, adapted, columns, in, out);
}

LowRank::LowRank(const Scope& scope, const std::vector<std::string>& matrices, const std::vector<Index>& columns,
                 Index in, Index out)
    : scale_(static_cast<Real>(scope.adapters().scale())),
      dropout_(scope.adapters().lora_dropout),
      dropout_site_(random_site(scope.path() + "/lora/dropout")),
      columns_(columns) {
  const auto names = [&](const char* parameter) {
    std::vector<std::string> result;
    for (const std::string& matrix : matrices) result.push_back(matrix + parameter);
    return result;
  };
  const Index rank = scope.adapters().lora_rank;
  check<UsageError>(rank <= std::min(in, out), "--lora-rank ", rank, " is more than ", std::min(in, out),
                    ", the smaller side of ", scope.path(), "; adapters of that rank can say all that it can");
  a_ = scope.stacked(names("a"), {rank, in}, Initializer::uniform(1 / std::sqrt(static_cast<double>(in))), Decay::yes);
  b_ = scope.stacked(names("b"), {out, rank}, Initializer::zeros(), Decay::yes);
}

ops::LowRankTerm LowRank::operator()(const Variable& x, const Pass& pass) const {
  const bool drops = pass.training && dropout_ > 0;
  return {drops ? pass.drop(x, dropout_site_, dropout_) : Variable(), a_, b_, columns_, scale_};
}

}  // namespace heddle::nn
