// Regression metrics.
//
//   mean squared error = 1/n sum_i (p_i - g_i)^2
//   RMSE = its root;  MAE = 1/n sum_i |p_i - g_i|
//   R2 = 1 - sum_i (p_i - g_i)^2 / sum_i (g_i - mean g)^2, the part of the variance that is explained
//   Pearson = sum_i (g_i - mean g)(p_i - mean p) / sqrt(sum_i (g_i - mean g)^2 sum_i (p_i - mean p)^2)
//   Spearman = Pearson of the ranks, of which equal numbers share the mean
// Correlations are 0 where either side is constant, R2 where the gold numbers are. All are NaN where a number is.
#pragma once

#include <span>

#include "libcore/base/visit.hpp"

namespace heddle::metrics {

// Throw UsageError for unequal sizes, and DataError where there is no example.
double mean_squared_error(std::span<const double> gold, std::span<const double> predicted);
double root_mean_squared_error(std::span<const double> gold, std::span<const double> predicted);
double mean_absolute_error(std::span<const double> gold, std::span<const double> predicted);
double explained_variance(std::span<const double> gold, std::span<const double> predicted);
double pearson(std::span<const double> gold, std::span<const double> predicted);
double spearman(std::span<const double> gold, std::span<const double> predicted);

struct RegressionReport {
  Index examples = 0;
  double mean_squared_error = 0, rmse = 0, mae = 0, r2 = 0, pearson = 0, spearman = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("examples", "number of examples"), self.examples);
    visitor(Field("mean_squared_error", "mean of the squared differences"), self.mean_squared_error);
    visitor(Field("rmse", "its root"), self.rmse);
    visitor(Field("mae", "mean of the absolute differences"), self.mae);
    visitor(Field("r2", "part of the variance of the gold numbers that is explained"), self.r2);
    visitor(Field("pearson", "correlation of gold and predicted numbers"), self.pearson);
    visitor(Field("spearman", "correlation of their ranks"), self.spearman);
  }
};

RegressionReport regression_report(std::span<const double> gold, std::span<const double> predicted);

}  // namespace heddle::metrics
