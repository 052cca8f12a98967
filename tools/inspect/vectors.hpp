// What inspect tells of a model's vectors: of texts, words, senses.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/formats/heddle/load_model.hpp"
#include "tools/lines/overlong.hpp"

namespace heddle {

// A model file whose vectors are asked for. Throws DataError for a model that gives none.
struct VectorModel {
  VectorModel(const std::string& path, std::string_view user)
      : loaded(formats::load_model(formats::ModelFile(path))),
        tokenizer(loaded.tokenizer),
        vectors(models::require<models::ContextualVectors>(*loaded.model, user, path)) {}

  formats::LoadedModel loaded;
  const text::Tokenizer& tokenizer;
  const models::ContextualVectors& vectors;
};

// Which vectors stand for a text.
enum class TextPooling {
  none,   // one for each token
  first,  // the first token's: an encoder's [CLS]
  mean,   // the mean over the text's own tokens
  last,   // the last one's of the text's own tokens
};
template <>
struct Names<TextPooling> {
  static constexpr std::pair<TextPooling, std::string_view> list[] = {{TextPooling::none, "none"},
                                                                      {TextPooling::first, "first"},
                                                                      {TextPooling::mean, "mean"},
                                                                      {TextPooling::last, "last"}};
};

struct VectorOptions {
  std::string embed;
  std::vector<Index> layer;
  TextPooling pooling = TextPooling::none;
  Overlong overlong = Overlong::error;
  std::string neighbours;
  Index top = 10;
  std::string senses;
  bool gold = false;
  Index voters = 0;
  double sentence = 0.5;
  std::string bias;
  Index partitions = 100000;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("embed", "the hidden states of a text; - is the lines of INPUT or standard input")
                .not_empty()
                .takes("TEXT"),
            self.embed);
    visitor(Field("layer",
                  "whose states: 0 is what enters the first block, i what leaves block i, -1 the last; of several "
                  "their mean; otherwise the last one, or for --senses the last four")
                .needs({"embed", "senses", "bias"})
                .takes("N,..."),
            self.layer);
    visitor(
        Field("pooling", "a vector for each token, or one for a text: the first token's, the mean, the last token's")
            .needs({"embed"}),
        self.pooling);
    visitor(Field("overlong", "what to do with a text longer than the context: an error, or keep its beginning")
                .needs({"embed"}),
            self.overlong);
    visitor(Field("neighbours", "the pieces whose embeddings are most similar to a word's").not_empty().takes("WORD"),
            self.neighbours);
    visitor(Field("top", "how many neighbours, or most frequent pieces of a token file")
                .needs({"neighbours", "tokens"})
                .range(1, 1000000)
                .takes("K"),
            self.top);
    visitor(Field("senses", "tell the senses of the words of INPUT by the examples of this file")
                .not_empty()
                .takes("TRAIN"),
            self.senses);
    visitor(Field("gold", "INPUT has the senses too; tell how many are found").needs({"senses"}), self.gold);
    visitor(Field("voters", "the K most similar examples vote; 0: the sense whose mean is most similar")
                .needs({"senses"})
                .range(0, 1000000)
                .takes("K"),
            self.voters);
    visitor(Field("sentence", "the share of the sentence's mean in a word's vector; the rest is the word's own")
                .needs({"senses"})
                .range(0, 1),
            self.sentence);
    visitor(Field("bias", "what the model associates with what, by the tests in this file").not_empty().takes("TESTS"),
            self.bias);
    visitor(Field("partitions", "most partitions of two sets of words that a p-value looks at")
                .needs({"bias"})
                .range(1, 1000000000)
                .takes("N"),
            self.partitions);
  }
};

// Writes the hidden states of one text, or of many, to `output`: HDF5 where its name ends so, else tab-separated text
// or a JSON object a text.
void embed_texts(const cli::Arguments& arguments, const VectorOptions& options, const std::string& output, bool json);

// Prints the pieces whose embeddings are nearest to the mean of a word's, its own pieces and special ones aside.
void show_neighbours(const cli::Arguments& arguments, const VectorOptions& options, bool json);

// Prints the sense of each marked word, or with --gold how well they are told.
void tell_senses(const cli::Arguments& arguments, const VectorOptions& options, bool json);

// Prints the answers to a file of bias tests.
void show_bias(const cli::Arguments& arguments, const VectorOptions& options, bool json);

}  // namespace heddle
