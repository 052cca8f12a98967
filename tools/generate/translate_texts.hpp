// generate with a sequence-to-sequence model: a target text for each source text.
#pragma once

#include <string>
#include <vector>

#include "tools/generate/text_search.hpp"
#include "tools/lines/length_limit.hpp"
#include "tools/lines/text_reader.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

class TextTranslator {
 public:
  // The arguments must outlive this object. Throws UsageError for options for other models.
  TextTranslator(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                 const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out);

  struct Source {
    std::string text;
    std::vector<TokenId> ids;  // with its frame
  };
  Index batch_size() const { return arguments_.given("batch_size") ? options_.batch_size : texts_at_once; }
  Source make(const InputText& input);
  // One line for each source, or one for each of its texts. Returns the first text of each.
  std::vector<std::string> answer(const std::vector<Source>& sources);
  void answer_one(const Source& source) { answer({source}); }
  void report() const { limit_.report(arguments_); }

 private:
  static constexpr Index texts_at_once = 64;
  Index max_tokens(const Source& source) const;

  const models::SequenceToSequence& model_;
  const text::Tokenizer& tokenizer_;
  TranslationFrames frames_;
  const GenerateOptions options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  TextSearch search_;
  LengthLimit limit_;
};

}  // namespace heddle
