#include "libcore/data/problems.hpp"

#include <numeric>

namespace heddle::data {

#define HEDDLE_FAMILY(name, summary) ProblemChoice name##_defaults();
#include "libcore/data/problem_families.def"
#undef HEDDLE_FAMILY

Index ProblemSource::size() const {
  const std::vector<Index> all = parts();
  return std::accumulate(all.begin(), all.end(), Index{0});
}

}  // namespace heddle::data

namespace heddle {

template <>
const KindList<data::ProblemFamily>& kinds() {
  static const KindList<data::ProblemFamily> list{"family of problems",
                                                  {
#define HEDDLE_FAMILY(name, summary) {#name, summary, data::name##_defaults()},
#include "libcore/data/problem_families.def"
#undef HEDDLE_FAMILY
                                                  }};
  return list;
}

}  // namespace heddle
