// x_t = s e_t + p_t, p[t, 2k] = sin(w_k t), p[t, 2k + 1] = cos(w_k t), for pairs k from 0 (SPEC 2.1).
// Settings: form, which of the published frequencies and orders:
//   aiayn: w_k = 10000^(-2k / width), as above (Vaswani et al. 2017, 3.5; the default)
//   deck0: w_k = 10^(-10 (k + 1) / width), positions from 1 (lecture slides, and thus base 10^5)
//   t2t: w_k = 10000^(-k / (width / 2 - 1)), all sines before all cosines (the Tensor2Tensor library)
// interleaved, 0 for all sines before all cosines whatever the form, as Marian has them: the same model with its
// columns in another order; scaled, 1 for s = sqrt(width) as in that paper (the default), 0 for s = 1.
#include <algorithm>
#include <cmath>

#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/embedding.hpp"
#include "libcore/positions/growing_table.hpp"
#include "libcore/positions/positions.hpp"

namespace heddle {

namespace {

enum class Form { aiayn, deck0, t2t };

struct Sinusoids {
  Index width;
  Form form;
  bool interleaved;

  double frequency(Index pair) const {
    const auto k = static_cast<double>(pair), w = static_cast<double>(width);
    switch (form) {
      case Form::aiayn:
        return std::pow(10000.0, -2 * k / w);
      case Form::deck0:
        return std::pow(10.0, -10 * (k + 1) / w);
      case Form::t2t:
        break;
    }
    return std::pow(10000.0, -k / std::max(1.0, w / 2 - 1));
  }
  double angle(Index pair, Index position) const {
    return frequency(pair) * static_cast<double>(position + (form == Form::deck0 ? 1 : 0));
  }
  // The column of sine (0) or cosine (1) of a pair.
  Index column(Index pair, Index of) const { return interleaved ? 2 * pair + of : pair + of * ((width + 1) / 2); }

  Tensor table(Index time) const {
    const Tensor result({time, width});
    parallel_for(time, [&](Index t) {
      for (Index i = 0; i < width; ++i) {
        const double at = angle(i / 2, t);
        result[t * width + column(i / 2, i % 2)] = static_cast<Real>(i % 2 == 0 ? std::sin(at) : std::cos(at));
      }
    });
    return result;
  }
};

class SinusoidalPositions : public Positions {
 public:
  SinusoidalPositions(const Sinusoids& sinusoids, bool scaled)
      : scale_(scaled ? static_cast<Real>(std::sqrt(static_cast<double>(sinusoids.width))) : Real(1)),
        table_([sinusoids](Index time) { return sinusoids.table(time); }) {}

  bool is_absolute() const override { return true; }

  Variable embed(const Variable& x, const std::vector<Index>& starts) const override {
    const Index batch = x.shape()[0], time = x.shape()[1];
    const Variable scaled = scale_ == 1 ? x : ops::scale(x, scale_);
    if (starts.empty()) return ops::add_to_each(scaled, Variable(table_.at_least(time).narrowed(0, 0, time)));
    const Tensor table = table_.at_least(time + *std::ranges::max_element(starts));
    TokenIds rows(Shape{batch, time});
    for (Index b = 0; b < batch; ++b) {
      for (Index t = 0; t < time; ++t) {
        rows.ids[static_cast<std::size_t>(b * time + t)] =
            static_cast<TokenId>(starts[static_cast<std::size_t>(b)] + t);
      }
    }
    return ops::add(scaled, ops::embed(rows, Variable(table)));
  }

 private:
  Real scale_;
  GrowingTable<Tensor> table_;
};

}  // namespace

std::shared_ptr<const Positions> make_SinusoidalPositions(Settings& settings, const Scope&,
                                                          const PositionShape& shape) {
  const bool scaled = settings.flag({"scaled", "0 for token embeddings that are not multiplied by sqrt(width)"}, true);
  const std::string named = settings.word({"form", "which published frequencies"}, "aiayn", {"aiayn", "deck0", "t2t"});
  const Form form = named == "aiayn" ? Form::aiayn : named == "deck0" ? Form::deck0 : Form::t2t;
  const bool interleaved =
      settings.flag({"interleaved", "0 for all sines before all cosines", "1, but 0 for t2t"}, form != Form::t2t);
  return std::make_shared<SinusoidalPositions>(Sinusoids{shape.width, form, interleaved}, scaled);
}

}  // namespace heddle
