// Counting the naive Bayes part of a classifier (heads/naive_bayes.hpp) on labelled examples.
#pragma once

#include <span>
#include <vector>

#include "heddle/data/task_examples.hpp"

namespace heddle::training {

struct NaiveBayesTable {
  std::vector<Real> weight, bias;  // [rows * classes], [classes]
};

enum class ClassShares { as_counted, equal };

// p(f | c) = (n_fc + 1) / sum_g (n_gc + 1) over the features g that any example has, with n_fc the examples of class c
// that have f; p(c) is the share of the class, or the same for all.
// k, at most 1, maximises the likelihood of the labels of each tenth of the examples by the counts of the others: naive
// Bayes takes its features for independent, and is far too sure with k = 1. Parts of one text are in one tenth.
// Preconditions: rows is a power of two; every example has a label.
NaiveBayesTable count_naive_bayes(std::span<const data::TaskExample> examples, Index rows, Index classes,
                                   ClassShares shares);

// Rows enough for the features of so many texts, while the table has at most 2^22 numbers.
Index naive_bayes_rows(Index examples, Index classes);

}  // namespace heddle::training
