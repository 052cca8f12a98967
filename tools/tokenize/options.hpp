// The command line of tokenize.
#pragma once

#include <string>

#include "formats/labelled/bad_records.hpp"
#include "libcore/text/tokenizer.hpp"
#include "libcore/text/vocabulary_training.hpp"
#include "tools/lines/document_cutter.hpp"
#include "tools/lines/invalid_bytes.hpp"
#include "tools/lines/special_text.hpp"

namespace heddle {

struct TokenizeOptions {
  bool train = false;
  std::string tokenizer;
  std::string output;
  bool pieces = false;
  bool offsets = false;
  bool jsonl = false;
  bool decode = false;
  bool check = false;
  bool pairs = false;
  std::string source_tokenizer;
  formats::BadRecordRule bad_records = formats::BadRecordRule::error;
  InvalidText invalid = InvalidText::error;
  Documents documents = Documents::file;
  text::SpecialText special = text::SpecialText::token;
  bool compress = false;
  text::TrainerOptions training;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("train", "learn a tokenizer from the text and write it to -o").essential(), self.train);
    visitor(Field("tokenizer",
                  "a tokenizer, token or model file, Hugging Face's tokenizer.json, BERT's vocab.txt, or a directory "
                  "with one of these or GPT-2's vocabulary")
                .letter('t')
                .not_empty()
                .takes("FILE")
                .essential(),
            self.tokenizer);
    visitor(
        Field("output",
              "output: a tokenizer file with --train, a pairs file with --pairs, text with --pieces and --decode, else "
              "a token file. Without "
              "it, or with -, ids and text go to standard output")
            .letter('o')
            .takes("FILE")
            .essential(),
        self.output);
    visitor(Field("pieces", "print pieces instead of ids").essential(), self.pieces);
    visitor(
        Field("offsets",
              "print ID:BEGIN:END for each token, the bytes of the line that it stands for; with --pieces the piece "
              "instead of the id"),
        self.offsets);
    visitor(Field("jsonl", "print one JSON object per line: text, ids, and what --pieces and --offsets add"),
            self.jsonl);
    visitor(Field("decode", "convert ids, token files or pairs files to text").essential(), self.decode);
    visitor(Field("check",
                  "encode and decode every line (or document, with --documents), and print how many there are and how "
                  "many change; if any does, print where the first one changes and exit with status 1"),
            self.check);
    visitor(Field("pairs",
                  "write a pairs file from two files, SOURCE and TARGET, whose lines belong together, or from one with "
                  "lines of SOURCE, tab, TARGET")
                .essential(),
            self.pairs);
    visitor(Field("source_tokenizer", "another tokenizer for the sources of pairs; without it, that of -t")
                .needs({"pairs"})
                .not_empty()
                .takes("FILE"),
            self.source_tokenizer);
    visitor(Field("bad_records",
                  "pairs that cannot be used, such as those with an empty side: an error that lists them, or leave "
                  "them out and print how many")
                .needs({"pairs"})
                .formerly("empty"),
            self.bad_records);
    visitor(
        Field("invalid",
              "what to do with bytes that are not UTF-8: an error, replace each by U+FFFD, or skip them. Tokenizers "
              "with a token for every byte take all bytes as they are"),
        self.invalid);
    visitor(Field("documents",
                  "what ends a document in the token file: a line, blank lines, the end of a file, or only the end of "
                  "the whole input")
                .essential(),
            self.documents);
    visitor(Field("special", "text that spells a special token becomes that token, or plain text").essential(),
            self.special);
    visitor(Field("compress", "compress the token file; random reads become slower"), self.compress);
    visitor(Field("training", "Training a tokenizer").needs({"train"}), self.training);
  }
};

// The handling that the options ask for. If every byte has a token, invalid bytes pass, and a note says that --invalid
// has no effect.
inline void note_invalid_without_effect(bool pass, const cli::Arguments& arguments) {
  if (pass && arguments.given("invalid")) arguments.say("--invalid has no effect: the tokenizer has all bytes");
}
inline InvalidBytes invalid_bytes(bool pass, const TokenizeOptions& options, const cli::Arguments& arguments) {
  note_invalid_without_effect(pass, arguments);
  return {options.invalid, pass};
}

}  // namespace heddle
