// The predictions of several models as one. Of classes, a logarithmic opinion pool (Heskes 1998, "Selecting weighting
// factors in logarithmic opinion pools"; a product of experts, Hinton 2002):
//
//   p(c)  proportional to  product over models m of p_m(c)^w_m
//
// and of numbers the mean, weighted by w.
#pragma once

#include <span>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// The pool of the models' probabilities of the classes: [models][classes], with a weight, 0 or more, for each model.
std::vector<double> pooled(std::span<const std::span<const double>> models, std::span<const double> weights);

// The pool of the models' probabilities of labels of which a text has any number, [models][labels]: each label is two
// classes, having it and not.
std::vector<double> pooled_labels(std::span<const std::span<const double>> models, std::span<const double> weights);

// A model's predictions: probabilities [examples][classes], or numbers [examples].
using ClassPredictions = std::vector<std::vector<double>>;
using NumberPredictions = std::vector<double>;

// The weights that make the gold classes most probable: the maximum of
//
//   sum over examples of log p(gold)  -  1/2 sum over models m of (w_m - 1/M)^2,      w_m >= 0,
//
// which is unique. Their sum need not be 1: the pool is more certain with a larger one. Preconditions: a
// model at least, and as many examples of each as gold classes.
std::vector<double> pool_weights(std::span<const ClassPredictions> models, std::span<const Index> gold);

// The weights, 0 or more with the sum 1, for which the mean has the least squared error from the gold numbers.
std::vector<double> mean_weights(std::span<const NumberPredictions> models, std::span<const double> gold);

}  // namespace heddle
