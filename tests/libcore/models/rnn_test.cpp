// Recurrent sequence-to-sequence models (SPEC 5.2 to 5.4, A7, A8). Built in double.
#include <doctest/doctest.h>

#include <cmath>

#include "libcore/models/architecture.hpp"
#include "libcore/models/model_checks.hpp"
#include "libcore/models/rnn_config.hpp"
#include "libcore/models/rnn_encoder.hpp"
#include "libcore/models/small_config.hpp"
#include "libcore/tensor/context.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace rnn_tests {

namespace {

constexpr Index vocabulary = 7;
using Numbers = std::vector<double>;

models::RnnConfig small_config() {
  models::RnnConfig config;
  config.width = 6;
  config.embedding_width = 5;
  config.encoder_width = 8;
  config.vocab_size = vocabulary;
  config.share_embeddings = false;
  return config;
}

std::vector<Variation<models::RnnConfig>> papers() {
  return Variations(small_config())
      .add("Luong",
           [](models::RnnConfig& config) {
             config.source_attention = "bilinear";
             config.input_feeding = true;
           })
      .add("Cho",
           [](models::RnnConfig& config) {
             config.source_attention = "none";
             config.context_vector = "every-step";
             config.bidirectional = false;
           })
      .add("Sutskever", [](models::RnnConfig& config) {
        config.source_attention = "none";
        config.bidirectional = false;
        config.reverse_source = true;
        config.width = config.embedding_width = config.encoder_width = 6;
      });
}

struct Stirred {
  explicit Stirred(const models::ModelConfig& config) : model(models::make_model(config, 3)) {
    stir(model->parameters(), 0.5);
    role = model->as<models::SequenceToSequence>();
    REQUIRE(role != nullptr);
  }
  Tensor logits(const TokenIds& targets, const TokenIds& sources) const {
    models::Sequences sequences(targets);
    sequences.sources = std::make_shared<const models::Sequences>(sources);
    return role->target_head()(role->target_hidden(sequences)).value();
  }
  std::unique_ptr<models::Model> model;
  const models::SequenceToSequence* role;
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One sequence at a time through a GRU model of one layer, written from the papers' equations.
class Naive {
 public:
  Naive(const Parameters& parameters, const models::RnnConfig& config) : parameters_(parameters), config_(config) {}

  // Logits of the next target token at each time.
  std::vector<Numbers> logits(const std::vector<TokenId>& sources, const std::vector<TokenId>& targets) {
    encode(sources);
    std::vector<Numbers> all;
    Numbers s = start(), fed(static_cast<std::size_t>(config_.output_width()), 0);
    for (const TokenId token : targets) {
      const Numbers e = row("decoder/embedding/token/weight", token);
      Numbers a = affine("decoder/0/input", e), t, c = context_;
      const Numbers before = s;
      if (config_.source_attention == "additive") c = attend(s);
      if (config_.has_context_input()) add(a, affine("decoder/context", c));
      if (config_.input_feeding) add(a, affine("decoder/context", fed));
      s = gru("decoder/0/recurrent", a, s);
      if (config_.attends_after()) c = attend(s);
      if (config_.readout_kind() == "state") {
        t = s;
      } else {
        t = affine("decoder/readout/state", config_.source_attention == "additive" ? before : s);
        add(t, affine("decoder/readout/context", c));
        if (config_.readout_kind() == "maxout") {
          add(t, affine("decoder/readout/embedding", e));
          for (std::size_t i = 0; i < t.size() / 2; ++i) t[i] = std::max(t[2 * i], t[2 * i + 1]);
          t.resize(t.size() / 2);
        } else {
          for (double& x : t) x = std::tanh(x);
        }
      }
      fed = t;
      all.push_back(product("decoder/embedding/token/weight", t));
    }
    return all;
  }

 private:
  const Tensor& value(const std::string& name) const { return parameters_.find(name)->value(); }
  Numbers row(const std::string& name, Index i) const { return doubles(value(name).narrowed(0, i, 1)); }
  Numbers product(const std::string& name, const Numbers& x) const {
    const Tensor& matrix = value(name);
    Numbers y(static_cast<std::size_t>(matrix.shape()[0]), 0);
    for (std::size_t i = 0; i < y.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) y[i] += matrix[static_cast<Index>(i * x.size() + k)] * x[k];
    }
    return y;
  }
  static void add(Numbers& sum, const Numbers& x) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  }
  Numbers affine(const std::string& path, const Numbers& x) const {
    Numbers y = product(path + "/weight", x);
    if (parameters_.find(path + "/bias") != nullptr) add(y, doubles(value(path + "/bias")));
    return y;
  }
  Numbers tanh_of(const std::string& path, const Numbers& x) const {
    Numbers y = affine(path, x);
    for (double& each : y) each = std::tanh(each);
    return y;
  }
  Numbers gru(const std::string& path, const Numbers& a, const Numbers& h) const {
    const std::size_t n = h.size();
    const Numbers u = product(path + "/weight", h), bias = doubles(value(path + "/bias"));
    Numbers next(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double r = sigmoid(a[k] + u[k]), z = sigmoid(a[n + k] + u[n + k]);
      next[k] = (1 - z) * std::tanh(a[2 * n + k] + r * (u[2 * n + k] + bias[k])) + z * h[k];
    }
    return next;
  }

  std::vector<Numbers> read(const std::string& path, const std::vector<TokenId>& tokens, bool from_the_end) const {
    const Index directions = config_.bidirectional ? 2 : 1;
    Numbers h(static_cast<std::size_t>(config_.annotation_width() / directions), 0);
    std::vector<Numbers> states(tokens.size());
    for (std::size_t step = 0; step < tokens.size(); ++step) {
      const std::size_t t = from_the_end ? tokens.size() - 1 - step : step;
      h = gru(path + "/recurrent", affine(path + "/input", row("encoder/embedding/token/weight", tokens[t])), h);
      states[t] = h;
    }
    return states;
  }

  void encode(const std::vector<TokenId>& sources) {
    annotations_ = read("encoder/0/forward", sources, config_.reverse_source);
    final_ = config_.reverse_source ? annotations_.front() : annotations_.back();
    if (!config_.bidirectional) return;
    const std::vector<Numbers> backward = read("encoder/0/backward", sources, true);
    for (std::size_t t = 0; t < sources.size(); ++t) {
      annotations_[t].insert(annotations_[t].end(), backward[t].begin(), backward[t].end());
    }
    final_ = backward.front();
  }

  Numbers start() {
    if (config_.context_vector == "every-step") final_ = context_ = tanh_of("decoder/summary", final_);
    return parameters_.find("decoder/start/0/weight") == nullptr ? final_ : tanh_of("decoder/start/0", final_);
  }

  Numbers attend(const Numbers& s) const {
    Numbers weights, query = product("decoder/attention/query/weight", s);
    double sum = 0;
    for (const Numbers& h : annotations_) {
      double score = 0;
      if (config_.source_attention == "additive") {
        Numbers inner = product("decoder/attention/key/weight", h);
        add(inner, query);
        const Numbers v = doubles(value("decoder/attention/score/weight"));
        for (std::size_t k = 0; k < v.size(); ++k) score += v[k] * std::tanh(inner[k]);
      } else {
        for (std::size_t k = 0; k < h.size(); ++k) score += query[k] * h[k];
      }
      weights.push_back(std::exp(score));
      sum += weights.back();
    }
    Numbers c(annotations_.front().size(), 0);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      for (std::size_t k = 0; k < c.size(); ++k) c[k] += weights[j] / sum * annotations_[j][k];
    }
    return c;
  }

  const Parameters& parameters_;
  models::RnnConfig config_;
  std::vector<Numbers> annotations_;
  Numbers final_, context_;
};

}  // namespace

TEST_CASE("rnn: the models of the papers equal their equations") {
  for (const auto& paper : papers()) {
    CAPTURE(paper.name);
    const Stirred stirred(paper.config);
    const TokenIds sources = some_ids(1, 6, vocabulary), targets(Shape{1, 5}, {3, 0, 5, 5, 1});
    Naive naive(stirred.model->parameters(), paper.config);
    const auto expected = naive.logits(sources.ids, targets.ids);
    const Tensor logits = stirred.logits(targets, sources);
    for (Index t = 0; t < 5; ++t) {
      for (Index v = 0; v < vocabulary; ++v) {
        const double wanted = expected[static_cast<std::size_t>(t)][static_cast<std::size_t>(v)];
        CHECK(logits[t * vocabulary + v] == doctest::Approx(wanted).epsilon(1e-11));
      }
    }
  }
}

namespace {

// The convolutional sentence model, from the embeddings of a source: [time][feature].
Numbers sentence_vector(const Parameters& parameters, std::vector<Numbers> columns, Index widest) {
  for (Index taps = 2; columns.size() > 1; taps = std::min(taps + 1, widest)) {
    const auto times = static_cast<Index>(columns.size());
    const bool fits = times >= taps;
    const Index used = fits ? taps : times;
    const Tensor& kernel =
        parameters.find(concatenate("encoder/", fits ? "kernel/" : "last/", used, "/weight"))->value();
    std::vector<Numbers> next;
    for (Index t = 0; t + used <= times; ++t) {
      Numbers& column = next.emplace_back(columns.front().size(), 0.0);
      for (std::size_t feature = 0; feature < column.size(); ++feature) {
        for (Index i = 0; i < used; ++i) {
          column[feature] += kernel[i * kernel.shape()[1] + static_cast<Index>(feature)] *
                             columns[static_cast<std::size_t>(t + i)][feature];
        }
        column[feature] = std::tanh(column[feature]);
      }
    }
    columns = next;
  }
  return columns.front();
}

models::RnnConfig convolutional() {
  models::RnnConfig config = small_config();
  config.source_encoder = "convolution:kernel=4";
  config.encoder_width = 0;
  config.embedding_width = config.width;
  config.source_attention = "none";
  config.context_vector = "every-step";
  config.cell = "tanh";
  return config;
}

}  // namespace

TEST_CASE("rnn: the model of Kalchbrenner and Blunsom equals its equations, for sources of any length") {
  const models::RnnConfig config = convolutional();
  const Stirred stirred(config);
  const Parameters& parameters = stirred.model->parameters();
  const auto n = static_cast<std::size_t>(config.width);
  const auto value = [&](const std::string& name) { return doubles(parameters.find(name)->value()); };
  const auto row = [&](const std::string& table, TokenId id) {
    const Numbers all = value(table + "/embedding/token/weight");
    return Numbers(all.begin() + static_cast<std::ptrdiff_t>(n) * id,
                   all.begin() + static_cast<std::ptrdiff_t>(n) * (id + 1));
  };
  const auto add_product = [](const Numbers& matrix, const Numbers& x, Numbers& sum) {
    for (std::size_t i = 0; i < sum.size(); ++i) {
      for (std::size_t k = 0; k < x.size(); ++k) sum[i] += matrix[i * x.size() + k] * x[k];
    }
  };
  const std::vector<TokenId> targets{3, 0, 5};
  for (Index length = 1; length <= 23; ++length) {
    CAPTURE(length);
    const TokenIds source = some_ids(1, length, vocabulary);
    std::vector<Numbers> columns;
    for (const TokenId id : source.ids) columns.push_back(row("encoder", id));
    const Numbers c = sentence_vector(parameters, columns, 4);
    const Tensor logits = stirred.logits(TokenIds(Shape{1, 3}, targets), source);
    Numbers h(n, 0);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      Numbers next = value("decoder/0/input/bias");
      add_product(value("decoder/0/recurrent/weight"), h, next);
      add_product(value("decoder/0/input/weight"), row("decoder", targets[t]), next);
      add_product(value("decoder/context/weight"), c, next);
      for (double& x : next) x = std::tanh(x);
      h = next;
      Numbers output(vocabulary, 0);
      add_product(value("decoder/embedding/token/weight"), h, output);
      for (std::size_t v = 0; v < output.size(); ++v) {
        CHECK(logits[static_cast<Index>(t * output.size() + v)] == doctest::Approx(output[v]).epsilon(1e-11));
      }
    }
  }
}

TEST_CASE("rnn: the vector of a source has the same bits in any batch") {
  models::RnnConfig config = convolutional();
  config.source_encoder = "convolution:kernel=3";
  Parameters parameters{ParameterSource(3)};
  const auto encoder = models::make_source_encoder(Scope(parameters, ""), config);
  const std::vector<Index> lengths{9, 1, 4, 2, 9, 3};
  const Tensor x = normal_tensor({6, 11, config.width}, 1);
  const Tensor together = (*encoder)(Variable(x), lengths, {}).vector.value();
  for (Index row = 0; row < 6; ++row) {
    const Index length = lengths[static_cast<std::size_t>(row)];
    const Tensor own = x.narrowed(0, row, 1).narrowed(1, 0, length).copy();
    CHECK(difference(together.narrowed(0, row, 1), (*encoder)(Variable(own), {}, {}).vector.value()) == 0);
  }
}

TEST_CASE("rnn: dropout zeroes elements of the vector of a convolutional encoder and scales the others") {
  models::RnnConfig config = convolutional();
  config.width = config.embedding_width = 16;
  Parameters parameters{ParameterSource(3)};
  const auto encoder = models::make_source_encoder(Scope(parameters, ""), config);
  const Variable x(normal_tensor({100, 7, 16}, 1));
  const Tensor plain = (*encoder)(x, {}, {}).vector.value(),
               dropped = (*encoder)(x, {}, {.dropout = 0.25, .seed = 4, .training = true}).vector.value();
  double zeros = 0;
  for (Index i = 0; i < plain.size(); ++i) {
    zeros += dropped[i] == 0 ? 1 : 0;
    if (dropped[i] != 0) CHECK(dropped[i] == doctest::Approx(plain[i] / 0.75).epsilon(1e-12));
  }
  CHECK(std::abs(zeros / static_cast<double>(plain.size()) - 0.25) < 0.044);  // four standard deviations
}

TEST_CASE("rnn: the vector of a source has the last states of the last layer, in the directions that are wanted") {
  constexpr Index in = 3, annotation = 8, half = 4;
  models::RnnConfig config;
  config.embedding_width = in;
  config.encoder_width = annotation;
  config.encoder_layers = 2;
  const std::vector<Index> lengths{5, 3};
  const Variable x(normal_tensor({2, 5, in}, 1));
  struct Way {
    bool bidirectional, reverse;
    std::string attention, cell = "gru";
  };
  for (const Way& way : {Way{true, false, "additive"}, Way{true, false, "none"}, Way{false, false, "none"},
                         Way{false, true, "none"}, Way{true, false, "none", "lstm"}}) {
    config.cell = way.cell;  // an LSTM's output state, not its cell state
    CAPTURE(way.bidirectional);
    CAPTURE(way.reverse);
    CAPTURE(way.attention);
    config.bidirectional = way.bidirectional;
    config.reverse_source = way.reverse;
    config.source_attention = way.attention;
    Parameters parameters{ParameterSource(3)};
    const models::RnnEncoder encoder(Scope(parameters, ""), config);
    stir(parameters, 0.5);
    const models::SourceEncoder::Result result = encoder(x, lengths, {});
    const Tensor &vector = result.vector.value(), &annotations = result.annotations.value();
    for (Index b = 0; b < 2; ++b) {
      const auto of = [&](Index t, Index begin, Index count) {
        const Tensor state = annotations.narrowed(0, b, 1).narrowed(1, t, 1).narrowed(2, begin, count);
        return doubles(state);
      };
      const Index last = lengths[static_cast<std::size_t>(b)] - 1;
      Numbers expected;
      if (way.bidirectional) {
        if (way.attention == "none") expected = of(last, 0, half);
        const Numbers backward = of(0, half, half);
        expected.insert(expected.end(), backward.begin(), backward.end());
      } else {
        expected = of(way.reverse ? 0 : last, 0, annotation);
      }
      CHECK(doubles(vector.narrowed(0, b, 1)) == expected);
    }
  }
  // Dropout zeroes elements of each layer's states, and scales the others.
  config.encoder_layers = 1;
  Parameters parameters{ParameterSource(3)};
  const models::RnnEncoder encoder(Scope(parameters, ""), config);
  const Variable longer(normal_tensor({20, 5, in}, 2));
  const Tensor plain = encoder(longer, {}, {}).annotations.value(),
               dropped = encoder(longer, {}, {.dropout = 0.25, .seed = 4, .training = true}).annotations.value();
  double zeros = 0;
  for (Index i = 0; i < plain.size(); ++i) {
    zeros += dropped[i] == 0 ? 1 : 0;
    if (dropped[i] != 0) CHECK(dropped[i] == doctest::Approx(plain[i] / 0.75).epsilon(1e-12));
  }
  CHECK(std::abs(zeros / static_cast<double>(plain.size()) - 0.25) < 0.062);  // four standard deviations
}

namespace {

// Zeros for all parameters whose names begin with one of these.
void silence(const Parameters& parameters, const std::vector<std::string>& beginnings) {
  for (const Parameter& parameter : parameters.all()) {
    for (const std::string& beginning : beginnings) {
      if (parameter.name.starts_with(beginning)) parameter.value().fill(0);
    }
  }
}

}  // namespace

TEST_CASE("rnn: each layer of a decoder starts from a layer of its own, or from the encoder's layer at its side") {
  // A GRU whose weights are zero halves its state at each token, whatever it reads.
  models::RnnConfig config = small_config();
  config.source_attention = "none";
  config.bidirectional = false;
  config.layers = 2;
  config.embedding_width = config.width;
  const TokenIds sources = some_ids(1, 5, vocabulary), ids = some_ids(1, 3, vocabulary);
  for (const bool copies : {false, true}) {
    CAPTURE(copies);
    config.encoder_layers = copies ? 2 : 1;
    config.encoder_width = copies ? config.width : 8;
    const Stirred stirred(config);
    const Parameters& parameters = stirred.model->parameters();
    silence(parameters, {"decoder/0/", "decoder/1/"});
    const Tensor annotations = stirred.model->as<models::ContextualVectors>()->hidden(sources).value();
    Numbers start = doubles(annotations.narrowed(1, 4, 1));
    REQUIRE((parameters.find("decoder/start/1/weight") == nullptr) == copies);
    if (!copies) {
      const Tensor &weight = parameters.find("decoder/start/1/weight")->value(),
                   &bias = parameters.find("decoder/start/1/bias")->value();
      Numbers projected;
      for (Index i = 0; i < config.width; ++i) {
        double sum = bias[i];
        for (Index j = 0; j < 8; ++j) sum += weight[i * 8 + j] * start[static_cast<std::size_t>(j)];
        projected.push_back(std::tanh(sum));
      }
      start = projected;
    }
    models::Sequences targets(ids);
    targets.sources = std::make_shared<const models::Sequences>(sources);
    const Tensor hidden = stirred.role->target_hidden(targets).value();
    REQUIRE(hidden.shape() == Shape{1, 3, config.width});
    for (Index i = 0; i < hidden.size(); ++i) {
      const double expected = start[static_cast<std::size_t>(i % config.width)] / std::pow(2, i / config.width + 1);
      CHECK(hidden[i] == doctest::Approx(expected).epsilon(1e-11));
    }
  }
}

TEST_CASE("rnn: a decoder of several layers asks for its source with the state of the last one") {
  models::RnnConfig config = small_config();
  config.layers = 2;
  const Stirred stirred(config);
  // The state of the second layer stays zero, so that it always asks alike.
  silence(stirred.model->parameters(), {"decoder/1/", "decoder/start/1/"});
  models::Sequences targets(some_ids(1, 4, vocabulary));
  targets.sources = std::make_shared<const models::Sequences>(some_ids(1, 5, vocabulary));
  const auto all = stirred.model->as<models::AttentionMaps>()->all_attention_maps(targets);
  REQUIRE(all.size() == 1);
  const Tensor& weights = all[0].pairs.weights;
  double least = 1, most = 0;
  for (Index j = 0; j < 5; ++j) {
    least = std::min<double>(least, weights[j]);
    most = std::max<double>(most, weights[j]);
    for (Index t = 1; t < 4; ++t) CHECK(weights[t * 5 + j] == doctest::Approx(weights[j]).epsilon(1e-12));
  }
  CHECK(most > 1.05 * least);
}

TEST_CASE("rnn: reversing the source and exchanging the directions reverses the annotations") {
  constexpr Index in = 3, width = 4, length = 5;
  models::RnnConfig config;
  config.embedding_width = in;
  config.encoder_width = 2 * width;
  for (const std::string& cell : ops::cell_names()) {
    CAPTURE(cell);
    config.cell = cell;
    Parameters one{ParameterSource(3)}, other{ParameterSource::given([&](const Declaration&declaration) {
      std::string name = declaration.names[0];
      const bool forward = name.find("forward") != std::string::npos;
      name.replace(name.find(forward ? "forward" : "backward"), forward ? 7 : 8, forward ? "backward" : "forward");
      return one.find(name)->value();
    })};
    const models::RnnEncoder encoder(Scope(one, ""), config);
    stir(one, 0.5);
    const models::RnnEncoder exchanged(Scope(other, ""), config);
    const Tensor x = normal_tensor({1, length, in}, 1), reversed({1, length, in});
    for (Index t = 0; t < length; ++t) reversed.narrowed(1, t, 1).assign(x.narrowed(1, length - 1 - t, 1));
    const Tensor annotations = encoder(Variable(x), {}, {}).annotations.value();
    const Tensor of_reversed = exchanged(Variable(reversed), {}, {}).annotations.value();
    for (Index t = 0; t < length; ++t) {
      const Tensor here = annotations.narrowed(1, t, 1), there = of_reversed.narrowed(1, length - 1 - t, 1);
      CHECK(difference(here.narrowed(2, 0, width), there.narrowed(2, width, width)) == 0);
      CHECK(difference(here.narrowed(2, width, width), there.narrowed(2, 0, width)) == 0);
    }
  }
}

TEST_CASE("rnn: with scores of zero every weight is that of the mean, and a source of one token is attended to alone") {
  const Stirred stirred(small_config());
  const auto* maps = stirred.model->as<models::AttentionMaps>();
  stirred.model->parameters().find("decoder/attention/score/weight")->value().fill(0);
  models::Sequences targets(some_ids(2, 3, vocabulary));
  targets.sources = std::make_shared<const models::Sequences>(models::Sequences{some_ids(2, 4, vocabulary), {4, 1}});
  const auto all = maps->all_attention_maps(targets);
  REQUIRE(all.size() == 1);
  CHECK(all[0].name == "decoder/attention");
  for (Index t = 0; t < 3; ++t) {
    for (Index j = 0; j < 4; ++j) {
      CHECK(all[0].pairs.weights[t * 4 + j] == doctest::Approx(0.25).epsilon(1e-14));
      CHECK(all[0].pairs.weights[(3 + t) * 4 + j] == (j == 0 ? 1 : 0));
    }
  }
}

TEST_CASE("rnn: a model without attention has no attention maps, and one without annotations no vectors of tokens") {
  for (const auto& paper : papers()) {
    CAPTURE(paper.name);
    const auto model = models::make_model(paper.config, 1);
    CHECK((model->as<models::AttentionMaps>() != nullptr) == paper.config.has_attention());
    CHECK(model->as<models::ContextualVectors>() != nullptr);
  }
  CHECK(models::make_model(convolutional(), 1)->as<models::ContextualVectors>() == nullptr);
}

TEST_CASE("rnn: the counts of parameters of Sutskever et al. (SPEC B) and of Bahdanau et al.") {
  const Simulation nothing_is_computed;
  const auto count = [](const std::string& preset) {
    for (const models::Preset& entry : models::architecture("rnn").presets) {
      if (entry.name == preset) return models::make_model(entry.config, ParameterSource::unset())->parameters().count();
    }
    return Index{0};
  };
  CHECK(count("seq2seq-2014") == 384000000);
  // Embeddings, encoder, decoder with its context, attention, first state, readout and output, of the paper's widths.
  const Index n = 1000, m = 620, half = 500, words = 30000;
  const Index direction = 3 * n * m + 3 * n * n, decoder = 3 * n * m + 3 * n * n + 3 * n * 2 * n;
  CHECK(count("rnnsearch-2015") == 2 * words * m + 2 * direction + decoder + (n * n + n * 2 * n + n) + n * n +
                                       2 * half * (n + m + 2 * n) + words * half);
}

TEST_CASE("rnn: settings that exclude each other are refused") {
  const auto refusal = [](const auto& change) {
    models::RnnConfig config = small_config();
    change(config);
    try {
      models::make_model(config, 1);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  using Config = models::RnnConfig;
  CHECK(refusal([](Config&) {}).empty());
  CHECK(refusal([](Config& config) { config.encoder_width = 7; }) ==
        "`encoder_width` = 7 is not divisible by the 2 directions");
  CHECK(refusal([](Config& config) { config.reverse_source = true; }) ==
        "`reverse_source`: a bidirectional encoder reads both ways");
  CHECK(refusal([](Config& config) { config.source_attention = "dot"; }) ==
        "`encoder_width` = 8 and `width` = 6 differ, so states and annotations have no dot product; use bilinear");
  CHECK(refusal([](Config& config) { config.context_vector = "every-step"; }) ==
        "`context_vector`: with attention there is no fixed context vector");
  CHECK(refusal([](Config& config) { config.input_feeding = true; }) ==
        "`input_feeding` needs dot or bilinear `source_attention`");
  CHECK(refusal([](Config& config) {
          config.source_attention = "bilinear";
          config.readout = "state";
        }) == "`readout` = state does not use what the decoder attends to");
  CHECK(refusal([](Config& config) { config.readout = "state"; }) ==
        "`readout` = state has `width` = 6 instead of `readout_width` = 5");
  CHECK(refusal([](Config& config) { config.readout_width = 4; }) ==
        "`readout_width` = 4 and `embedding_width` = 5 differ, so the output cannot share the embeddings; give "
        "`tie_embeddings` = false");
  CHECK(refusal([](Config& config) { config.cell = "grue"; }).find("`cell`") == 0);
  CHECK(refusal([](Config& config) { config.source_encoder = "convolutional"; }) ==
        "`source_encoder`: 'convolutional' is not one of recurrent, convolution; did you mean 'convolution'?");
  CHECK(refusal([](Config& config) { config.source_encoder = "convolution"; }) ==
        "`encoder_width`: a convolutional encoder is as wide as the embeddings; leave it out, or give a recurrent "
        "`source_encoder`");
  CHECK(refusal([](Config& config) {
          config.source_encoder = "convolution";
          config.encoder_width = 0;
        }) ==
        "`source_attention` = additive: the encoder convolution gives one vector for the whole source; give none");
  const auto convolution = [&](const std::string& text) {
    return refusal([&](Config& config) {
      config = convolutional();
      config.source_encoder = text;
    });
  };
  CHECK(convolution("convolution").empty());
  CHECK(convolution("convolution:kernel=1") == "`source_encoder`: convolution:kernel=1 must be from 2 to 10000");
  CHECK(convolution("convolution:taps=3").starts_with("`source_encoder`: convolution has no setting 'taps'"));
  CHECK(convolution("recurrent:kernel=3").starts_with("`source_encoder`: recurrent has no setting 'kernel'"));
}

}  // namespace rnn_tests
