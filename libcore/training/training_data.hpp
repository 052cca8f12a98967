// Training data.
#pragma once

#include <optional>
#include <string>

#include "libcore/data/graphs.hpp"
#include "libcore/data/pair_source.hpp"
#include "libcore/data/problems.hpp"
#include "libcore/data/token_source.hpp"

namespace heddle::training {

#define HEDDLE_DATA(name, source, unit, content, origin) name,
enum class DataKind {
#include "libcore/training/data_kinds.def"
};
#undef HEDDLE_DATA

// The list's entry of a kind.
struct DataDescription {
  std::string unit;     // "token": what steps and speed are counted in
  std::string content;  // "pairs of texts"
  std::string origin;   // options that give such data, for errors about other data
};
const DataDescription& description_of(DataKind kind);
// "tokens"
std::string units_of(DataKind kind);

// At most one kind is set; benchmarks may set several, of which the objective takes the one that it is trained on.
struct TrainingData {
#define HEDDLE_DATA(name, source, unit, content, origin) const data::source* name = nullptr;
#include "libcore/training/data_kinds.def"
#undef HEDDLE_DATA

  bool has(DataKind kind) const;
  // None unless exactly one kind is set.
  std::optional<DataKind> kind() const;
};

}  // namespace heddle::training
