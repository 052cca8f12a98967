// The convolutional sentence model: levels of convolutions over time, each feature with kernels of its own, which leave
// one vector of a source of any length.
//
//   x^1 = embeddings,  x^{l+1} = tanh(K_{l+1} * x^l),  kernels of 2, 3, … taps, of which the last is used again
//
// A level leaves taps - 1 fewer times. Where fewer times than the next kernel's taps are left, a kernel of exactly as
// many taps leaves one: c = tanh(L_n * x^l), n times. Source: Kalchbrenner and Blunsom 2013, "Recurrent continuous
// translation models", section 3.1, whose kernels grow with the longest source of the training data and whose
// non-linearity is open (SPEC 5.1).
// Parameters: kernel/2/weight, …, kernel/N/weight and last/2/weight, …, last/N-1/weight, [taps, embedding width] each,
// normal with standard deviation 1 / sqrt(taps).
#include <cmath>
#include <map>

#include "libcore/base/error.hpp"
#include "libcore/models/source_encoder.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/ops/activation.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/convolution.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::models {

namespace {

constexpr Index first_taps = 2;

// Up to 121 tokens, no kernel is used twice.
Index most_taps(Settings& settings) {
  return settings.index("kernel", 16, first_taps, 10000);
}

Variable level(const Variable& x, const Variable& kernel) {
  const Part part(nn::parts::convolutions);
  return ops::activate(ops::convolution(x, kernel), Activation::tanh);
}

// The first `times` times of some rows of x [batch, time, width]: [rows, times, width].
Variable beginnings(const Variable& x, const std::vector<Index>& rows, Index times) {
  const Index time = x.shape()[1], width = x.shape()[2];
  std::vector<Index> elements;
  for (const Index row : rows) {
    for (Index t = 0; t < times; ++t) elements.push_back(row * time + t);
  }
  const Shape shape{static_cast<Index>(rows.size()), times, width};
  return view(ops::gather_rows(x, elements), [=](const Tensor& t) { return t.reshaped(shape); });
}

class ConvolutionEncoder : public SourceEncoder {
 public:
  ConvolutionEncoder(const Scope& scope, Index width, Index most)
      : width_(width), dropout_site_(random_site(scope.path() + "/dropout")) {
    for (Index taps = first_taps; taps <= most; ++taps) kernels_.push_back(kernel(scope / "kernel" / taps, taps));
    for (Index taps = first_taps; taps < most; ++taps) last_.push_back(kernel(scope / "last" / taps, taps));
  }

  Result operator()(const Variable& x, const std::vector<Index>& lengths, const Pass& pass,
                    const ContextualVectors::Observer&) const override {
    Variable levels = x;
    std::vector<Index> left = lengths;  // times of each row; 0: its vector is there
    left.resize(static_cast<std::size_t>(x.shape()[0]), x.shape()[1]);
    Vectors vectors;
    for (std::size_t i = 0;; i = std::min(i + 1, kernels_.size() - 1)) {
      const Index taps = kernels_[i].shape()[0];
      finish(levels, taps, left, vectors);
      if (vectors.rows.size() == left.size()) break;
      levels = level(levels, kernels_[i]);
      for (Index& times : left) times -= times == 0 ? 0 : taps - 1;
    }
    return {.annotations = {}, .vector = pass.drop(in_order(vectors), dropout_site_), .last = {}};
  }

  Index vector_width() const override { return width_; }

 private:
  // [rows, width] each, of the rows in their order.
  struct Vectors {
    std::vector<Variable> parts;
    std::vector<Index> rows;
  };

  Variable kernel(const Scope& scope, Index taps) const {
    const auto stddev = 1 / std::sqrt(static_cast<double>(taps));
    return scope.parameter("weight", {taps, width_}, Initializer::normal(stddev), Decay::yes);
  }

  // The vectors of rows with fewer times than the next kernel has taps.
  void finish(const Variable& x, Index taps, std::vector<Index>& left, Vectors& vectors) const {
    std::map<Index, std::vector<Index>> rows;  // keyed by the number of remaining times
    for (std::size_t row = 0; row < left.size(); ++row) {
      if (left[row] > 0 && left[row] < taps) rows[left[row]].push_back(static_cast<Index>(row));
    }
    for (const auto& [times, some] : rows) {
      Variable vector = beginnings(x, some, times);
      if (times > 1) vector = level(vector, last_[static_cast<std::size_t>(times - first_taps)]);
      vectors.parts.push_back(view(vector, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); }));
      vectors.rows.insert(vectors.rows.end(), some.begin(), some.end());
      for (const Index row : some) left[static_cast<std::size_t>(row)] = 0;
    }
  }

  static Variable in_order(const Vectors& vectors) {
    std::vector<Index> places(vectors.rows.size());
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[static_cast<std::size_t>(vectors.rows[i])] = static_cast<Index>(i);
    }
    return ops::gather_rows(ops::concatenate(vectors.parts, 0), places);
  }

  Index width_;
  std::vector<Variable> kernels_, last_;
  std::uint64_t dropout_site_;
};

void check_convolution(const RnnConfig& config) {
  const auto refuse = [&](bool given, const char* field, const char* reason) {
    heddle::check<UsageError>(!given, "`", field, "`: ", reason,
                              "; leave it out, or give a recurrent `source_encoder`");
  };
  refuse(config.encoder_layers > 0, "encoder_layers", "a convolutional encoder has as many levels as a source needs");
  refuse(config.encoder_width > 0, "encoder_width", "a convolutional encoder is as wide as the embeddings");
  refuse(config.reverse_source, "reverse_source", "a convolutional encoder reads in no direction");
}

}  // namespace

SourceEncoderKind describe_ConvolutionEncoder() {
  return {
      .annotates = false,
      .has_states = false,
      .make = [](Settings& settings, const Scope& scope, const RnnConfig& config) -> std::unique_ptr<SourceEncoder> {
        return std::make_unique<ConvolutionEncoder>(scope, config.embedding(), most_taps(settings));
      },
      .check = check_convolution};
}

}  // namespace heddle::models
