// The command line of generate.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/data/framing.hpp"
#include "heddle/decoding/sampling.hpp"
#include "heddle/tensor/precision.hpp"

namespace heddle {

struct BeamFields {
  Index beam = 0;
  double length_penalty = 0.6;
  Index n_best = 1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("beam",
                  "look for the most probable text, with the N best hypotheses kept at every step, instead of "
                  "sampling; 1 is greedy, 0 samples")
                .range(0, 10000)
                .takes("N")
                .essential(),
            self.beam);
    visitor(Field("length_penalty",
                  "a text's log-probability is divided by ((5 + its tokens) / 6)^A (Wu et al. 2016): "
                  "0 favours short texts")
                .needs({"beam"})
                .range(0, 100)
                .takes("A"),
            self.length_penalty);
    visitor(Field("n_best", "the N best texts for each prompt, best first, in a line each")
                .needs({"beam"})
                .range(1, 10000)
                .takes("N"),
            self.n_best);
  }
};

struct GenerateOptions {
  std::string prompt, output = "-", base;
  Index max_tokens = 256;
  std::vector<std::string> stop;
  Index num_samples = 1;
  bool stream = false, score = false;
  Index top = 5;
  Index batch_size = 16;
  Precision kv_cache = Precision::f32;
  data::Overlong overlong = data::Overlong::error;
  bool jsonl = false;
  decoding::SamplingOptions sampling;
  BeamFields search;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("prompt", "the text to continue, to fill in or to score, instead of lines")
                .letter('p')
                .takes("TEXT")
                .essential(),
            self.prompt);
    visitor(Field("output", "where the texts go").letter('o').takes("FILE").essential(), self.output);
    visitor(Field("base", "the model that an adapter belongs to, where it is not beside the adapter")
                .not_empty()
                .takes("MODEL"),
            self.base);
    visitor(Field("max_tokens", "most tokens to add").range(1, 1000000000).takes("N").essential(), self.max_tokens);
    visitor(Field("stop", "end before this text; may be repeated; a comma in it is written \\,")
                .not_empty()
                .takes("TEXT")
                .essential(),
            self.stop);
    visitor(Field("num_samples", "N texts for each prompt, in a line each").range(1, 10000).takes("N").essential(),
            self.num_samples);
    visitor(Field("stream", "write what is certain of a text at once, one line after the other").essential(),
            self.stream);
    visitor(
        Field("score", "tell how likely the model holds the texts, in nats, instead of continuing them").essential(),
        self.score);
    visitor(Field("top", "encoders: tell the K most probable pieces for each blank, behind the text or with --jsonl")
                .range(1, 100000)
                .takes("K")
                .essential(),
            self.top);
    visitor(Field("batch_size", "lines computed at the same time; encoders and --score take 256 unless told")
                .range(1, 10000)
                .takes("N")
                .essential(),
            self.batch_size);
    visitor(Field("kv_cache", "how the keys and values of earlier tokens are kept; bf16 takes half the memory")
                .formerly("cache"),
            self.kv_cache);
    visitor(Field("overlong",
                  "what to do with texts longer than the context: an error, cut them (prompts keep their ends, other "
                  "texts their beginnings), or, with --score, read them in parts that overlap")
                .essential(),
            self.overlong);
    visitor(Field("jsonl",
                  "a JSON object a text: prompt, text, ids, log_likelihood, log_probabilities; with --score text, ids, "
                  "log_likelihood, tokens, log_probabilities; of encoders prompt, text, masks")
                .essential(),
            self.jsonl);
    visitor(Field("sampling", "Sampling"), self.sampling);
    visitor(Field("search", "Beam search"), self.search);
  }
};

// Throws UsageError for options that contradict each other.
void check_usage(const GenerateOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
