// Counting the naive Bayes part of a classifier (heads/naive_bayes.hpp) on labelled examples.
#pragma once

#include <span>
#include <vector>

#include "heddle/data/task_examples.hpp"

namespace heddle::training {

// How likely classes are of which there are more or fewer examples.
enum class ClassShares { as_counted, equal };

// The table of all examples, [rows * classes], with
//   p(f | c) = (w_c n_fc + 1) / sum_g (w_c n_gc + 1),  w_c = n / (classes n_c)
// over the features g that any example has, where n_fc of the n_c examples of class c have f. So weighed, one example
// of a rare class says as much for it as several do for a frequent one, and what is seldom says little of any.
// k, at most 1, maximises the likelihood of the labels of each tenth of the examples by the counts of the others: naive
// Bayes takes its features for independent, and is far too sure with k = 1. Copies of a text, and parts of one, are in
// one tenth. Of many examples k is found on some. Preconditions: rows is a power of two; every example has a label.
std::vector<Real> count_naive_bayes(std::span<const data::TaskExample> examples, Index rows, Index classes,
                                    ClassShares shares);

// Rows for the features of texts of so many bytes, while the table has at most 2^23 numbers. Throws UsageError for more
// than 8192 classes.
Index naive_bayes_rows(std::size_t bytes, Index classes);

}  // namespace heddle::training
