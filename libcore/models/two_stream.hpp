// The encoder of XLNet: it predicts tokens in any order, with two streams of states through one stack (Yang et al.
// 2019, "XLNet"; SPEC 4.6).
#pragma once

#include "libcore/heads/language_model.hpp"
#include "libcore/models/stack_model.hpp"

namespace heddle::models {

struct TwoStreamConfig : TransformerConfig {
  static constexpr const char* kind_name = "two-stream";
  bool relative_segments = true;

  TwoStreamConfig() { positions = "transformer-xl"; }
  bool has_segments() const override { return relative_segments || segments > 1; }
  void validate() const override;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    TransformerConfig::visit(self, visitor);
    visitor(Field("relative_segments", "a term of attention for tokens of the same segment and of different ones"),
            self.relative_segments);
  }
};

// If no order is given, as in fine-tuning, every token sees all others: the content stream alone is an encoder.
// Parameters beside the stack's: two-stream/embedding/query/weight [1, width], with which every query begins;
// head/weight [vocab, width] where embeddings are not tied.
class TwoStream : public StackModel, public PermutationPredictor {
 public:
  TwoStream(const TwoStreamConfig& config, ParameterSource weights);

  Streams streams(const Sequences& sequences, const Ranks& ranks, const Pass& pass = {}) const override;
  const heads::TokenHead& permuted_token_head() const override { return head_; }

  bool is_beside_vectors(std::string_view parameter) const override;
  double training_flops_per_token(Index time, double predicted) const override;

 private:
  Variable query_;
  heads::LanguageModel head_;
};

}  // namespace heddle::models
