// Deterministic, stratified splits of a list of examples: a function of the labels, the part sizes and the seed alone,
// so that training and evaluation, run as different programs, agree on the parts.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/data/held_out.hpp"

namespace heddle::data {

// The part of each example. The sizes of the parts are proportional to `shares`, such as {8, 1, 1}, to within one
// example, and the same holds for each label, to within two. Labels are only compared with each other, and may all be
// 0. Throws UsageError for shares that are negative or add up to 0.
std::vector<Index> stratified_parts(std::span<const Index> labels, std::span<const Index> shares, std::uint64_t seed);

// The same for units, those of one key in one part, with the least of their labels. Their sizes count: what each part
// has of each label is in proportion to `shares` to within two of the largest groups of copies. Of the parts that are
// not of size 0, each has every label that has as many keys as there are such parts; labels with fewer keys are in the
// first of these parts alone.
std::vector<Index> grouped_parts(std::span<const Unit> units, std::span<const Index> shares, std::uint64_t seed);

// The fold that tests each example; folds have equal sizes. Throws UsageError for fewer than 2 folds, and DataError for
// fewer examples than folds.
std::vector<Index> stratified_folds(std::span<const Index> labels, Index folds, std::uint64_t seed);

// The indices of the examples in this part, and of the others, in ascending order.
std::vector<Index> inside_part(std::span<const Index> parts, Index part);
std::vector<Index> outside_part(std::span<const Index> parts, Index part);

}  // namespace heddle::data
