// Deterministic, stratified splits of a list of examples: a function of the labels, the shares and the seed alone, so
// that training and evaluation, run as different programs, agree on who is in which part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "heddle/base/real.hpp"

namespace heddle::data {

// The part of each example. Parts are as large as their shares, {8, 1, 1}, to within one example; so is what they have
// of each label, to within two. Examples of one label are in random order; labels only tell who is alike, and may all
// be 0. Throws UsageError for shares that are negative or add up to 0.
std::vector<Index> stratified_parts(std::span<const Index> labels, std::span<const Index> shares, std::uint64_t seed);

// Which fold tests each example: parts of equal shares. Throws UsageError for fewer than 2 folds, and DataError for
// fewer examples than folds.
std::vector<Index> stratified_folds(std::span<const Index> labels, Index folds, std::uint64_t seed);

// The places of the examples that are in this part, and of those that are not, in their order.
std::vector<Index> inside_part(std::span<const Index> parts, Index part);
std::vector<Index> outside_part(std::span<const Index> parts, Index part);

}  // namespace heddle::data
