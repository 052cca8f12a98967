#include "tools/convert/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/heddle/token_file.hpp"
#include "libcore/tensor/threads.hpp"

namespace heddle {

namespace {

// A text in windows, for a model that predicts next tokens.
class Windows {
 public:
  Windows(const models::Model& model, const formats::ModelParts& parts, const CalibrationText& text,
          std::string_view user)
      : tokens_(text.path), predictor_(models::require<models::TokenLoss>(model, user, text.model)) {
    tokens_.check_made_with(text::Tokenizer(parts.tokenizer), text.model);
    check<DataError>(tokens_.size() >= 2, text.path, ": has fewer than two tokens");
  }

  // Calls f with the ids of each window and those that follow them.
  template <class F>
  void each(Index most, const F& f) const {
    const Index longest = std::min<Index>(512, predictor_.position_limit()), end = std::min(most, tokens_.size() - 1);
    for (Index begin = 0; begin < end; begin += longest) {
      const Index time = std::min(longest, end - begin);
      std::vector<TokenId> ids(static_cast<std::size_t>(time + 1));
      tokens_.read(begin, ids);
      f(TokenIds({1, time}, {ids.begin(), ids.end() - 1}), std::vector<TokenId>(ids.begin() + 1, ids.end()));
    }
  }
  Index size() const { return tokens_.size(); }

 private:
  formats::TokenFile tokens_;
  const models::TokenLoss& predictor_;
};

Tensor logits_on(const models::Model& model, const TokenIds& ids) {
  const auto& predictor = *model.as<models::TokenLoss>();
  return predictor.next_token_head()(predictor.next_hidden(ids)).value().as(DType::real);
}

struct Prediction {
  double nats;
  Index most_probable;
};
Prediction prediction_of(const Real* logits, Index vocab, TokenId target) {
  const Real* const most = std::max_element(logits, logits + vocab);
  double sum = 0;
  for (Index i = 0; i < vocab; ++i) sum += std::exp(static_cast<double>(logits[i]) - *most);
  return {std::log(sum) + *most - logits[target], most - logits};
}

// Squares of the inputs of matrices, summed while a model computes.
class InputSquares {
 public:
  explicit InputSquares(const Parameters& parameters) : parameters_(parameters) {}

  void see(std::span<const Variable> inputs) {
    if (inputs.size() < 2 || inputs[1].empty()) return;
    const Tensor &x = inputs[0].value(), &weight = inputs[1].value();
    if (weight.rank() != 2 || x.shape()[-1] != weight.shape()[1] || !x.is_contiguous()) return;
    std::vector<double>* const sums = sums_of(weight);
    if (sums == nullptr) return;
    const Tensor rows = x.as(DType::real).as_matrix();
    const Index width = rows.shape()[1];
    parallel_ranges(width, 64, [&](Index begin, Index end) {
      for (Index i = 0; i < rows.shape()[0]; ++i) {
        for (Index j = begin; j < end; ++j) {
          (*sums)[static_cast<std::size_t>(j)] += std::pow(static_cast<double>(rows[i * width + j]), 2);
        }
      }
    });
  }

  // The importance for all matrices that were seen; those that are stored as one have the same inputs.
  Importance result(Index tokens) const {
    Importance importance;
    for (const Parameter& parameter : parameters_.all()) {
      const auto* const first = static_cast<const std::byte*>(parameter.value().raw());
      for (const auto& [matrix, seen] : seen_) {
        if (first < matrix || first >= matrix + seen.bytes) continue;
        std::vector<Real>& means = importance[parameter.name];
        for (const double sum : seen.sums) means.push_back(static_cast<Real>(sum / static_cast<double>(tokens)));
      }
    }
    return importance;
  }

 private:
  struct Seen {
    std::size_t bytes;
    std::vector<double> sums;
  };

  // Null for what is no parameter.
  std::vector<double>* sums_of(const Tensor& weight) {
    const auto* const first = static_cast<const std::byte*>(weight.raw());
    const auto known = seen_.find(first);
    if (known != seen_.end()) return &known->second.sums;
    const bool is_parameter = std::ranges::any_of(
        parameters_.all(), [&](const Parameter& parameter) { return parameter.value().raw() == weight.raw(); });
    if (!is_parameter) return nullptr;
    const auto columns = static_cast<std::size_t>(weight.shape()[1]);
    return &seen_.emplace(first, Seen{weight.bytes(), std::vector<double>(columns)}).first->second.sums;
  }

  const Parameters& parameters_;
  std::map<const std::byte*, Seen> seen_;
};

}  // namespace

std::unique_ptr<models::Model> model_with(const models::ModelConfig& config,
                                          const std::vector<formats::NamedTensor>& weights) {
  std::map<std::string, Tensor> values;
  for (const auto& [name, tensor] : weights) values.emplace(name, tensor);
  return models::make_model(
      config, ParameterSource::given([&](const Declaration& declaration) {
        const Tensor whole(declaration.stacked_shape());
        const Index rows = declaration.shape[0];
        for (std::size_t i = 0; i < declaration.names.size(); ++i) {
          whole.narrowed(0, static_cast<Index>(i) * rows, rows).assign(values.at(declaration.names[i]));
        }
        return whole;
      }));
}

LossChange loss_change(const formats::ModelParts& parts, const std::vector<formats::NamedTensor>& converted,
                       const CalibrationText& text) {
  const auto before = model_with(parts.config, parts.weights), after = model_with(parts.config, converted);
  LossChange change;
  Windows(*before, parts, text, "--loss-on")
      .each(std::numeric_limits<Index>::max(), [&](const auto& ids, const auto& next) {
        const Tensor a = logits_on(*before, ids), b = logits_on(*after, ids);
        const Index vocab = a.shape()[-1];
        for (std::size_t i = 0; i < next.size(); ++i) {
          const Index row = static_cast<Index>(i) * vocab;
          const Prediction was = prediction_of(a.data() + row, vocab, next[i]);
          const Prediction is = prediction_of(b.data() + row, vocab, next[i]);
          change.before += was.nats;
          change.after += is.nats;
          change.changed += was.most_probable != is.most_probable ? 1 : 0;
        }
        change.tokens += std::ssize(next);
      });
  change.before /= static_cast<double>(change.tokens);
  change.after /= static_cast<double>(change.tokens);
  return change;
}

Importance importance_of(const formats::ModelParts& parts, const CalibrationText& text) {
  constexpr Index most = 32768;
  const auto model = model_with(parts.config, parts.weights);
  InputSquares squares(model->parameters());
  Index tokens = 0;
  Windows(*model, parts, text, "--calibrate").each(most, [&](const TokenIds& ids, const auto&) {
    Recording recording;
    recording.watch([&](const Tensor&, std::span<const Variable> inputs) { squares.see(inputs); });
    static_cast<void>(model->as<models::TokenLoss>()->next_hidden(ids));
    tokens += ids.shape[1];
  });
  return squares.result(tokens);
}

}  // namespace heddle
