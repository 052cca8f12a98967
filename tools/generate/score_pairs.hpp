// generate --score with a sequence-to-sequence model: the log-likelihood of each target text, given its source text.
#pragma once

#include <string>
#include <vector>

#include "heddle/decoding/score.hpp"
#include "tools/generate/translate_texts.hpp"

namespace heddle {

class PairScorer {
 public:
  // The arguments must outlive this object. Throws UsageError for options of other modes.
  PairScorer(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
             const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out);

  struct Pair {
    std::string source, target;
    decoding::GivenTokens tokens;
  };
  Index batch_size() const { return options_.lines_at_once(256); }
  // Of a line SOURCE, tab, TARGET. Throws DataError for a line without a tab, and for texts longer than the context.
  Pair make(const InputText& input);
  // One line for each pair.
  void answer(const std::vector<Pair>& pairs);
  void answer_one(const Pair& pair) { answer({pair}); }
  void report() const;

 private:
  std::vector<TokenId> within(std::vector<TokenId> ids, Index room, const InputText& input);
  std::string line(const Pair& pair, const std::vector<double>& scores) const;

  const models::SequenceToSequence& model_;
  const formats::LoadedModel& loaded_;
  TranslationFrames frames_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  LengthLimit limit_;
  Index pairs_ = 0, tokens_ = 0;
  double log_likelihood_ = 0;
};

}  // namespace heddle
