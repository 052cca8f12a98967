// Numbers to draw: the weights of an attention variant as functions of queries and keys. They come from
// Attention::weights() alone, so that every variant of variants.def has them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/analysis/grid.hpp"
#include "libcore/analysis/position_shapes.hpp"

namespace heddle::analysis {

// Two directions of length 1 at a right angle, of which probes are made; all queries are along the first.
enum class ProbeDirection {
  axis,      // the first two coordinates
  diagonal,  // (1, 1, …) and (1, -1, 1, -1, …), divided by their lengths; the width is even
  random,    // drawn from a seed
};
struct ProbePlane {
  std::vector<double> first, second;
};
// Throws UsageError for a width of less than 2, and for the diagonal of an odd width.
ProbePlane probe_plane(ProbeDirection direction, Index width, std::uint64_t seed);

// q = length first, and keys in its plane: [keys][width].
struct KernelProbe {
  std::vector<double> query;
  std::vector<std::vector<double>> keys;
};
// Keys q + x first, one for each x.
KernelProbe probe_along(const ProbePlane& plane, double length, const std::vector<double>& displacements);
// Keys of the query's length at these angles from it, in radians.
KernelProbe probe_around(const ProbePlane& plane, double length, const std::vector<double>& angles);
// Keys x first + y second for each y of the list and, for each y, each x of it.
KernelProbe probe_over(const ProbePlane& plane, double length, const std::vector<double>& coordinates);

// w(q, k) / w(q, q): the weight of each key as a multiple of that of a key equal to the query, [heads, keys], with each
// pair of keys alone in a call. For a softmax of scores this is e^(score - score of the query itself), for a kernel its
// value over that at distance 0. 0 and infinity where a Real cannot hold it, NaN where both weights are 0.
Grid relative_weights(const Attention& variant, const HeadShape& shape, const KernelProbe& probe);

// The weights of a query among keys that all equal it, for each offset of a key, as multiples of that of the key at the
// query's own position: what positions alone do. Rows and columns as those of OffsetBias; element: of the query and the
// keys. Throws UsageError where the variant does not take what the positions add, or hides no future where this is
// needed; text is the variant's name in messages.
struct OffsetWeights {
  Index first;
  Grid heads;
};
OffsetWeights weights_by_offset(const Attention& variant, const std::string& text, const PositionsInLayer& in,
                                Index positions);

// The text of a variant with this whole number for a setting.
std::string with_setting(std::string_view text, const std::string& setting, Index value);

// The root mean square of w_estimate / w - 1 over the weights of a query among 33 keys of its length, at angles from 0
// to 180 degrees, in so many random planes; all heads of a variant are the same. Shape: one head.
double estimate_error(const Attention& estimate, const Attention& exact, const HeadShape& shape, double length,
                      Index planes, std::uint64_t seed);

}  // namespace heddle::analysis
