// Trains a tokenizer on text. Memory grows with the number of different words, not with the text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/block_cutter.hpp"
#include "libcore/text/special_tokens.hpp"
#include "libcore/text/string_table.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::text {

// Treatment of the nonspacing combining marks of letters.
enum class Marks {
  automatic,  // keep where capital letters are kept, else european
  keep,
  european,  // removed from Latin, Greek and Cyrillic letters
  remove
};

}  // namespace heddle::text

template <>
struct heddle::Names<heddle::text::Marks> {
  static constexpr std::pair<text::Marks, std::string_view> list[] = {{text::Marks::automatic, "auto"},
                                                                      {text::Marks::keep, "keep"},
                                                                      {text::Marks::european, "european"},
                                                                      {text::Marks::remove, "remove"}};
};

namespace heddle::text {

struct TrainerOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  Index vocab_size = 8000;
  Index min_frequency = 1;
  bool byte_fallback = true;
  bool cased = false;
  Marks marks = Marks::automatic;
  bool whole_words = false;  // wordpiece: no parts of words, so that words without a piece are unknown
  std::string end_of_text = "auto";
  std::string unknown = "none";
  std::vector<std::string> special_tokens = {};
  Index sentinels = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("model", "kind of tokenizer"), self.kind);
    visitor(Field("vocab_size", "maximum number of pieces, including special tokens and bytes")
                .needs({"model=bpe", "model=char", "model=word", "model=wordpiece", "model=unigram"})
                .range(1, 1 << 30)
                .takes("N"),
            self.vocab_size);
    visitor(Field("min_frequency", "minimum number of occurrences of a merge, character or word")
                .needs({"model=bpe", "model=char", "model=word", "model=wordpiece", "model=unigram"})
                .range(1, 1e12)
                .takes("N"),
            self.min_frequency);
    visitor(Field("byte_fallback", "no pieces for the 256 bytes, so that unseen characters cannot be encoded")
                .needs({"model=char", "model=word", "model=unigram"}),
            self.byte_fallback);
    visitor(Field("cased", "keep capital letters and accents").needs({"model=wordpiece"}), self.cased);
    visitor(Field("marks",
                  "combining marks of letters: keep or remove them, or remove those of Latin, Greek and Cyrillic "
                  "letters alone (european); auto: keep if cased, else european")
                .needs({"model=wordpiece"}),
            self.marks);
    visitor(Field("end_of_text",
                  "special token after each document, or none; auto means <|endoftext|> or, for wordpiece, [SEP]")
                .not_empty()
                .takes("TEXT"),
            self.end_of_text);
    visitor(Field("unknown",
                  "special token for text without a piece, if there is no byte fallback; none means that such text is "
                  "an error")
                .needs({"model=char", "model=word", "model=unigram"})
                .not_empty()
                .takes("TEXT"),
            self.unknown);
    visitor(Field("special_tokens",
                  "additional special tokens; an encoder needs [PAD],[CLS],[SEP],[MASK] or <pad>,<s>,</s>,<mask>, "
                  "which wordpiece models have by default")
                .takes("TEXT"),
            self.special_tokens);
    visitor(Field("sentinels",
                  "number of special tokens <extra_id_0>, <extra_id_1>, ..., which stand for the spans that span "
                  "corruption takes out of a text; T5 has 100")
                .range(0, 10000)
                .takes("N"),
            self.sentinels);
  }
};

// The kind wordpiece begins with [PAD], [UNK], [CLS], [SEP] and [MASK], then has the characters of the text, most
// frequent first and half of the vocabulary at most (more where the text has too few merges), then what merges of the
// most frequent pairs make of them. The kind unigram has what the 256 bytes fall back to (unless byte_fallback is off),
// then the pieces that likelihood keeps, the most probable first (learn_unigram.hpp). The others: the 256 bytes by
// value (unless byte_fallback is off), then merges in order, characters in order of code points or words from the most
// frequent; special tokens last. Ties go to the smaller bytes.
class Trainer {
 public:
  // Words are counted in blocks of about so many bytes. Throws UsageError for invalid options.
  explicit Trainer(TrainerOptions options, std::size_t block_bytes = std::size_t{1} << 17);
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  // The text of a document may come in arbitrary parts. Special tokens in it are ignored.
  // Throws TextError, with the position in the document, for invalid UTF-8 in a char or word model without byte
  // fallback.
  void add(std::string_view text);
  void end_document();

  // Ends the last document. The vocabulary is smaller than vocab_size if the text has no more pieces to learn.
  // Throws DataError if there was no text, but for byte models.
  TokenizerModel finish();

 private:
  bool has_bytes() const;
  void count_block(std::string_view block);
  void count_plain(std::string_view text);
  void count(std::string_view item);
  std::vector<std::size_t> most_frequent(std::size_t limit) const;
  void add_merges(TokenizerModel& model, std::size_t room) const;
  void add_unigram_pieces(TokenizerModel& model, std::size_t room) const;
  void add_wordpieces(TokenizerModel& model, std::size_t room) const;
  std::vector<std::string> most_frequent_characters(std::size_t limit) const;
  void add_items(TokenizerModel& model, std::size_t room) const;
  void add_special_tokens(TokenizerModel& model) const;

  TrainerOptions options_;
  std::vector<std::string> special_texts_;
  SpecialTokens special_tokens_;
  BasicWords words_;  // wordpiece
  BlockCutter cutter_;
  TextPosition position_;
  StringTable items_;  // the different words or characters
  std::vector<Index> counts_;
  bool has_marks_ = false;  // whether letters of the text have marks, which stay in their words then
};

}  // namespace heddle::text
