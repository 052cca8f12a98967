// The command line of generate.
#pragma once

#include <string>
#include <vector>

#include "libcore/data/framing.hpp"
#include "libcore/decoding/constraints.hpp"
#include "libcore/decoding/sampling.hpp"
#include "libcore/tensor/precision.hpp"
#include "tools/cli/answer_precision.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

struct BeamFields {
  Index beam = 0;  // 0: none
  double length_penalty = 0.6;
  double coverage_penalty = 0;
  Index n_best = 1;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("beam", "search for the most probable text with N hypotheses per step; 1 is greedy")
                .range(1, 10000)
                .word(0, "none")
                .formerly("num_beams")
                .takes("N")
                .essential(),
            self.beam);
    visitor(
        Field(
            "length_penalty",
            "divide the log-probability of a text by ((5 + its tokens) / 6)^A (Wu et al. 2016); 0 favours short texts")
            .needs({"beam"})
            .range(0, 100)
            .takes("A"),
        self.length_penalty);
    visitor(
        Field("coverage_penalty",
              "add B times the sum, over the tokens of the source, of the logarithm of the attention that each gets "
              "from the target, at most 1 (Wu et al. 2016); favours translations of all of the source")
            .needs({"beam"})
            .range(0, 100)
            .takes("B"),
        self.coverage_penalty);
    visitor(Field("n_best", "print the N best texts of each prompt, best first, one per line")
                .needs({"beam"})
                .range(1, 10000)
                .takes("N"),
            self.n_best);
  }
};

struct GenerateOptions {
  std::string prompt, output = "-", base, evaluate, answer_after, verify;
  Index max_tokens = 0;  // 0: 256, or for a translation the source's and 50
  std::vector<std::string> stop;
  Index num_samples = 1;
  bool stream = false, score = false;
  Index top = 5;
  Index batch_size = 0;  // 0: what suits the mode
  Precision kv_cache = Precision::f32;
  PrecisionChoice precision = PrecisionChoice::f32;
  data::Overlong overlong = data::Overlong::error;
  bool jsonl = false, json = false;
  decoding::Constraints constraints;
  decoding::SamplingOptions sampling;
  BeamFields search;

  Index lines_at_once(Index usual) const { return batch_size > 0 ? batch_size : usual; }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("prompt", "text to continue, fill in or score, instead of lines").letter('p').takes("TEXT").essential(),
        self.prompt);
    visitor(Field("output", "file for the texts").letter('o').takes("FILE").essential(), self.output);
    visitor(
        Field("base", "base model of an adapter, if it is not in the adapter's directory").not_empty().takes("MODEL"),
        self.base);
    visitor(Field("max_tokens",
                  "maximum number of tokens to generate; auto: 256, or for a target text 50 more than the source has")
                .range(1, 1000000000)
                .word(0, "auto")
                .formerly("max_new_tokens")
                .takes("N")
                .essential(),
            self.max_tokens);
    visitor(Field("stop", "stop before this text; may be repeated; write a comma in it as \\,")
                .not_empty()
                .takes("TEXT")
                .essential(),
            self.stop);
    visitor(Field("num_samples", "texts for each prompt, one per line").range(1, 10000).takes("N").essential(),
            self.num_samples);
    visitor(Field("stream", "write text as soon as it is final, line after line").essential(), self.stream);
    visitor(Field("score", "print the log-likelihoods of the texts in nats instead").essential(), self.score);
    visitor(Field("evaluate",
                  "translations: compare them with the references in this file, line by line, and print BLEU, chrF and "
                  "exact match; other models: count the answers that equal its lines; -o FILE keeps the texts")
                .not_empty()
                .takes("FILE")
                .essential(),
            self.evaluate);
    visitor(Field("answer_after",
                  "print only the answer: the generated text after the last occurrence of this text; with "
                  "--num-samples the most frequent answer, a tab and the fraction of samples with it")
                .not_empty()
                .takes("TEXT"),
            self.answer_after);
    visitor(Field("verify",
                  "models of Lyapunov functions: each text is a system of differential equations; print the first of "
                  "--beam (default 10) or --num-samples candidates for which this claim is proved")
                .one_of({"nonnegative", "stable", "asymptotic", "global"})
                .takes("CLAIM"),
            self.verify);
    visitor(Field("json", "print the evaluation as JSON").needs({"evaluate"}), self.json);
    visitor(Field("top", "encoders: print the K most probable tokens for each mask, after the text or with --jsonl")
                .range(1, 100000)
                .takes("K")
                .essential(),
            self.top);
    visitor(Field("batch_size",
                  "number of lines to compute at once; auto means 16, for target texts 64, and 256 for encoders and "
                  "--score")
                .range(1, 10000)
                .word(0, "auto")
                .takes("N"),
            self.batch_size);
    visitor(Field("kv_cache", "data type of the cached keys and values; bf16 needs half the memory").formerly("cache"),
            self.kv_cache);
    visitor(cli::precision_field(), self.precision);
    visitor(
        Field("overlong", "texts longer than the context: report an error, truncate them, or split them (with --score)")
            .essential(),
        self.overlong);
    visitor(
        Field("jsonl", "one JSON object per text, with ids and log-likelihoods, or with the masks' tokens").essential(),
        self.jsonl);
    visitor(Field("constraints", "Constraints, for sampling and beam search"), self.constraints);
    visitor(Field("sampling", "Sampling"), self.sampling);
    visitor(Field("search", "Beam search"), self.search);
  }
};

// Takes the most probable text unless sampling is chosen, as translations and answers do.
GenerateOptions greedy_unless_sampled(GenerateOptions options, const cli::Arguments& arguments);

// Throws UsageError for options that contradict each other.
void check_usage(const GenerateOptions& options, const cli::Arguments& arguments);

}  // namespace heddle
