// generate --score: prints the log-likelihood of each text.
#pragma once

#include <string>
#include <vector>

#include "tools/cli/arguments.hpp"
#include "tools/generate/options.hpp"
#include "tools/generate/scoring_models.hpp"
#include "tools/lines/scored_text.hpp"

namespace heddle {

class TextScorer {
 public:
  // The arguments must outlive this object. Throws UsageError for options for filling in blanks.
  TextScorer(ScoringModels<models::TokenLoss> models, const GenerateOptions& options, const cli::Arguments& arguments,
             std::ostream& out);

  using Text = ScoredText;

  Index batch_size() const { return options_.lines_at_once(256); }
  Text make(const InputText& input) {
    return scored_text(models_.shortest(), models_.first().tokenizer, input, limit_);
  }
  // One line per text.
  void answer(const std::vector<Text>& texts);
  void answer_one(const Text& text) { answer({text}); }
  void report() const;

 private:
  // `scores` are those of the last tokens; the first may have none.
  std::string line(const Text& text, const std::vector<double>& scores) const;

  ScoringModels<models::TokenLoss> models_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  LengthLimit limit_;
  Index lines_ = 0, tokens_ = 0, bytes_ = 0;
  double log_likelihood_ = 0;
};

}  // namespace heddle
