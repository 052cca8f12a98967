// The command line of tokenize.
#pragma once

#include <string>

#include "heddle/text/tokenizer.hpp"
#include "heddle/text/trainer.hpp"
#include "tools/tokenize/documents.hpp"

template <>
struct heddle::Names<heddle::Documents> {
  static constexpr std::pair<Documents, std::string_view> list[] = {
      {Documents::line, "line"}, {Documents::blank, "blank"}, {Documents::file, "file"}, {Documents::whole, "whole"}};
};

template <>
struct heddle::Names<heddle::text::SpecialText> {
  static constexpr std::pair<text::SpecialText, std::string_view> list[] = {{text::SpecialText::token, "token"},
                                                                            {text::SpecialText::plain, "plain"}};
};

namespace heddle {

struct TokenizeOptions {
  bool train = false;
  std::string tokenizer;
  std::string output;
  bool pieces = false;
  bool decode = false;
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
    visitor(Field("output",
                  "where the result goes: a tokenizer file with --train, text with --pieces and --decode, else "
                  "a token file. Without it, or with -, ids and text go to standard output")
                .letter('o')
                .takes("FILE")
                .essential(),
            self.output);
    visitor(Field("pieces", "print pieces instead of ids").essential(), self.pieces);
    visitor(Field("decode", "ids or token files in, text out").essential(), self.decode);
    visitor(Field("documents",
                  "what ends a document of the token file: a line, blank lines, the file, or nothing but "
                  "the end of the whole input")
                .essential(),
            self.documents);
    visitor(Field("special", "what text that reads like a special token is: that token, or plain text").essential(),
            self.special);
    visitor(Field("compress", "make the token file smaller, and slower to read at random"), self.compress);
    visitor(Field("training", "Training a tokenizer").needs({"train"}), self.training);
  }
};

}  // namespace heddle
