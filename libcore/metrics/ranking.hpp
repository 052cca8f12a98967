// Threshold-free ranking metrics: positive examples before negative ones.
#pragma once

#include <span>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::metrics {

struct RankedExample {
  double score = 0;
  bool is_positive = false;
};

// The area under the curve of true against false positive rate: the probability that a positive example has a higher
// score than a negative one, ties half (Hanley and McNeil 1982). One half where there are only positive or only
// negative examples.
double roc_auc(std::vector<RankedExample> examples);

// The area under the curve of precision against recall, as average precision: the mean over the positive examples of
// the precision among those with at least their score. 0 without a positive example.
double pr_auc(std::vector<RankedExample> examples);

}  // namespace heddle::metrics
