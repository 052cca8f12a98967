// Small transformer encoders whose tokens are the columns of a row: a number t of column j is the vector t a_j + b_j.
// One block of attention with a head and of a hidden layer, each beside a residual, without norms, then the mean:
//
//   h_j = t_j a_j + b_j,  p_ij = softmax_j(W_q h_i . W_k h_j / sqrt(width)),  y_i = h_i + W_o sum_j p_ij W_v h_j,
//   z_i = y_i + W_2 tanh(W_1 y_i + b_1) + b_2,  prediction w . mean_i z_i + c
//
// Source: Gorishniy et al. 2021, "Revisiting deep learning models for tabular data", 3.3 (the tokens); SPEC 6.3.
#include <algorithm>
#include <cmath>

#include "libcore/data/table_problems.hpp"

namespace heddle::data {

namespace {

// y += W x, W [rows, columns].
void add_product(const double* w, Index rows, Index columns, const double* x, double* y) {
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) y[r] += w[r * columns + c] * x[c];
  }
}
// The gradients of the same product: dW += dy x^T, dx += W^T dy.
void add_product_gradients(const double* w, Index rows, Index columns, const double* x, const double* dy, double* dw,
                           double* dx) {
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < columns; ++c) {
      dw[r * columns + c] += dy[r] * x[c];
      dx[c] += w[r * columns + c] * dy[r];
    }
  }
}
double product(const double* a, const double* b, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

// The tensors of an encoder, one after another in x or in its gradient.
template <class Number>
struct EncoderTensors {
  EncoderTensors(Number* x, Index inputs, Index width, Index hidden) {
    Number** const all[] = {&a, &b, &query, &key, &value, &output, &inner, &inner_bias, &outer, &outer_bias, &head, &c};
    const std::vector<Index> sizes = sizes_of(inputs, width, hidden);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      *all[i] = x;
      x += sizes[i];
    }
  }
  static std::vector<Index> sizes_of(Index inputs, Index width, Index hidden) {
    const Index square = width * width;
    return {inputs * width, inputs * width, square,         square, square, square,
            hidden * width, hidden,         width * hidden, width,  width,  1};
  }
  Number *a, *b, *query, *key, *value, *output, *inner, *inner_bias, *outer, *outer_bias, *head, *c;
};

class Encoder : public TableNetwork {
 public:
  explicit Encoder(Index width) : width_(width), hidden_(2 * width) {}

  std::vector<Part> parts(Index inputs) const override {
    const double by_width = 1 / std::sqrt(static_cast<double>(width_));
    const double by_hidden = 1 / std::sqrt(static_cast<double>(hidden_));
    const double scales[] = {1, 1, by_width, by_width, by_width, by_width, by_width, 0, by_hidden, 0, by_width, 0};
    const std::vector<Index> sizes = EncoderTensors<double>::sizes_of(inputs, width_, hidden_);
    std::vector<Part> parts;
    for (std::size_t i = 0; i < sizes.size(); ++i) parts.push_back({sizes[i], scales[i]});
    return parts;
  }

  double add_row(const float* row, Index inputs, const double* x, double* gradient) const override {
    const EncoderTensors<const double> of(x, inputs, width_, hidden_);
    const EncoderTensors<double> to(gradient, inputs, width_, hidden_);
    Values values(inputs, width_, hidden_);
    const double apart = predict(row, of, values) - static_cast<double>(row[inputs]);
    add_gradients(row, 2 * apart, of, to, values);
    return apart * apart;
  }

 private:
  // Saved for the backward pass: [inputs, width] each, but for weights [inputs, inputs] and active [inputs, hidden].
  struct Values {
    Values(Index count, Index width, Index hidden) : inputs(count), d(width) {
      const auto zeros = [count](Index each) { return std::vector<double>(static_cast<std::size_t>(count * each)); };
      for (std::vector<double>* of : {&h, &q, &k, &v, &mixed, &y, &dh, &dq, &dk, &dv}) *of = zeros(width);
      weights = zeros(count);
      active = zeros(hidden);
      mean = std::vector<double>(static_cast<std::size_t>(width));
    }
    Index inputs, d;
    std::vector<double> h, q, k, v, mixed, y, dh, dq, dk, dv, weights, active, mean;
    double* at(std::vector<double>& of, Index i) const { return of.data() + i * d; }
  };

  double predict(const float* row, const EncoderTensors<const double>& of, Values& s) const {
    const Index d = width_;
    for (Index i = 0; i < s.inputs; ++i) {
      double* const h = s.at(s.h, i);
      for (Index c = 0; c < d; ++c) h[c] = static_cast<double>(row[i]) * of.a[i * d + c] + of.b[i * d + c];
      add_product(of.query, d, d, h, s.at(s.q, i));
      add_product(of.key, d, d, h, s.at(s.k, i));
      add_product(of.value, d, d, h, s.at(s.v, i));
    }
    for (Index i = 0; i < s.inputs; ++i) {
      attend(i, s);
      double* const y = s.at(s.y, i);
      std::copy_n(s.at(s.h, i), d, y);
      add_product(of.output, d, d, s.at(s.mixed, i), y);
      double* const active = s.active.data() + i * hidden_;
      std::copy_n(of.inner_bias, hidden_, active);
      add_product(of.inner, hidden_, d, y, active);
      for (Index n = 0; n < hidden_; ++n) active[n] = std::tanh(active[n]);
      std::vector<double> z(y, y + d);
      add_product(of.outer, d, hidden_, active, z.data());
      for (Index c = 0; c < d; ++c) {
        s.mean[static_cast<std::size_t>(c)] +=
            (z[static_cast<std::size_t>(c)] + of.outer_bias[c]) / static_cast<double>(s.inputs);
      }
    }
    return product(of.head, s.mean.data(), d) + of.c[0];
  }

  void attend(Index i, Values& s) const {
    double* const weights = s.weights.data() + i * s.inputs;
    for (Index j = 0; j < s.inputs; ++j) weights[j] = product(s.at(s.q, i), s.at(s.k, j), width_) * scale();
    const double largest = *std::max_element(weights, weights + s.inputs);
    double sum = 0;
    for (Index j = 0; j < s.inputs; ++j) sum += weights[j] = std::exp(weights[j] - largest);
    for (Index j = 0; j < s.inputs; ++j) {
      weights[j] /= sum;
      for (Index c = 0; c < width_; ++c) s.at(s.mixed, i)[c] += weights[j] * s.at(s.v, j)[c];
    }
  }

  // Adds gradients, given the derivative by the prediction.
  void add_gradients(const float* row, double derivative, const EncoderTensors<const double>& of,
                     const EncoderTensors<double>& to, Values& s) const {
    const Index d = width_;
    std::vector<double> dz(static_cast<std::size_t>(d));
    for (Index c = 0; c < d; ++c) {
      to.head[c] += derivative * s.mean[static_cast<std::size_t>(c)];
      dz[static_cast<std::size_t>(c)] = derivative * of.head[c] / static_cast<double>(s.inputs);
    }
    to.c[0] += derivative;
    for (Index i = 0; i < s.inputs; ++i) add_gradients_above(i, dz, of, to, s);
    for (Index i = 0; i < s.inputs; ++i) {
      double* const dh = s.at(s.dh, i);
      const double* const h = s.at(s.h, i);
      add_product_gradients(of.query, d, d, h, s.at(s.dq, i), to.query, dh);
      add_product_gradients(of.key, d, d, h, s.at(s.dk, i), to.key, dh);
      add_product_gradients(of.value, d, d, h, s.at(s.dv, i), to.value, dh);
      for (Index c = 0; c < d; ++c) {
        to.a[i * d + c] += static_cast<double>(row[i]) * dh[c];
        to.b[i * d + c] += dh[c];
      }
    }
  }

  // The gradients of hidden layer and attention of token i, down to its query and to all keys and values.
  void add_gradients_above(Index i, const std::vector<double>& dz, const EncoderTensors<const double>& of,
                           const EncoderTensors<double>& to, Values& s) const {
    const Index d = width_;
    std::vector<double> dactive(static_cast<std::size_t>(hidden_)), dmixed(static_cast<std::size_t>(d));
    double* const dy = s.at(s.dh, i);  // the residual goes to h
    std::copy_n(dz.data(), d, dy);
    const double* const active = s.active.data() + i * hidden_;
    add_product_gradients(of.outer, d, hidden_, active, dz.data(), to.outer, dactive.data());
    for (Index c = 0; c < d; ++c) to.outer_bias[c] += dz[static_cast<std::size_t>(c)];
    for (Index n = 0; n < hidden_; ++n) {
      dactive[static_cast<std::size_t>(n)] *= 1 - active[n] * active[n];
      to.inner_bias[n] += dactive[static_cast<std::size_t>(n)];
    }
    add_product_gradients(of.inner, hidden_, d, s.at(s.y, i), dactive.data(), to.inner, dy);
    add_product_gradients(of.output, d, d, s.at(s.mixed, i), dy, to.output, dmixed.data());
    const double* const weights = s.weights.data() + i * s.inputs;
    const double along = product(dmixed.data(), s.at(s.mixed, i), d);  // sum_j p_ij dp_ij
    for (Index j = 0; j < s.inputs; ++j) {
      const double ds = weights[j] * (product(dmixed.data(), s.at(s.v, j), d) - along) * scale();
      for (Index c = 0; c < d; ++c) {
        s.at(s.dv, j)[c] += weights[j] * dmixed[static_cast<std::size_t>(c)];
        s.at(s.dq, i)[c] += ds * s.at(s.k, j)[c];
        s.at(s.dk, j)[c] += ds * s.at(s.q, i)[c];
      }
    }
  }

  double scale() const { return 1 / std::sqrt(static_cast<double>(width_)); }

  Index width_, hidden_;
};

struct EncoderFamily final : TableFamily {
  static constexpr const char* kind_name = "encoder";
  Index width = 8;
  EncoderFamily() { rows = 32; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TableFamily::visit(self, visitor);
    visitor(
        Field("width", "width of the vectors of tokens; the hidden layer has twice as many").range(1, 1000).takes("N"),
        self.width);
  }

 private:
  std::unique_ptr<const TableNetwork> network() const override { return std::make_unique<Encoder>(width); }
  const char* family() const override { return kind_name; }
};

}  // namespace

ProblemChoice encoder_defaults() {
  return EncoderFamily();
}

}  // namespace heddle::data
