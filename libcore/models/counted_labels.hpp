// Starts from counts of what the texts with each label have, and those without it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "libcore/models/roles.hpp"

namespace heddle::models {

// A text with any number of labels: their ids, none twice.
struct CountedText {
  TokenList text;
  std::vector<Index> labels;
};

class CountedLabels : public virtual ContextualVectors {
 public:
  static constexpr std::string_view ability = "starts from counts of labels";
  // Sets the weights so that element c of the hidden state of position 0 says how much the text speaks for having label
  // c, as naive Bayes of two classes does. Returns the scale of this relative to the log-odds, on average over the
  // texts; none, and nothing is done, where the width is not the number of labels. Precondition: there are texts.
  virtual std::optional<double> start_from_label_counts(std::span<const CountedText> texts, Index labels) = 0;
};

}  // namespace heddle::models
