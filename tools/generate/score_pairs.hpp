// generate --score with a sequence-to-sequence model: the log-likelihood of each target text, given its source text.
#pragma once

#include <string>
#include <vector>

#include "tools/generate/scoring_models.hpp"
#include "tools/generate/translate_texts.hpp"
#include "tools/lines/scored_text.hpp"

namespace heddle {

class PairScorer {
 public:
  // The arguments must outlive this object. Throws UsageError for options of other modes.
  PairScorer(ScoringModels<models::SequenceToSequence> models, const GenerateOptions& options,
             const cli::Arguments& arguments, std::ostream& out);

  using Pair = ScoredPair;
  Index batch_size() const { return options_.lines_at_once(256); }
  Pair make(const InputText& input) { return scored_pair(models_.shortest(), models_.first(), frames_, input, limit_); }
  // One line for each pair.
  void answer(const std::vector<Pair>& pairs);
  void answer_one(const Pair& pair) { answer({pair}); }
  void report() const;

 private:
  std::string line(const Pair& pair, const std::vector<double>& scores) const;

  ScoringModels<models::SequenceToSequence> models_;
  TranslationFrames frames_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  LengthLimit limit_;
  Index pairs_ = 0, tokens_ = 0;
  double log_likelihood_ = 0;
};

}  // namespace heddle
