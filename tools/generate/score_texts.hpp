// generate --score: prints the log-likelihood of each text.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/decoding/score.hpp"
#include "heddle/text/tokenizer.hpp"
#include "tools/generate/options.hpp"

namespace heddle {

class TextScorer {
 public:
  // All must stay. Throws UsageError for options that are for filling in blanks.
  TextScorer(const models::TokenLoss& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
             const cli::Arguments& arguments);

  void one();
  // A line out for each line in.
  void lines(const std::string& file);

 private:
  struct Text {
    std::string text;
    decoding::Tokens ids;
    std::vector<decoding::GivenTokens> parts;  // that score its tokens in order
    Index bytes;                               // of the text that the scored tokens stand for
  };

  Text make(const std::string& line, const std::string& where);
  Index bytes_of_first(const Text& text, Index count) const;
  std::vector<decoding::GivenTokens> parts_of(decoding::Tokens ids) const;
  void write(const std::vector<Text>& texts);
  // `scores` are those of the last tokens; the first may have none.
  std::string line(const Text& text, const std::vector<double>& scores) const;
  void finish();

  const models::TokenLoss& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  cli::Output output_;
  Index overlong_ = 0, lines_ = 0, tokens_ = 0, bytes_ = 0;
  double log_likelihood_ = 0;
};

}  // namespace heddle
