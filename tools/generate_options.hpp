// The command line of generate.
#pragma once

#include <string>
#include <vector>

#include "heddle/data/framing.hpp"
#include "heddle/decoding/sampling.hpp"
#include "heddle/tensor/precision.hpp"
#include "overlong.hpp"

namespace heddle {

struct GenerateOptions {
  std::string prompt, output = "-", base;
  Index max_tokens = 256;
  std::vector<std::string> stop;
  Index top = 5;
  Index batch_size = 16;
  Precision cache = Precision::f32;
  Overlong overlong = Overlong::error;
  bool jsonl = false;
  decoding::SamplingOptions sampling;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("prompt", "the text to continue or to fill in, instead of lines").letter('p').takes("TEXT"),
            self.prompt);
    visitor(Field("output", "where the texts go").letter('o').takes("FILE"), self.output);
    visitor(
        Field("base", "the model that an adapter belongs to, where it is not where it was").not_empty().takes("MODEL"),
        self.base);
    visitor(Field("max_tokens", "most tokens to add").range(1, 1000000000).takes("N"), self.max_tokens);
    visitor(Field("stop", "end before this text; may be repeated; a comma in it is written \\,").takes("TEXT"),
            self.stop);
    visitor(Field("top", "encoders: tell the K most probable pieces for each blank, behind the text or with --jsonl")
                .range(1, 100000)
                .takes("K"),
            self.top);
    visitor(Field("batch_size", "lines computed at the same time; encoders take 256 unless told")
                .range(1, 10000)
                .takes("N"),
            self.batch_size);
    visitor(Field("cache", "how the keys and values of earlier tokens are kept; bf16 takes half the memory"),
            self.cache);
    visitor(Field("overlong",
                  "what to do with texts longer than the context: an error, or cut them; prompts keep their "
                  "ends, texts with blanks their beginnings"),
            self.overlong);
    visitor(Field("jsonl", "a JSON object a text: prompt, text, ids, log_likelihood; of encoders prompt, text, masks"),
            self.jsonl);
    visitor(Field("sampling", "Sampling"), self.sampling);
  }
};

}  // namespace heddle
