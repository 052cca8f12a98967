#include "libcore/training/training_data.hpp"

#include <vector>

namespace heddle::training {

const DataDescription& description_of(DataKind kind) {
  static const std::vector<DataDescription> list = {
#define HEDDLE_DATA(name, source, unit, content, origin) {unit, content, origin},
#include "libcore/training/data_kinds.def"
#undef HEDDLE_DATA
  };
  return list[static_cast<std::size_t>(kind)];
}

std::string units_of(DataKind kind) {
  return description_of(kind).unit + "s";
}

bool TrainingData::has(DataKind kind) const {
  const bool present[] = {
#define HEDDLE_DATA(name, source, unit, content, origin) name != nullptr,
#include "libcore/training/data_kinds.def"
#undef HEDDLE_DATA
  };
  return present[static_cast<std::size_t>(kind)];
}

std::optional<DataKind> TrainingData::kind() const {
  std::optional<DataKind> found;
  for (const DataKind kind : {
#define HEDDLE_DATA(name, source, unit, content, origin) DataKind::name,
#include "libcore/training/data_kinds.def"
#undef HEDDLE_DATA
       }) {
    if (!has(kind)) continue;
    if (found) return std::nullopt;
    found = kind;
  }
  return found;
}

}  // namespace heddle::training
