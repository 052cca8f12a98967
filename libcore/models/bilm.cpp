// The bidirectional language model: layers of recurrent cells in each direction, the forward ones over the tokens
// before a token and the backward ones over those after it, with one table of embeddings and one output layer for both.
//
//   x_k = embedding,  f^1_k = forward(x_1 .. x_k),  b^1_k = backward(x_N .. x_k),
//   f^{l+1} = forward(f^l) [+ f^l],  b^{l+1} = backward(b^l) [+ b^l],
//   p(t_{k+1} | t_1 .. t_k) = softmax(E f^L_k),  p(t_{k-1} | t_N .. t_k) = softmax(E b^L_k)
//
// Its contextual vectors are h^0_k = [x_k; x_k] and h^l_k = [f^l_k; b^l_k]. Source: Peters et al. 2018, "Deep
// contextualized word representations", 3.1 and 3.2 (SPEC 5.5), whose character convolutions are left out: tokens are
// pieces with embeddings of their own. Its layers project what the cells give: Sak et al. 2014.
#include "libcore/heads/language_model.hpp"
#include "libcore/models/architecture.hpp"
#include "libcore/models/recurrent_init.hpp"
#include "libcore/nn/embedding.hpp"
#include "libcore/nn/recurrent.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/concatenate.hpp"

namespace heddle::models {

namespace {

struct BilmConfig : TokenConfig, RecurrentInit {
  static constexpr const char* kind_name = "bilm";
  Index layers = 2;
  Index width = 128;
  Index projection = 0;  // 0: none
  std::string cell = "lstm";
  bool skip = true;
  bool tie_embeddings = true;

  // The width of a direction's output.
  Index direction_width() const { return projection > 0 ? projection : width; }

  void spell_out() override {
    TokenConfig::spell_out();
    spell_out_init(ops::cell(cell));
  }
  void validate() const override {
    check_init(ops::cell(cell));
    check<UsageError>(projection == 0 || ops::cell(cell).gate == nullptr, "`projection`: the cell ", cell,
                      " has a gate before its product; leave it out, or choose another `cell`");
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("layers", "number of blocks").range(1, 10000).takes("N"), self.layers);
    visitor(Field("width", "width of the residual stream").range(1, 1000000).takes("N"), self.width);
    visitor(Field("projection",
                  "width to which each direction of a layer projects its states, and of the token embeddings; none: "
                  "width")
                .range(1, 1000000)
                .word(0, "none")
                .takes("N"),
            self.projection);
    visitor(Field("cell", "recurrent cell").one_of(ops::cell_names()).takes("NAME"), self.cell);
    visitor(Field("skip", "layers that add their input to their output"), self.skip);
    TokenConfig::visit(self, visitor);
    visitor(Field("tie_embeddings", "output matrix shared with the token embeddings"), self.tie_embeddings);
    RecurrentInit::visit(self, visitor);
  }
};

nn::Recurrent layer_of(const Scope& scope, const BilmConfig& config) {
  const ops::Cell& cell = ops::cell(config.cell);
  const Index in = config.direction_width();
  const nn::RecurrentOptions options = config.options(cell);
  if (config.projection > 0) return {scope, cell, in, nn::ProjectedShape{config.width, config.projection}, options};
  return {scope, cell, in, config.width, options};
}

}  // namespace

// Parameters: bilm/embedding/token/weight; bilm/0/forward, bilm/0/backward, bilm/1/forward, … of nn::Recurrent;
// head/weight where embeddings are not tied.
class Bilm : public ModelOfTokens, public BidirectionalLoss {
 public:
  Bilm(const BilmConfig& config, ParameterSource weights)
      : ModelOfTokens(config, std::move(weights)),
        skip_(config.skip),
        tokens_(scope("bilm/embedding/token"), config.vocab_size, config.direction_width(),
                config.embedding_stddev(ops::cell(config.cell))),
        head_(config.tie_embeddings ? heads::LanguageModel(scope("head"), tokens_)
                                    : heads::LanguageModel(scope("head"), config.vocab_size, config.direction_width(),
                                                           nn::stddev_by_inputs(config.direction_width()))),
        token_dropout_(random_site("bilm/embedding/dropout")) {
    for (Index i = 0; i < config.layers; ++i) {
      const Scope layer = scope("bilm") / i;
      for (const char* direction : {"forward", "backward"}) {
        directions_[direction[0] == 'b'].push_back(
            {layer_of(layer / direction, config), random_site((layer / direction).path() + "/dropout")});
      }
    }
  }

  Index layers() const override { return static_cast<Index>(directions_[0].size()); }
  Index width() const override { return 2 * tokens_.weight().shape()[1]; }
  bool is_bidirectional() const override { return true; }
  const Tensor& token_embeddings() const override { return tokens_.weight().value(); }
  const heads::TokenHead& direction_head() const override { return head_; }

  Directions directions(const Sequences& sequences, const Pass& pass) const override {
    return run(sequences, pass, [](const Directions&) {});
  }

  Variable hidden(const Sequences& sequences, const Pass& pass, const Observer& observe) const override {
    const Directions top = run(sequences, pass, [&](const Directions& each) {
      if (observe) observe(joined(each));
    });
    return joined(top);
  }

  double training_flops_per_token(Index, double predicted) const override {
    double multiplied = 2 * predicted * static_cast<double>(tokens_.weight().value().size());
    for (const Parameter& parameter : parameters().all()) {
      const bool is_table = parameter.name.find("embedding/token") != std::string::npos || is_of_head(parameter.name);
      if (parameter.value().rank() >= 2 && !is_table) multiplied += static_cast<double>(parameter.size());
    }
    return 6.0 * multiplied;
  }

 private:
  struct Layer {
    nn::Recurrent cells;
    std::uint64_t dropout_site;
  };

  static Variable joined(const Directions& each) { return ops::concatenate({each.forward, each.backward}, -1); }

  // see(states): those of each layer, the embeddings first.
  template <class See>
  Directions run(const Sequences& sequences, const Pass& pass, const See& see) const {
    const Variable x = pass.drop(tokens_(sequences.ids), token_dropout_);
    Directions states{x, x};
    see(states);
    for (std::size_t i = 0; i < directions_[0].size(); ++i) {
      const auto next = [&](const Layer& layer, const Variable& in, bool reverse) {
        const Variable cells = layer.cells(in, {.lengths = sequences.lengths, .reverse = reverse}).hidden;
        return pass.drop(skip_ && i > 0 ? ops::add(cells, in) : cells, layer.dropout_site);
      };
      states = {next(directions_[0][i], states.forward, false), next(directions_[1][i], states.backward, true)};
      see(states);
    }
    return states;
  }

  bool skip_;
  nn::Embedding tokens_;
  heads::LanguageModel head_;
  std::uint64_t token_dropout_;
  std::vector<Layer> directions_[2];  // forward, backward
};

Architecture describe_Bilm() {
  Architecture architecture = describe<Bilm, BilmConfig>();
  architecture.learning_rate = [](const ModelConfig& config) { return recurrent_rate(config.as<BilmConfig>()->width); };
  return architecture;
}

}  // namespace heddle::models
