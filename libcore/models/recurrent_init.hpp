// Initialisation of recurrent models.
#pragma once

#include <algorithm>

#include "libcore/base/visit.hpp"
#include "libcore/nn/recurrent.hpp"

namespace heddle::models {

// Settings of architectures of recurrent cells. Defaults are by measurement on texts that no table of results uses
// (examples/recipes/LOG.md).
struct RecurrentInit {
  static constexpr double automatic_bias = -1000;
  static constexpr const char* usual_embeddings = "what suits the cell";
  bool orthogonal = false;
  double forget_bias = automatic_bias;
  double embedding_init = 0;  // 0: usual_stddev
  // An architecture's stddev for all its cells, described by its usual_embeddings; 0: the stddev of the cell.
  double usual_stddev = 0;

  double bias_of(const ops::Cell& cell) const {
    return forget_bias == automatic_bias ? cell.start.keeping_bias : forget_bias;
  }
  double embedding_stddev(const ops::Cell& cell) const {
    if (embedding_init > 0) return embedding_init;
    return usual_stddev > 0 ? usual_stddev : cell.start.embedding_stddev;
  }
  nn::RecurrentOptions options(const ops::Cell& cell, nn::Bias bias = nn::Bias::yes) const {
    return {bias, orthogonal, bias_of(cell)};
  }
  // Throws UsageError for a bias that no gate has, unless it is the default, which spell_out_init() writes out.
  void check_init(const ops::Cell& cell, nn::Bias bias = nn::Bias::yes) const {
    if (forget_bias == automatic_bias || forget_bias == cell.start.keeping_bias) return;
    check<UsageError>(cell.keeping_gate.has_value(), "`forget_bias` = ", forget_bias, ": the cell ", cell.name,
                      " has no gate that keeps the state; leave it out, or choose another `cell`");
    check<UsageError>(bias == nn::Bias::yes, "`forget_bias` = ", forget_bias,
                      ": there are no biases with `bias` = false; leave one of them out");
  }
  // Replaces values that stand for a default.
  void spell_out_init(const ops::Cell& cell) {
    forget_bias = bias_of(cell);
    embedding_init = embedding_stddev(cell);
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("orthogonal", "initial recurrent matrices that are orthogonal, one for each gate (Saxe et al. 2014)")
                .initial(),
            self.orthogonal);
    visitor(Field("forget_bias",
                  "initial bias of the gates that keep the state: forget gates of LSTM cells (Jozefowicz et al. 2015), "
                  "update gates of GRU cells; auto means 0 and -1")
                .range(-100, 100)
                .word(automatic_bias, "auto")
                .takes("X")
                .initial(),
            self.forget_bias);
    visitor(Field("embedding_init", concatenate("standard deviation of the initial token embeddings; auto: ",
                                                std::remove_const_t<Self>::usual_embeddings))
                .above(0, 100)
                .word(0, "auto")
                .takes("X")
                .initial(),
            self.embedding_init);
  }
};

// The rate that suits models of recurrent cells, which learn slowly with that of transformers: 2e-2 up to a width of
// 128, 1e-2 at 256.
inline double recurrent_rate(Index width) {
  return std::min(2e-2, 2.56 / static_cast<double>(width));
}

}  // namespace heddle::models
