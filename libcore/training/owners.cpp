#include "libcore/training/owners.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "libcore/training/optimizer.hpp"

namespace heddle::training {

namespace {

std::vector<Trained> trained_of(const Parameters& parameters) {
  std::vector<Trained> all;
  for (const Parameter& parameter : parameters.all()) {
    if (!parameter.is_trained()) continue;
    Gradient* const root = parameter.variable.gradient()->root();
    if (all.empty() || all.back().gradient != root) all.push_back({.gradient = root});
    all.back().parameters.push_back(&parameter);
  }
  return all;
}

// Whether it is a table whose gradient has few rows, since it is not the output's, too.
bool is_looked_up(const Trained& of) {
  return has_table(of) &&
         std::ranges::none_of(of.parameters, [](const Parameter* parameter) { return parameter->is_output; });
}

void assign_owners(std::vector<Trained>& all, int ranks) {
  std::vector<Index> sizes;
  for (Trained& of : all) {
    of.owner = is_looked_up(of) ? everyone : 0;
    if (of.owner != everyone) sizes.push_back(of.size());
  }
  const std::vector<int> owners = balanced(sizes, ranks);
  auto next = owners.begin();
  for (Trained& of : all) {
    if (of.owner != everyone) of.owner = *next++;
  }
}

}  // namespace

// Distances are looked up by graph transformers.
bool has_table(const Trained& of) {
  return std::ranges::any_of(of.parameters, [](const Parameter* parameter) {
    return is_embedding(*parameter) || parameter->name.find("/distance/") != std::string::npos;
  });
}

Index Trained::size() const {
  Index size = 0;
  for (const Parameter* parameter : parameters) size += parameter->size();
  return size;
}

std::span<Real> Trained::weights() const {
  return {parameters.front()->value().data(), static_cast<std::size_t>(size())};
}

std::vector<int> balanced(const std::vector<Index>& sizes, int ranks) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
  std::vector<Index> held(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(sizes.size());
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(held);
    *least += sizes[i];
    owners[i] = static_cast<int>(least - held.begin());
  }
  return owners;
}

Owners::Owners(const Parameters& parameters, const parallel::Group& group, const nn::ModelRanks* sharing)
    : parameters_(parameters),
      group_(group),
      sharing_(sharing != nullptr && sharing->share() ? sharing : nullptr),
      trained_(trained_of(parameters)),
      own_(parameters) {
  assign_owners(trained_, group.size());
  std::unordered_set<const Parameter*> own;
  for (const Trained& of : trained_) {
    if (updates(of)) own.insert(of.parameters.begin(), of.parameters.end());
  }
  own_ = parameters.only([&](const Parameter& parameter) { return own.contains(&parameter); });
}

// One for each trained parameter, or this rank's part of it.
std::vector<double> Owners::squares_of_gradients() const {
  std::vector<double> own, squares;
  for (const Parameter& parameter : own_.all()) own.push_back(squared_norm_of_gradient(parameter));
  const std::vector<std::vector<double>> all = group_.gather(own);
  std::vector<std::size_t> next(all.size(), 0);
  for (const Trained& of : trained_) {
    for ([[maybe_unused]] const Parameter* parameter : of.parameters) {
      double& square = squares.emplace_back(0);
      for (int rank = 0; rank < group_.size(); ++rank) {
        const auto at = static_cast<std::size_t>(rank);
        if (of.owner == everyone || of.owner == rank || group_.is_alone()) square = all[at][next[at]++];
      }
    }
  }
  return squares;
}

double Owners::norm_of_gradients() const {
  if (group_.is_alone() && sharing_ == nullptr) return gradient_norm(parameters_);
  std::vector<double> squares = squares_of_gradients();
  if (sharing_ != nullptr) {
    const std::vector<std::vector<double>> parts = sharing_->group().gather(squares);
    std::size_t i = 0;
    for (const Trained& of : trained_) {
      for (const Parameter* parameter : of.parameters) {
        double& square = squares[i];
        square = 0;
        for (const std::vector<double>& of_rank : parts) {
          square += of_rank[i];
          if (sharing_->part_of(parameter->name) == nullptr) break;  // all have the same
        }
        ++i;
      }
    }
  }
  return std::sqrt(std::accumulate(squares.begin(), squares.end(), 0.0));
}

}  // namespace heddle::training
