// t-SNE: points of the plane whose neighbours are those of the vectors.
// Source: van der Maaten and Hinton 2008, "Visualizing data using t-SNE"; it begins with the principal components, with
// the learning rate of Belkina et al. 2019, so that the result depends on the vectors alone.
#pragma once

#include <array>
#include <vector>

#include "libcore/tensor/tensor.hpp"

namespace heddle::analysis {

struct NeighbourMapOptions {
  double perplexity = 30;  // how many neighbours count, about; less where there are fewer than three times as many
  int steps = 750;         // a third of them with exaggerated attraction
};

// [count, width], of any dtype -> a point for each vector. Exact: cost and memory grow with the square of the count.
// The same bits with any number of threads. Throws as principal_components().
std::vector<std::array<double, 2>> neighbour_map(const Tensor& vectors, const NeighbourMapOptions& options = {});

// p(j | i), proportional to e^(-precision_i |x_i - x_j|^2), with the precision for which their perplexity, 2 to the
// entropy in bits, is that. Shapes: squared distances [count][count] -> [count][count], rows sum to 1.
std::vector<std::vector<double>> neighbour_probabilities(const std::vector<std::vector<double>>& squared_distances,
                                                         double perplexity);

}  // namespace heddle::analysis
