// The differences between two files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "formats/heddle/tensor_group.hpp"

namespace heddle {

// A field, "config.dropout", and its value in either file, null if a file has none. For lists, the first element that
// differs, "tokenizer.pieces[97]".
struct FieldDifference {
  std::string field;
  formats::Json first, second;
  Index others = 0;  // further elements of the list that differ
};

// ||second - first|| / ||first|| and the largest |second - first|; both are infinite if either tensor is not finite,
// and the norm is if `first` is 0.
struct Distance {
  double relative_norm = 0, largest = 0;
};

// A weight that both files have, with the same shape.
struct WeightDifference {
  std::string name;
  Shape shape;
  std::string first_type, second_type;
  Distance distance;
  bool same() const { return distance.largest == 0 && first_type == second_type; }
};

// A weight that only one file has, or whose shapes differ.
struct WeightMismatch {
  std::string name;
  std::optional<Shape> first, second;
};

struct WeightComparison {
  std::vector<WeightDifference> compared;
  std::vector<WeightMismatch> mismatched;
  Distance total;  // all compared tensors as one vector
  Index differing() const;
};

struct Comparison {
  std::string first, second;            // names of the files
  std::vector<FieldDifference> fields;  // kind, configuration, task, adapters, tokenizer, counts of tokens and graphs
  std::optional<WeightComparison> weights;  // two models or adapters
  std::optional<Index> token;               // two token files: the first place at which tokens differ
  std::optional<Index> pair;                // two pairs files: the first pair that differs
  std::optional<Index> graph;               // two graphs files: the first graph that differs
  bool same() const;
};

// Compares values, whatever the dtypes of weights; does not verify checksums (inspect verify does). Provenance, history
// and training state are ignored. Throws DataError for files that cannot be read or have no such parts.
Comparison compare(const std::string& first, const std::string& second);

}  // namespace heddle
