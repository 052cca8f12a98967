#include "oracles.hpp"

#include <cmath>
#include <stdexcept>
#include <tuple>

#include "libcore/base/strings.hpp"
#include "libcore/ops/random_features.hpp"

namespace heddle::testing {

namespace {

// softmax over the allowed keys of score(j), with the bias of the problem and what it says of pairs.
template <class Score>
std::vector<double> softmax_of(const OracleProblem& p, Index b, Index h, Index i, const Score& score) {
  std::vector<double> weights(static_cast<std::size_t>(p.sizes.key_time), 0.0);
  double maximum = -HUGE_VAL, sum = 0;
  const auto biased = [&](Index j) { return score(j) + p.bias.at(p.sizes, p.mask, b, h, i, j); };
  for (Index j = 0; j < p.sizes.key_time; ++j) {
    if (may_attend(p.mask, b, i, j)) maximum = std::max(maximum, biased(j));
  }
  for (Index j = 0; j < p.sizes.key_time; ++j) {
    if (may_attend(p.mask, b, i, j)) sum += weights[static_cast<std::size_t>(j)] = std::exp(biased(j) - maximum);
  }
  for (double& weight : weights) weight = sum > 0 ? weight / sum : 0;
  return weights;
}

template <class Score>
std::vector<double> softmax(const OracleProblem& p, Index b, Index h, Index i, const Score& score) {
  return softmax_of(p, b, h, i, [&](Index j) { return score(j) + p.term(h, i, j); });
}

double dot(const double* x, const double* y, Index width) {
  double sum = 0;
  for (Index c = 0; c < width; ++c) sum += x[c] * y[c];
  return sum;
}

std::vector<double> dot_weights(const OracleProblem& p, Index b, Index h, Index i) {
  const double scale = p.number("scale", 1 / std::sqrt(static_cast<double>(p.sizes.head_width)));
  return softmax(p, b, h, i,
                 [&](Index j) { return scale * dot(p.query_row(b, h, i), p.key_row(b, h, j), p.sizes.head_width); });
}

std::vector<double> basic_weights(const OracleProblem& p, Index b, Index h, Index i) {
  return softmax(p, b, h, i,
                 [&](Index j) { return dot(p.query_row(b, h, i), p.key_row(b, h, j), p.sizes.head_width); });
}

std::vector<double> gaussian_weights(const OracleProblem& p, Index b, Index h, Index i) {
  const Index width = p.sizes.head_width;
  double bandwidth = p.number("bandwidth", std::sqrt(static_cast<double>(width)));
  if (p.number("learned", 0) == 1) bandwidth = std::exp(p.parameters.at("log_bandwidth")[static_cast<std::size_t>(h)]);
  const bool unit = p.number("unit-keys", 0) == 1, norm = p.number("key-norm", 1) == 1;
  return softmax(p, b, h, i, [&](Index j) {
    const double *q = p.query_row(b, h, i), *k = p.key_row(b, h, j);
    const double length = unit ? std::sqrt(dot(k, k, width)) : 1;
    double distance = 0, squares = 0;
    for (Index c = 0; c < width; ++c) {
      const double x = k[c] / length;
      distance += (q[c] - x) * (q[c] - x);
      squares += x * x;
    }
    return -(distance - (norm ? 0 : squares)) / (2 * bandwidth);
  });
}

std::vector<double> additive_weights(const OracleProblem& p, Index b, Index h, Index i) {
  const bool leaky = p.word("activation", "tanh") == "leaky-relu";
  const auto f = [&](double x) { return leaky ? std::max(x, 0.2 * x) : std::tanh(x); };
  const Index width = p.sizes.head_width, kv_head = h / (p.sizes.heads / p.sizes.kv_heads);
  if (p.word("order", "inside") == "outside") {
    const double* const a = p.parameters.at("query_vector").data() + h * width;
    const double* const key_vector = p.parameters.at("key_vector").data() + kv_head * width;
    return softmax_of(p, b, h, i, [&](Index j) {
      return f(dot(a, p.query_row(b, h, i), width) + dot(key_vector, p.key_row(b, h, j), width) + p.term(h, i, j));
    });
  }
  const double* const v = p.parameters.at("weight").data() + h * width;
  return softmax_of(p, b, h, i, [&](Index j) {
    double sum = 0;
    for (Index c = 0; c < width; ++c) {
      sum += v[c] * f(p.query_row(b, h, i)[c] + p.key_row(b, h, j)[c] + p.term(h, i, j, c));
    }
    return sum;
  });
}

std::vector<double> bilinear_weights(const OracleProblem& p, Index b, Index h, Index i) {
  const Index width = p.sizes.head_width;
  const double* matrix = p.parameters.at("weight").data() + h * width * width;
  const double scale = p.number("scale", 1 / std::sqrt(static_cast<double>(width)));
  return softmax(p, b, h, i, [&](Index j) {
    double sum = 0;
    for (Index row = 0; row < width; ++row) {
      sum += p.query_row(b, h, i)[row] * dot(matrix + row * width, p.key_row(b, h, j), width);
    }
    return scale * sum;
  });
}

double sinc(double u) {
  return u == 0 ? 1 : std::sin(u) / u;
}

std::vector<double> fourier_weights(const OracleProblem& p, Index b, Index h, Index i) {
  std::vector<double> weights(static_cast<std::size_t>(p.sizes.key_time), 0.0);
  const std::vector<double> radii =
      p.parameters.contains("radius") ? p.parameters.at("radius") : std::vector<double>{p.number("radius", 2)};
  double sum = 1e-6;
  for (Index j = 0; j < p.sizes.key_time; ++j) {
    if (!may_attend(p.mask, b, i, j)) continue;
    double product = 1;
    for (Index a = 0; a < p.sizes.head_width; ++a) {
      const double radius = radii[radii.size() == 1 ? 0 : static_cast<std::size_t>(a)];
      product *= sinc(radius * (p.query_row(b, h, i)[a] - p.key_row(b, h, j)[a]));
    }
    sum += weights[static_cast<std::size_t>(j)] = std::pow(product, p.number("power", 4));
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

// phi(x) without the factor 1 / sqrt(m), x times key_width^(-1/4) first.
std::vector<double> features_of(const double* x, Index width, const Tensor& vectors, const std::string& kernel,
                                double epsilon) {
  const double scale = std::pow(static_cast<double>(width), -0.25);
  const double half = scale * scale * dot(x, x, width) / 2;
  std::vector<double> first, second;
  for (Index r = 0; r < vectors.shape()[0]; ++r) {
    double u = 0;
    for (Index c = 0; c < width; ++c) u += scale * x[c] * vectors[r * width + c];
    if (kernel == "relu") {
      first.push_back(std::max(u, 0.0) + epsilon);
    } else if (kernel == "trigonometric") {
      first.push_back(std::exp(half) * std::cos(u) + epsilon);
      second.push_back(std::exp(half) * std::sin(u) + epsilon);
    } else {
      first.push_back(std::exp(u - half) + epsilon);
      if (kernel == "hyperbolic") second.push_back(std::exp(-u - half) + epsilon);
    }
  }
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// The masked matrix of all pairs.
std::vector<double> performer_weights(const OracleProblem& p, Index b, Index h, Index i) {
  const Index width = p.sizes.head_width, count = static_cast<Index>(p.number("features", 256));
  const std::string kernel = p.word("kernel", "positive");
  const double epsilon = p.number("epsilon", kernel == "relu" ? 1e-3 : 0);
  const RandomStream stream(static_cast<std::uint64_t>(p.number("seed", 0)), random_site(p.site));
  const auto directions = p.number("orthogonal", 1) == 1 ? ops::Directions::orthogonal : ops::Directions::independent;
  static std::map<std::tuple<std::string, std::string, Index>, Tensor> drawn;
  Tensor& vectors = drawn[{p.text, p.site, width}];
  if (vectors.empty()) vectors = ops::random_vectors(stream, count, width, directions);
  const std::vector<double> query = features_of(p.query_row(b, h, i), width, vectors, kernel, epsilon);
  std::vector<double> weights(static_cast<std::size_t>(p.sizes.key_time), 0.0);
  double sum = 0;
  for (Index j = 0; j < p.sizes.key_time; ++j) {
    if (!may_attend(p.mask, b, i, j)) continue;
    const std::vector<double> key = features_of(p.key_row(b, h, j), width, vectors, kernel, epsilon);
    sum += weights[static_cast<std::size_t>(j)] = dot(query.data(), key.data(), static_cast<Index>(query.size()));
  }
  for (double& weight : weights) weight = sum != 0 ? weight / sum : 0;
  return weights;
}

const std::map<std::string, VariantOracle>& oracles() {
  static const std::map<std::string, VariantOracle> all{
      {"dot", {{"dot", "dot:scale=1"}, dot_weights}},
      {"gaussian",
       {{"gaussian", "gaussian:bandwidth=0.5,learned=1", "gaussian:key-norm=0", "gaussian:unit-keys=1,learned=1",
         "gaussian:unit-keys=1,key-norm=0"},
        gaussian_weights}},
      {"fourier",
       {{"fourier:radius=0.5", "fourier:power=2,per-feature=1,radius=0.8", "fourier:learned=0,radius=0.3,power=6"},
        fourier_weights,
        0}},
      {"performer",
       {{"performer:features=7", "performer:features=4,kernel=hyperbolic,orthogonal=0,seed=3",
         "performer:features=24,kernel=trigonometric", "performer:features=9,kernel=relu,epsilon=0.2",
         "performer:features=5,epsilon=0.01,redraw=10"},
        performer_weights}},
      {"additive",
       {{"additive", "additive:activation=leaky-relu", "additive:order=outside",
         "additive:order=outside,activation=leaky-relu"},
        additive_weights}},
      {"bilinear", {{"bilinear", "bilinear:scale=0.3"}, bilinear_weights}},
      {"basic", {{"basic"}, basic_weights}},
  };
  return all;
}

}  // namespace

std::map<std::string, std::string> OracleProblem::settings_of(const std::string& text) {
  std::map<std::string, std::string> settings;
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return settings;
  for (const std::string& part : split(text.substr(colon + 1), ',')) {
    settings[part.substr(0, part.find('='))] = part.substr(part.find('=') + 1);
  }
  return settings;
}

const VariantOracle& oracle_of(const std::string& name) {
  const auto found = oracles().find(name);
  if (found == oracles().end()) throw std::runtime_error("no oracle of the variant " + name);
  return found->second;
}

std::vector<std::string> all_texts() {
  std::vector<std::string> texts;
  for (const AttentionVariant& variant : attention_variants()) {
    const VariantOracle& oracle = oracle_of(variant.name);
    texts.insert(texts.end(), oracle.texts.begin(), oracle.texts.end());
  }
  return texts;
}

std::vector<double> mix(const OracleProblem& p) {
  const AttentionSizes& s = p.sizes;
  const VariantOracle& oracle = oracle_of(Settings(p.text).name());
  std::vector<double> y;
  for (Index b = 0; b < s.batch; ++b) {
    for (Index i = 0; i < s.query_time; ++i) {
      for (Index h = 0; h < s.heads; ++h) {
        const Index kv_head = h / (s.heads / s.kv_heads);
        const std::vector<double> weights = oracle.weights(p, b, h, i);
        for (Index c = 0; c < s.value_width; ++c) {
          double sum = 0;
          for (Index j = 0; j < s.key_time; ++j) {
            const Index row = (b * s.kv_heads + kv_head) * s.key_time + j;
            sum += weights[static_cast<std::size_t>(j)] * p.value[static_cast<std::size_t>(row * s.value_width + c)];
          }
          y.push_back(sum);
        }
      }
    }
  }
  return y;
}

std::map<std::string, std::vector<double>> values_of(const Parameters& parameters) {
  std::map<std::string, std::vector<double>> values;
  for (const Parameter& parameter : parameters.all()) {
    values[parameter.name.substr(parameter.name.find('/') + 1)] = doubles(parameter.value());
  }
  return values;
}

bool supports(const AttentionSupport& has, const AttentionCase& problem) {
  const auto fits = [](bool needed, bool supported) { return !needed || supported; };
  const Mask& mask = problem.mask;
  return fits(mask.causal, has.causal) && fits(problem.sizes.query_time != problem.sizes.key_time, has.cross) &&
         fits(mask.window > 0, has.window) && fits(mask.pairs != nullptr, has.pairs) &&
         fits(problem.sizes.heads != problem.sizes.kv_heads, has.grouped);
}

}  // namespace heddle::testing
