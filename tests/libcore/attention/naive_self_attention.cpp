#include "naive_self_attention.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>

namespace heddle::testing {

namespace {

using Numbers = std::vector<double>;

double dot_product(const Numbers& x, const Numbers& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Numbers scaled_by(double factor, Numbers x) {
  for (double& value : x) value *= factor;
  return x;
}

void add(const Numbers& x, Numbers& to) {
  for (std::size_t i = 0; i < x.size(); ++i) to[i] += x[i];
}

// Settings of a variant or a scheme.
struct Named {
  explicit Named(const std::string& text)
      : name(text.substr(0, text.find(':'))), settings(OracleProblem::settings_of(text)) {}
  std::string word(const std::string& key, const std::string& fallback) const {
    const auto found = settings.find(key);
    return found == settings.end() ? fallback : found->second;
  }
  double number(const std::string& key, double fallback) const {
    return settings.contains(key) ? std::stod(settings.at(key)) : fallback;
  }
  Index index(const std::string& key, Index fallback) const {
    return static_cast<Index>(number(key, static_cast<double>(fallback)));
  }
  std::string name;
  std::map<std::string, std::string> settings;
};

// Row `row` of a parameter [..., width].
Numbers row_of(const Parameter* parameter, Index row) {
  if (parameter == nullptr) throw std::runtime_error("no such parameter");
  const Tensor& value = parameter->value();
  const Index width = value.shape()[-1];
  Numbers result;
  for (Index i = 0; i < width; ++i) result.push_back(value[row * width + i]);
  return result;
}

// W x + b of a layer, whose bias may be missing.
Numbers linear(const Parameters& parameters, const std::string& name, const Numbers& x) {
  const Parameter *const weight = parameters.find(name + "/weight"), *const bias = parameters.find(name + "/bias");
  Numbers y;
  for (Index o = 0; o < weight->value().shape()[0]; ++o) {
    y.push_back(dot_product(row_of(weight, o), x) + (bias == nullptr ? 0 : static_cast<double>(bias->value()[o])));
  }
  return y;
}

Numbers part_of(const Numbers& x, Index begin, Index size) {
  return {x.begin() + begin, x.begin() + begin + size};
}

// T5's bucket of a key `offset` after its query, as its published code has it.
Index bucket_of(Index offset, bool causal, Index buckets, Index max_distance) {
  Index first = 0, distance = -offset;
  if (causal) {
    distance = std::max<Index>(distance, 0);
  } else {
    buckets /= 2;
    if (distance < 0) first = buckets;
    distance = std::abs(distance);
  }
  const Index exact = buckets / 2;
  if (distance < exact) return first + distance;
  const double ratio = std::log(static_cast<double>(distance) / static_cast<double>(exact)) /
                       std::log(static_cast<double>(max_distance) / static_cast<double>(exact));
  const auto further = static_cast<Index>(ratio * static_cast<double>(buckets - exact) + 1e-9);
  return first + std::min(buckets - 1, exact + further);
}

double alibi_slope(Index head, Index heads) {
  const auto power = static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(heads)));
  const auto slope = [](Index nth, Index of) {
    return std::pow(2.0, -8 * static_cast<double>(nth) / static_cast<double>(of));
  };
  return head < power ? slope(head + 1, power) : slope(2 * (head - power) + 1, 2 * power);
}

// Effect of a position scheme on queries, keys, scores and values, for the projected heads q and k.
class Scheme {
 public:
  explicit Scheme(const NaiveSelfAttention& of) : of_(of), scheme_(of.positions) {
    static const std::vector<std::string> known{
        "learned",         "sinusoidal",      "rope",           "alibi",        "linear",
        "relative-scalar", "relative-vector", "transformer-xl", "disentangled", "none"};
    if (std::find(known.begin(), known.end(), scheme_.name) == known.end()) {
      throw std::runtime_error("no equations of the positions " + scheme_.name);
    }
    if (scheme_.name == "disentangled") terms_ = scheme_.word("terms", "both");
  }

  Numbers query(const Numbers& q, Index head, Index position) const {
    if (scheme_.name == "rope") return rotated(q, position);
    Numbers result = q;
    if (scheme_.name == "transformer-xl") add(own("content_bias", head), result);
    if (scheme_.name == "disentangled") return scaled_by(disentangled_factor(), result);
    return result;
  }
  Numbers key(const Numbers& k, Index position) const { return scheme_.name == "rope" ? rotated(k, position) : k; }

  // Term added to the product of query and key, before scaling.
  double of_product(const Numbers& q, const Numbers& k, Index head, Index from, Index to) const {
    if (scheme_.name == "relative-vector") return dot_product(q, own("key", offset_row(to - from)));
    if (scheme_.name == "transformer-xl") {
      Numbers asking = q;
      add(own("position_bias", head), asking);
      return dot_product(asking, projected("weight", head, sinusoids(from - to)));
    }
    if (scheme_.name != "disentangled") return 0;
    double sum = 0;
    if (terms_ != "keys") sum += dot_product(q, projected("key", head, distance_vector(from, to)));
    if (terms_ != "queries") sum += dot_product(k, projected("query", head, distance_vector(to, from)));
    return disentangled_factor() * sum;
  }

  // Term added to a score without scaling.
  double of_score(Index head, Index from, Index to) const {
    const auto distance = static_cast<double>(from - to);
    if (scheme_.name == "alibi") return -alibi_slope(head, of_.shape.heads) * std::abs(distance);
    if (scheme_.name == "linear") {
      const std::string kind = scheme_.word("distance", of_.causal ? "signed" : "absolute");
      const double factor = of_.parameters.find(of_.layer + "/positions/factor")->value()[head];
      return factor * (kind == "absolute" ? std::abs(distance) : distance);
    }
    if (scheme_.name == "relative-scalar") {
      const Index bucket =
          bucket_of(to - from, of_.causal, scheme_.index("buckets", 32), scheme_.index("max-distance", 128));
      return row_of(of_.parameters.find(of_.embedding + "/weight"), bucket)[static_cast<std::size_t>(head)];
    }
    return 0;
  }

  Numbers of_value(Index from, Index to) const {
    if (scheme_.name == "relative-vector" && scheme_.number("values", 0) == 1)
      return own("value", offset_row(to - from));
    return Numbers(static_cast<std::size_t>(of_.shape.value_width), 0.0);
  }

 private:
  Numbers own(const std::string& name, Index row) const {
    return row_of(of_.parameters.find(of_.layer + "/positions/" + name), row);
  }
  // The head's part of a matrix [heads * head_width, width] times a vector.
  Numbers projected(const std::string& name, Index head, const Numbers& vector) const {
    Numbers result;
    for (Index i = 0; i < of_.shape.key_width; ++i) {
      result.push_back(dot_product(own(name, head * of_.shape.key_width + i), vector));
    }
    return result;
  }
  Index offset_row(Index offset) const {
    const Index reach = scheme_.index("reach", 16);
    return std::min(std::max(offset, -reach), of_.causal ? 0 : reach) + reach;
  }
  Numbers sinusoids(Index distance) const {
    const Index clamp = scheme_.index("clamp", 0);
    if (clamp > 0) distance = std::min(std::max(distance, -clamp), clamp);
    const Index width = of_.parameters.find(of_.layer + "/positions/weight")->value().shape()[1];
    Numbers result;
    for (const bool sine : {true, false}) {
      for (Index k = 0; 2 * k < width; ++k) {
        const double angle =
            static_cast<double>(distance) * std::pow(10000.0, -2 * static_cast<double>(k) / static_cast<double>(width));
        result.push_back(sine ? std::sin(angle) : std::cos(angle));
      }
    }
    return result;
  }
  double disentangled_factor() const { return 1 / std::sqrt(terms_ == "both" ? 3.0 : 2.0); }
  Numbers distance_vector(Index from, Index to) const {
    const Index reach = scheme_.index("reach", 512);
    const Index row = std::min(std::max<Index>(from - to + reach, 0), 2 * reach - 1);
    return row_of(of_.parameters.find(of_.embedding + "/weight"), row);
  }
  Numbers rotated(const Numbers& x, Index position) const {
    const auto width = static_cast<Index>(x.size());
    const std::string scaling = scheme_.word("scaling", "none");
    const double factor = scheme_.number("factor", 1),
                 at = static_cast<double>(position) / (scaling == "linear" ? factor : 1);
    double base = scheme_.number("base", 10000);
    if (scaling == "ntk") base *= std::pow(factor, static_cast<double>(width) / static_cast<double>(width - 2));
    const bool neighbours = scheme_.number("interleaved", 0) == 1;
    Numbers result = x;
    for (Index pair = 0; pair < width / 2; ++pair) {
      const auto a = static_cast<std::size_t>(neighbours ? 2 * pair : pair),
                 b = static_cast<std::size_t>(neighbours ? 2 * pair + 1 : pair + width / 2);
      const double angle = at * std::pow(base, -2 * static_cast<double>(pair) / static_cast<double>(width));
      result[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
      result[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
    }
    return result;
  }

  const NaiveSelfAttention& of_;
  Named scheme_;
  std::string terms_;
};

// Everything that one call computes on its way.
class Calculation {
 public:
  Calculation(const NaiveSelfAttention& of, const Rows& asking, const Rows& seen, const NaiveSelfAttention::Text& text)
      : of_(of),
        scheme_(of),
        text_(text),
        asking_(asking),
        first_(text.mask.query_offsets.empty() ? 0 : text.mask.query_offsets[0]) {
    for (const auto& x : asking) query_.push_back(normed("query", projected("query", x)));
    for (const auto& x : seen) key_.push_back(normed("key", projected("key", x)));
    for (const auto& x : seen) value_.push_back(projected("value", x));
    for (std::size_t t = 0; t < text.values.size(); ++t) add(text.values[t], value_[t]);
  }

  // [heads][query][key]
  std::vector<Rows> weights() const {
    const HeadShape& s = of_.shape;
    const auto queries = static_cast<Index>(query_.size()), keys = static_cast<Index>(key_.size());
    OracleProblem problem{.text = of_.variant,
                          .sizes = {1, s.heads, queries, keys, s.key_width, s.kv_heads, s.value_width},
                          .mask = text_.mask};
    problem.site = of_.layer + "/features";
    problem.bias = {.batch = 1, .heads = s.heads};
    for (Index h = 0; h < s.heads; ++h) {
      for (Index i = 0; i < queries; ++i) {
        const Numbers q = scheme_.query(query(i, h), h, first_ + i);
        problem.query.insert(problem.query.end(), q.begin(), q.end());
        for (Index j = 0; j < keys; ++j) problem.bias.full.push_back(score_term(h, i, j));
      }
    }
    for (Index h = 0; h < s.kv_heads; ++h) {
      for (Index j = 0; j < keys; ++j) {
        const Numbers k = scheme_.key(part_of(key_[static_cast<std::size_t>(j)], h * s.key_width, s.key_width), j);
        problem.key.insert(problem.key.end(), k.begin(), k.end());
      }
    }
    for (const Parameter& parameter : of_.parameters.all()) {
      if (parameter.name.starts_with(of_.layer + "/")) {
        problem.parameters[parameter.name.substr(of_.layer.size() + 1)] = doubles(parameter.value());
      }
    }
    const VariantOracle& oracle = oracle_of(Named(of_.variant).name);
    std::vector<Rows> all(static_cast<std::size_t>(s.heads));
    for (Index h = 0; h < s.heads; ++h) {
      for (Index i = 0; i < queries; ++i) all[static_cast<std::size_t>(h)].push_back(oracle.weights(problem, 0, h, i));
    }
    return all;
  }

  Rows results() const {
    const std::vector<Rows> all = weights();
    const bool has_output = of_.parameters.find(of_.layer + "/output/weight") != nullptr;
    Rows results;
    for (Index i = 0; i < static_cast<Index>(query_.size()); ++i) {
      Numbers heads;
      for (Index h = 0; h < of_.shape.heads; ++h) {
        Numbers mixed(static_cast<std::size_t>(of_.shape.value_width), 0.0);
        for (Index j = 0; j < static_cast<Index>(key_.size()); ++j) {
          Numbers v =
              part_of(value_[static_cast<std::size_t>(j)], key_head(h) * of_.shape.value_width, of_.shape.value_width);
          add(scheme_.of_value(first_ + i, j), v);
          add(scaled_by(all[static_cast<std::size_t>(h)][static_cast<std::size_t>(i)][static_cast<std::size_t>(j)], v),
              mixed);
        }
        if (const Parameter* const gate = of_.parameters.find(of_.layer + "/gate/weight")) {
          mixed =
              scaled_by(1 / (1 + std::exp(-dot_product(row_of(gate, h), asking_[static_cast<std::size_t>(i)]))), mixed);
        }
        heads.insert(heads.end(), mixed.begin(), mixed.end());
      }
      results.push_back(has_output ? linear(of_.parameters, of_.layer + "/output", heads) : heads);
    }
    return results;
  }

 private:
  Numbers projected(const std::string& name, const Numbers& x) const {
    const std::string path = of_.layer + "/" + name;
    const Parameter* const weight = of_.parameters.find(path + "/weight");
    if (weight == nullptr) return x;
    return weight->value().rank() == 3 ? narrow(weight->value(), x) : linear(of_.parameters, path, x);
  }
  // Each head's part, x / sqrt(mean x^2 + eps) times the gain, where there is one.
  Numbers normed(const std::string& name, Numbers heads) const {
    const Parameter* const gain = of_.parameters.find(of_.layer + "/" + name + "_norm/gain");
    if (gain == nullptr) return heads;
    const auto width = static_cast<std::size_t>(of_.shape.key_width);
    for (std::size_t first = 0; first < heads.size(); first += width) {
      double squares = 0;
      for (std::size_t i = 0; i < width; ++i) squares += heads[first + i] * heads[first + i];
      const double factor = 1 / std::sqrt(squares / static_cast<double>(width) + of_.norm_epsilon);
      for (std::size_t i = 0; i < width; ++i) heads[first + i] *= factor * gain->value()[static_cast<Index>(i)];
    }
    return heads;
  }
  // Each head's part of x times a matrix [in, out] of its own.
  static Numbers narrow(const Tensor& matrices, const Numbers& x) {
    const Index heads = matrices.shape()[0], in = matrices.shape()[1], out = matrices.shape()[2];
    Numbers y(static_cast<std::size_t>(heads * out), 0.0);
    for (Index i = 0; i < heads * in; ++i) {
      for (Index o = 0; o < out; ++o) {
        y[static_cast<std::size_t>(i / in * out + o)] += x[static_cast<std::size_t>(i)] * matrices[i * out + o];
      }
    }
    return y;
  }
  Index key_head(Index head) const { return head / (of_.shape.heads / of_.shape.kv_heads); }
  Numbers query(Index i, Index head) const {
    return part_of(query_[static_cast<std::size_t>(i)], head * of_.shape.key_width, of_.shape.key_width);
  }
  // All that the score of a pair has beside its product.
  double score_term(Index head, Index i, Index j) const {
    const Index width = of_.shape.key_width;
    const Named variant(of_.variant);
    const double usual = variant.name == "basic" ? 1 : 1 / std::sqrt(static_cast<double>(width));
    const Numbers q = query(i, head), k = part_of(key_[static_cast<std::size_t>(j)], key_head(head) * width, width);
    const double product = scheme_.of_product(q, k, head, first_ + i, j) + segment_term(q, head, first_ + i, j);
    return variant.number("scale", usual) * product + scheme_.of_score(head, first_ + i, j);
  }
  // (q + b) s of the same or of another segment.
  double segment_term(const Numbers& q, Index head, Index from, Index to) const {
    if (text_.segments.empty()) return 0;
    const bool same = text_.segments[static_cast<std::size_t>(from)] == text_.segments[static_cast<std::size_t>(to)];
    const std::string path = of_.layer + "/segments/";
    Numbers asking = q;
    add(row_of(of_.parameters.find(path + "bias"), head), asking);
    return dot_product(asking, part_of(row_of(of_.parameters.find(path + "weight"), same ? 0 : 1),
                                       head * of_.shape.key_width, of_.shape.key_width));
  }

  const NaiveSelfAttention& of_;
  Scheme scheme_;
  const NaiveSelfAttention::Text& text_;
  const Rows& asking_;
  Index first_;
  Rows query_, key_, value_;
};

// p_t of the published forms: the number of column i of n at a position.
double sinusoid(const Named& scheme, Index position, Index i, Index width) {
  const std::string form = scheme.word("form", "aiayn");
  const bool pairs = scheme.number("interleaved", form == "t2t" ? 0 : 1) == 1;
  const Index sines = (width + 1) / 2;
  const Index pair = pairs ? i / 2 : i % sines;
  const bool sine = pairs ? i % 2 == 0 : i < sines;
  const auto k = static_cast<double>(pair), w = static_cast<double>(width), t = static_cast<double>(position);
  double angle = t * std::pow(10000.0, -2 * k / w);
  if (form == "deck0") angle = (t + 1) * std::pow(10.0, -10 * (k + 1) / w);
  if (form == "t2t") angle = t * std::pow(10000.0, -k / std::max(1.0, w / 2 - 1));
  return sine ? std::sin(angle) : std::cos(angle);
}

}  // namespace

Rows rows_of(const Tensor& x, Index row) {
  Rows rows;
  for (Index t = 0; t < x.shape()[1]; ++t) rows.push_back(doubles(x.narrowed(0, row, 1).narrowed(1, t, 1)));
  return rows;
}

Tensor tensor_of(const std::vector<Rows>& batch) {
  std::vector<Real> elements;
  for (const Rows& rows : batch) {
    for (const auto& row : rows) elements.insert(elements.end(), row.begin(), row.end());
  }
  const auto rows = static_cast<Index>(batch.size()), time = static_cast<Index>(batch.front().size());
  return {{rows, time, static_cast<Index>(elements.size()) / (rows * time)}, elements};
}

Rows NaiveSelfAttention::operator()(const Rows& asking, const Rows& seen, const Text& text) const {
  return Calculation(*this, asking, seen, text).results();
}

std::vector<Rows> NaiveSelfAttention::weights(const Rows& asking, const Rows& seen, const Text& text) const {
  return Calculation(*this, asking, seen, text).weights();
}

Rows NaiveSelfAttention::embed(Rows x, Index first) const {
  const Named scheme(positions);
  const auto width = static_cast<Index>(x.front().size());
  const bool scaled = scheme.number("scaled", scheme.name == "sinusoidal" ? 1 : 0) == 1;
  for (std::size_t t = 0; t < x.size(); ++t) {
    const Index position = first + static_cast<Index>(t);
    if (scaled) x[t] = scaled_by(std::sqrt(static_cast<double>(width)), x[t]);
    if (scheme.name == "learned") {
      add(row_of(parameters.find(embedding + "/weight"), position + scheme.index("offset", 0)), x[t]);
    }
    if (scheme.name != "sinusoidal") continue;
    for (Index i = 0; i < width; ++i) x[t][static_cast<std::size_t>(i)] += sinusoid(scheme, position, i, width);
  }
  return x;
}

}  // namespace heddle::testing
