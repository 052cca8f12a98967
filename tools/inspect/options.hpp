// The command line of inspect.
#pragma once

#include <string>

#include "heddle/base/visit.hpp"
#include "heddle/models/presets.hpp"
#include "tools/inspect/profile.hpp"
#include "tools/inspect/vectors.hpp"

namespace heddle {

// The parts of a file that can be asked for; none means all that it has.
struct Parts {
  bool config = false, weights = false, tokens = false, tokenizer = false, history = false, provenance = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("config", "the configuration of a model"), self.config);
    visitor(Field("weights", "the parameters: names, shapes, counts"), self.weights);
    visitor(
        Field("tokens",
              "statistics of the tokens of a token file; of other files the vocabulary, an id and its piece a line"),
        self.tokens);
    visitor(Field("tokenizer", "kind, size, special tokens, some pieces"), self.tokenizer);
    visitor(Field("history", "the course of the training"), self.history);
    visitor(Field("provenance", "the commands and inputs that made the file"), self.provenance);
  }
  bool any_but_history() const { return config || weights || tokens || tokenizer || provenance; }
  bool any() const { return history || any_but_history(); }
};

struct InspectOptions {
  bool json = false;
  bool verify = false;
  std::string diff;
  std::string evaluate, base;
  Index batch_size = 8, sequence_length = 0;
  std::string preset;
  std::string output;
  Parts parts;
  ProfileOptions profile;
  VectorOptions vectors;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "the answer as one JSON object"), self.json);
    visitor(Field("verify", "read everything and check it; a line for each thing that is wrong, and exit status 1"),
            self.verify);
    visitor(Field("diff", "tell in what another file differs: configuration, tokenizer, weights or tokens")
                .not_empty()
                .takes("FILE"),
            self.diff);
    visitor(Field("evaluate", "compute the loss of the model on a token file").not_empty().takes("TOKENS"),
            self.evaluate);
    visitor(Field("base", "the model that the adapter to evaluate belongs to, where it is not beside the adapter")
                .needs({"evaluate"})
                .not_empty()
                .takes("MODEL"),
            self.base);
    visitor(Field("batch_size", "sequences to compute at once").needs({"evaluate", "profile"}).range(1, 1 << 20),
            self.batch_size);
    visitor(Field("sequence_length", "tokens of a window to evaluate; 0 means as many as the model was trained on")
                .needs({"evaluate"})
                .range(0, 10000000)
                .takes("N"),
            self.sequence_length);
    visitor(Field("preset", "a built-in configuration instead of a file")
                .not_empty()
                .one_of(models::preset_names())
                .takes("NAME"),
            self.preset);
    visitor(Field("output", "where the vectors of --embed go, .tsv or .h5, or the history, .svg (a picture) or .tsv")
                .letter('o')
                .takes("FILE"),
            self.output);
    visitor(Field("parts", "Parts to show; all without these"), self.parts);
    visitor(Field("profiling", "Profile"), self.profile);
    visitor(Field("vectors", "Vectors of texts and words"), self.vectors);
  }
};

}  // namespace heddle
