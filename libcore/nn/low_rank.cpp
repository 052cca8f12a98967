#include "libcore/nn/low_rank.hpp"

#include <algorithm>
#include <cmath>

#include "libcore/ops/dropout.hpp"
#include "libcore/ops/rank_sums.hpp"

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

std::optional<LowRank> LowRank::of(const Scope& scope, const std::vector<std::string>& matrices, Index in, Index out,
                                   Divided divided) {
  const auto* const options = scope.settings<LowRankOptions>();
  if (options == nullptr) return std::nullopt;
  std::vector<std::string> adapted;
  std::vector<Index> columns;
  const ModelRanks* const ranks = divided == Divided::outputs ? ModelRanks::of(scope) : nullptr;
  const Index columns_of_each = ranks == nullptr ? out : out / ranks->group().size();
  Index column = 0;
  for (const std::string& matrix : matrices) {
    if (options->targets(last_part(matrix.empty() ? scope.path() : matrix))) {
      adapted.push_back(matrix.empty() ? "lora/" : matrix + "/lora/");
      columns.push_back(column);
    }
    column += columns_of_each;
  }
  if (adapted.empty()) return std::nullopt;
  return LowRank(scope, *options, adapted, columns, {in, out, divided});
}

LowRank::LowRank(const Scope& scope, const LowRankOptions& options, const std::vector<std::string>& matrices,
                 const std::vector<Index>& columns, const Sides& sides)
    : divided_(sides.divided),
      ranks_(sides.divided == Divided::no ? nullptr : ModelRanks::of(scope)),
      scale_(static_cast<Real>(options.scale())),
      dropout_(options.lora_dropout),
      dropout_site_(random_site(scope.path() + "/lora/dropout")),
      columns_(columns) {
  const auto names = [&](const char* parameter) {
    std::vector<std::string> result;
    for (const std::string& matrix : matrices) result.push_back(matrix + parameter);
    return result;
  };
  const auto [in, out, divided] = sides;
  const Index rank = options.lora_rank;
  check<UsageError>(rank <= std::min(in, out), "`lora_rank` = ", rank, " is more than ", std::min(in, out),
                    ", the smaller side of ", scope.path(), "; an adapter of that rank is as large as the matrix");
  const Initializer first = Initializer::uniform(1 / std::sqrt(static_cast<double>(in)));
  a_ = divided == Divided::inputs ? divided_parameters(scope, names("a"), {rank, in}, 1, first, Decay::yes)
                                  : scope.stacked(names("a"), {rank, in}, first, Decay::yes);
  b_ = divided == Divided::outputs
           ? divided_parameters(scope, names("b"), {out, rank}, 0, Initializer::zeros(), Decay::yes)
           : scope.stacked(names("b"), {out, rank}, Initializer::zeros(), Decay::yes);
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
  const auto read = [&](const Variable& side, Divided own) {
    return rows_of_some(ranks_ == nullptr || divided_ == own ? side : ops::read_by_ranks(side, ranks_->group()));
  };
  return ops::LowRankTerm{dropped(x, pass), read(a_, Divided::inputs), read(b_, Divided::outputs), std::move(shifted),
                          scale_};
}

// Empty where nothing is dropped.
Variable LowRank::dropped(const Variable& x, const Pass& pass) const {
  if (!pass.training || dropout_ == 0) return {};
  if (ranks_ == nullptr || divided_ != Divided::inputs) return pass.drop(x, dropout_site_, dropout_);
  const Index own = x.shape()[-1], time = x.shape()[1], ranks = ranks_->group().size();
  std::vector<Index> first;  // of each position, as where the columns are whole
  for (Index row = 0; row < x.shape()[0] * time; ++row) {
    first.push_back((pass.position_number(row / time, row % time, time) * ranks + ranks_->group().rank()) * own);
  }
  return ops::dropout(x, dropout_, RandomStream(pass.seed, dropout_site_, pass.step), std::move(first));
}

}  // namespace nn
}  // namespace heddle
