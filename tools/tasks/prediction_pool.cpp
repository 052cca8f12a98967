#include "tools/tasks/prediction_pool.hpp"

#include <algorithm>
#include <cmath>

namespace heddle {

namespace {

// Models may be certain; what they exclude stays possible.
constexpr double least_probability = 1e-30;
constexpr int most_steps = 1000;
constexpr double precise = 1e-9;

double log_of(double probability) {
  return std::log(std::max(probability, least_probability));
}

// Exponentials of scores, divided by their sum; returns the logarithm of that sum.
double to_softmax(std::vector<double>& scores) {
  const double most = *std::ranges::max_element(scores);
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - most);
  for (double& score : scores) score /= sum;
  return most + std::log(sum);
}

// The solution of A x = b for a positive definite matrix: the row-wise `a`, [size, size].
std::vector<double> solved(std::vector<double> a, std::vector<double> b) {
  const std::size_t size = b.size();
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t i = k + 1; i < size; ++i) {
      const double factor = a[i * size + k] / a[k * size + k];
      for (std::size_t j = k; j < size; ++j) a[i * size + j] -= factor * a[k * size + j];
      b[i] -= factor * b[k];
    }
  }
  for (std::size_t k = size; k-- > 0;) {
    for (std::size_t j = k + 1; j < size; ++j) b[k] -= a[k * size + j] * b[j];
    b[k] /= a[k * size + k];
  }
  return b;
}

// The penalised likelihood of weights, and its maximum by Newton's method among weights that are not negative.
class PoolLikelihood {
 public:
  PoolLikelihood(std::span<const ClassPredictions> models, std::span<const Index> gold)
      : gold_(gold), models_(models.size()), prior_(1.0 / static_cast<double>(models.size())) {
    for (std::size_t n = 0; n < gold.size(); ++n) {
      logs_.emplace_back();
      for (const ClassPredictions& model : models) {
        for (const double probability : model[n]) logs_.back().push_back(log_of(probability));
      }
    }
  }

  std::vector<double> best() {
    std::vector<double> weights(models_, prior_);
    for (int step = 0; step < most_steps && improve(weights) > precise; ++step) {
    }
    return weights;
  }

 private:
  double value(const std::vector<double>& weights) const {
    double sum = 0;
    for (const double weight : weights) sum -= 0.5 * (weight - prior_) * (weight - prior_);
    for (std::size_t n = 0; n < gold_.size(); ++n) {
      std::vector<double> pool = pool_of(logs_[n], weights);
      const double score = pool[static_cast<std::size_t>(gold_[n])];
      sum += score - to_softmax(pool);
    }
    return sum;
  }

  std::vector<double> pool_of(const std::vector<double>& logs, const std::vector<double>& weights) const {
    const std::size_t classes = logs.size() / models_;
    std::vector<double> pool(classes, 0);
    for (std::size_t m = 0; m < models_; ++m) {
      for (std::size_t c = 0; c < classes; ++c) pool[c] += weights[m] * logs[m * classes + c];
    }
    return pool;
  }

  // The gradient, and minus the second derivatives: the covariances of the models' logarithms under the pool.
  void derive(const std::vector<double>& weights, std::vector<double>& gradient, std::vector<double>& curvature) const {
    for (std::size_t m = 0; m < models_; ++m) {
      gradient[m] = prior_ - weights[m];
      curvature[m * models_ + m] = 1;
    }
    for (std::size_t n = 0; n < gold_.size(); ++n) {
      const std::vector<double>& logs = logs_[n];
      std::vector<double> pool = pool_of(logs, weights), means(models_, 0);
      (void)to_softmax(pool);
      const std::size_t classes = pool.size();
      for (std::size_t m = 0; m < models_; ++m) {
        for (std::size_t c = 0; c < classes; ++c) means[m] += pool[c] * logs[m * classes + c];
        gradient[m] += logs[m * classes + static_cast<std::size_t>(gold_[n])] - means[m];
      }
      for (std::size_t i = 0; i < models_; ++i) {
        for (std::size_t k = 0; k < models_; ++k) {
          double product = 0;
          for (std::size_t c = 0; c < classes; ++c) product += pool[c] * logs[i * classes + c] * logs[k * classes + c];
          curvature[i * models_ + k] += product - means[i] * means[k];
        }
      }
    }
  }

  // One step, halved until the likelihood grows. Weights at 0 that would become negative stay. Returns the longest way
  // of a weight.
  double improve(std::vector<double>& weights) const {
    std::vector<double> gradient(models_), curvature(models_ * models_);
    derive(weights, gradient, curvature);
    for (std::size_t m = 0; m < models_; ++m) {
      if (weights[m] > 0 || gradient[m] > 0) continue;
      gradient[m] = 0;
      for (std::size_t k = 0; k < models_; ++k) {
        if (k != m) curvature[m * models_ + k] = curvature[k * models_ + m] = 0;
      }
    }
    const std::vector<double> direction = solved(curvature, gradient), before = weights;
    const double start = value(before);
    for (double part = 1; part > precise; part /= 2) {
      double moved = 0;
      for (std::size_t m = 0; m < models_; ++m) {
        weights[m] = std::max(0.0, before[m] + part * direction[m]);
        moved = std::max(moved, std::abs(weights[m] - before[m]));
      }
      if (value(weights) > start) return moved;
    }
    weights = before;
    return 0;
  }

  std::span<const Index> gold_;
  std::size_t models_;
  double prior_;
  std::vector<std::vector<double>> logs_;  // [examples][models * classes]
};

}  // namespace

std::vector<double> pooled(std::span<const std::span<const double>> models, std::span<const double> weights) {
  std::vector<double> pool(models.front().size(), 0);
  for (std::size_t m = 0; m < models.size(); ++m) {
    for (std::size_t c = 0; c < pool.size(); ++c) pool[c] += weights[m] * log_of(models[m][c]);
  }
  (void)to_softmax(pool);
  return pool;
}

std::vector<double> pooled_labels(std::span<const std::span<const double>> models, std::span<const double> weights) {
  std::vector<double> pool;
  for (std::size_t label = 0; label < models.front().size(); ++label) {
    std::vector<std::vector<double>> pairs;
    for (const std::span<const double> model : models) pairs.push_back({1 - model[label], model[label]});
    const std::vector<std::span<const double>> classes(pairs.begin(), pairs.end());
    pool.push_back(pooled(classes, weights)[1]);
  }
  return pool;
}

std::vector<double> pool_weights(std::span<const ClassPredictions> models, std::span<const Index> gold) {
  return PoolLikelihood(models, gold).best();
}

std::vector<double> mean_weights(std::span<const NumberPredictions> models, std::span<const double> gold) {
  const std::size_t count = models.size();
  std::vector<double> weights(count, 1.0 / static_cast<double>(count)), residual(gold.begin(), gold.end());
  for (std::size_t m = 0; m < count; ++m) {
    for (std::size_t n = 0; n < gold.size(); ++n) residual[n] -= weights[m] * models[m][n];
  }
  // The best move of weight from one model to another, for each pair.
  for (int sweep = 0; sweep < most_steps; ++sweep) {
    double moved = 0;
    for (std::size_t to = 0; to < count; ++to) {
      for (std::size_t from = 0; from < count; ++from) {
        double product = 0, square = 0;
        for (std::size_t n = 0; n < gold.size(); ++n) {
          const double difference = models[to][n] - models[from][n];
          product += residual[n] * difference;
          square += difference * difference;
        }
        if (square == 0) continue;
        const double move = std::clamp(product / square, -weights[to], weights[from]);
        weights[to] += move;
        weights[from] -= move;
        for (std::size_t n = 0; n < gold.size(); ++n) residual[n] -= move * (models[to][n] - models[from][n]);
        moved = std::max(moved, std::abs(move));
      }
    }
    if (moved < precise) break;
  }
  return weights;
}

}  // namespace heddle
