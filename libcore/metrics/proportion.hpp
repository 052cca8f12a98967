// Exact confidence intervals of fractions of examples. They hold for few examples, too, where those of the bootstrap
// do not: if every example is correct, so is every bootstrap sample.
#pragma once

#include "libcore/metrics/bootstrap.hpp"

namespace heddle::metrics {

// The interval of a probability, from `hits` of `examples`: beyond an end, so few (or so many) hits have a probability
// below 0.025. Throws DataError for hits outside 0 to examples, and where there is no example.
// Source: Clopper and Pearson 1934.
Interval proportion_interval(Index hits, Index examples);

// The interval of the difference between two predictors' fractions of right answers to the same examples, of which the
// first alone answers `gained` and the second alone `lost`: that of gained / (gained + lost), with as many examples on
// which they differ as there are. It begins above 0 where McNemar's exact test rejects that both are equally good; if
// they differ on none, it ends at what the examples do not exclude. Throws DataError as above.
// Source: McNemar 1947.
Interval difference_interval(Index gained, Index lost, Index examples);

}  // namespace heddle::metrics
