// generate with a sequence-to-sequence model: a target text for each source text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/generate/text_search.hpp"
#include "tools/lines/blank_text.hpp"
#include "tools/lines/input_texts.hpp"
#include "tools/lines/length_limit.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

class TextTranslator {
 public:
  // The arguments must outlive this object. Throws UsageError for options for other models.
  TextTranslator(const models::SequenceToSequence& model, const formats::LoadedModel& loaded,
                 const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out);

  struct Source {
    BlankText text;
    std::vector<TokenId> ids;  // including its frame
  };
  Index batch_size() const { return options_.lines_at_once(texts_at_once); }
  Source make(const InputText& input);
  // One line for each source, or one for each of its texts; of a source with sentinels, the source with what the text
  // lists for them. Returns the first of each.
  std::vector<std::string> answer(const std::vector<Source>& sources);
  void answer_one(const Source& source) { answer({source}); }
  // All texts of each source, best first, and prints nothing.
  std::vector<std::vector<std::string>> candidates(const std::vector<Source>& sources);
  void report() const { limit_.report(arguments_); }

 private:
  static constexpr Index texts_at_once = 64;
  std::vector<TextSearch::Answer> search(const std::vector<Source>& sources);
  Index room() const;  // tokens of a target
  Index max_tokens(const Source& source) const;
  // The source's sentinels filled in, where the target may list them.
  std::optional<std::string> filled(const Source& source, const Continuation& text) const;

  const models::SequenceToSequence& model_;
  const text::Tokenizer& tokenizer_;  // tokenizer of the sources
  const std::vector<BlankMark> marks_;
  const std::vector<TokenId> sentinels_;  // sentinels of both sides
  TranslationFrames frames_;
  const GenerateOptions options_;
  const cli::Arguments& arguments_;
  std::ostream& out_;
  TextSearch search_;
  LengthLimit limit_;
};

}  // namespace heddle
