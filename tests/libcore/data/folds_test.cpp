#include "libcore/data/folds.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "libcore/base/error.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

// Labels 0 to classes - 1, the first ones the more frequent.
std::vector<Index> random_labels(Index count, Index classes, std::uint64_t seed) {
  const RandomStream random(seed, 1);
  std::vector<Index> labels;
  for (Index i = 0; i < count; ++i) {
    const double u = random.uniform(static_cast<std::uint64_t>(i));
    labels.push_back(static_cast<Index>(u * u * static_cast<double>(classes)));
  }
  return labels;
}

// How many examples of the label (-1: of any) the part has.
Index count_of_label(const std::vector<Index>& parts, Index part, const std::vector<Index>& labels, Index label) {
  Index count = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) count += parts[i] == part && (label < 0 || labels[i] == label);
  return count;
}

}  // namespace

TEST_CASE("folds: as large as one another, and alike in every label, to within one example") {
  for (const Index folds : {2, 3, 5, 10}) {
    const std::vector<Index> labels = random_labels(503, 4, 7);
    const std::vector<Index> parts = stratified_folds(labels, folds, 1);
    for (Index label = -1; label < 4; ++label) {
      std::vector<Index> counts;
      for (Index fold = 0; fold < folds; ++fold) counts.push_back(count_of_label(parts, fold, labels, label));
      CAPTURE(folds);
      CAPTURE(label);
      CHECK(std::ranges::max(counts) - std::ranges::min(counts) <= 1);
      CHECK(std::accumulate(counts.begin(), counts.end(), Index{0}) ==
            (label < 0 ? 503 : std::ranges::count(labels, label)));
    }
  }
}

TEST_CASE("folds: a function of labels and seed, random within a label") {
  const std::vector<Index> labels = random_labels(1000, 3, 3);
  const std::vector<Index> parts = stratified_folds(labels, 5, 1);
  CHECK(parts == stratified_folds(labels, 5, 1));
  CHECK(parts != stratified_folds(labels, 5, 2));
  // Neighbours are in the same fold about as often as chance has it.
  Index same = 0;
  for (std::size_t i = 1; i < parts.size(); ++i) same += parts[i] == parts[i - 1];
  CHECK(same > 140);
  CHECK(same < 260);
}

TEST_CASE("parts: shares are kept to within two examples, of all and of each label") {
  const std::vector<std::vector<Index>> splits = {{8, 1, 1}, {80, 10, 10}, {1, 0, 3}, {1}, {70, 15, 10, 5}, {999, 1}};
  for (const std::vector<Index>& shares : splits) {
    const double total = static_cast<double>(std::accumulate(shares.begin(), shares.end(), Index{0}));
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      const std::vector<Index> labels = random_labels(100 + static_cast<Index>(17 * seed), 5, seed);
      const std::vector<Index> parts = stratified_parts(labels, shares, seed);
      for (Index label = -1; label < 5; ++label) {
        const auto of_label =
            static_cast<double>(label < 0 ? static_cast<Index>(labels.size()) : std::ranges::count(labels, label));
        for (std::size_t part = 0; part < shares.size(); ++part) {
          const double expected = of_label * static_cast<double>(shares[part]) / total;
          const auto count = static_cast<double>(count_of_label(parts, static_cast<Index>(part), labels, label));
          CHECK(std::abs(count - expected) < (label < 0 ? 1 : 2));
        }
      }
    }
  }
}

TEST_CASE("parts: inside and outside are everybody once, in order") {
  const std::vector<Index> parts = {0, 1, 0, 2, 1};
  CHECK(inside_part(parts, 1) == std::vector<Index>{1, 4});
  CHECK(outside_part(parts, 1) == std::vector<Index>{0, 2, 3});
}

TEST_CASE("folds: what makes no sense is refused") {
  const std::vector<Index> labels = {0, 1, 0};
  CHECK_THROWS_AS(stratified_folds(labels, 1, 1), UsageError);
  CHECK_THROWS_AS(stratified_folds(labels, 4, 1), DataError);
  CHECK_THROWS_AS(stratified_parts(labels, std::vector<Index>{0, 0}, 1), UsageError);
  CHECK_THROWS_AS(stratified_parts(labels, std::vector<Index>{2, -1}, 1), UsageError);
  CHECK_THROWS_AS(stratified_parts(labels, {}, 1), UsageError);
  CHECK(stratified_parts({}, std::vector<Index>{1, 1}, 1).empty());
}

TEST_CASE("grouped parts: copies together, each label where it can be in every part, sizes of their shares") {
  for (const std::vector<Index>& shares : {std::vector<Index>{80, 10, 10}, {98, 1, 1}, {1, 0, 1}}) {
    std::vector<Unit> units;
    for (Index i = 0; i < 600; ++i) {
      const Index key = i % 500;  // the first hundred have a copy
      units.push_back({.key = static_cast<std::uint64_t>(key * 7919), .label = key < 4 ? 2 : key == 499 ? 3 : key % 2});
    }
    const std::vector<Index> parts = grouped_parts(units, shares, 1);
    CHECK(parts == grouped_parts(units, shares, 1));
    CHECK(parts != grouped_parts(units, shares, 2));
    std::vector<Index> labels;
    for (std::size_t i = 0; i < units.size(); ++i) {
      labels.push_back(units[i].label);
      CHECK(parts[i] == parts[i % 500]);
    }
    const auto total = static_cast<double>(std::accumulate(shares.begin(), shares.end(), Index{0}));
    for (std::size_t part = 0; part < shares.size(); ++part) {
      const auto at = static_cast<Index>(part);
      for (Index label = 0; label < 3; ++label)
        CHECK((count_of_label(parts, at, labels, label) > 0) == (shares[part] > 0));
      CHECK(count_of_label(parts, at, labels, 3) == (part == 0 ? 1 : 0));
      for (Index label = 0; label < 2; ++label) {
        const auto of_label = static_cast<double>(std::ranges::count(labels, label));
        const double expected = of_label * static_cast<double>(shares[part]) / total;
        CHECK(std::abs(static_cast<double>(count_of_label(parts, at, labels, label)) - expected) <= 4);
      }
    }
  }
  // Copies whose labels differ count for the least of these, in whatever order they come.
  const RandomStream random(9, 1);
  std::vector<Unit> mixed, least;
  std::map<std::uint64_t, Index> lowest;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const std::uint64_t key = random.below(2 * i, 80) * 7919;
    mixed.push_back({.key = key, .label = static_cast<Index>(random.below(2 * i + 1, 6))});
    Index& label = lowest.try_emplace(key, mixed.back().label).first->second;
    label = std::min(label, mixed.back().label);
  }
  for (const Unit& unit : mixed) least.push_back({.key = unit.key, .label = lowest[unit.key], .size = unit.size});
  const std::vector<Index> thirds(3, 1);
  CHECK(grouped_parts(mixed, thirds, 1) == grouped_parts(least, thirds, 1));
  // A part without a share gets nothing, not even of the first label.
  std::vector<Unit> alike;
  for (std::uint64_t key = 0; key < 40; ++key) alike.push_back({.key = key * 7919});
  const std::vector<Index> dealt = grouped_parts(alike, std::vector<Index>{0, 1, 1}, 1);
  CHECK(std::ranges::count(dealt, 0) == 0);
  CHECK(std::ranges::count(dealt, 1) == 20);
  // A unit's size counts: what each half has of it differs by one unit at most.
  std::vector<Unit> sizes;
  for (Index i = 0; i < 400; ++i) sizes.push_back({.key = static_cast<std::uint64_t>(i), .size = 1 + i * i % 40});
  Index balance = 0;
  const std::vector<Index> halves = grouped_parts(sizes, std::vector<Index>{1, 1}, 1);
  for (std::size_t i = 0; i < sizes.size(); ++i) balance += halves[i] == 0 ? sizes[i].size : -sizes[i].size;
  CHECK(std::abs(balance) <= 40);
  // A label with many copies of a text in one part costs the other labels no more than a unit.
  std::vector<Unit> uneven;
  for (const std::uint64_t key : {1, 2, 3}) uneven.push_back({.key = key, .label = 0, .size = key == 1 ? 5000 : 1});
  for (Index i = 0; i < 200; ++i) uneven.push_back({.key = static_cast<std::uint64_t>(100'000 + i * 7919), .label = 1});
  const std::vector<Index> dealt_after = grouped_parts(uneven, std::vector<Index>{8, 1, 1}, 1);
  for (const auto& [part, expected] : {std::pair(0, 160), {1, 20}, {2, 20}}) {
    const auto count = std::count(dealt_after.end() - 200, dealt_after.end(), part);
    CHECK(std::abs(count - expected) <= 4);
  }
}

TEST_CASE("grouped parts: a text whose copies have several labels counts as one of the lowest, in any order") {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    std::vector<Unit> units;
    std::vector<Index> labels;
    const auto add = [&](std::uint64_t key, Index label) {
      units.push_back({.key = key * 7919, .label = label});
      labels.push_back(label);
    };
    add(70, 9), add(70, 0);  // the lowest last, first and between
    add(20, 0), add(20, 9);
    add(50, 9), add(50, 0), add(50, 4);
    for (std::uint64_t key = 100; key < 160; ++key) add(key, 9);
    const std::vector<Index> parts = grouped_parts(units, std::vector<Index>{1, 1, 1}, seed);
    CHECK(parts[0] == parts[1]);
    CHECK(parts[2] == parts[3]);
    CHECK((parts[4] == parts[5] && parts[5] == parts[6]));
    for (Index part = 0; part < 3; ++part) CHECK(count_of_label(parts, part, labels, 0) == 1);
  }
}
