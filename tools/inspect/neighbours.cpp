// inspect neighbours: the pieces most similar to a word.
#include <algorithm>
#include <iostream>

#include "heddle/analysis/embed.hpp"
#include "heddle/analysis/nearest.hpp"
#include "heddle/base/printable.hpp"
#include "heddle/formats/heddle/load_model.hpp"
#include "tools/inspect/print.hpp"
#include "tools/inspect/vectors.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

struct NeighboursOptions {
  Index top = 10;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("top", "how many pieces to print").range(1, 1000000).takes("K").essential(), self.top);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

// The pieces whose embeddings are most similar to the mean of the word's pieces, except these and special tokens.
void neighbours(const cli::Arguments& arguments, const NeighboursOptions& options) {
  const std::string text = arguments.operand("WORD");
  check<UsageError>(!text.empty(), "the WORD is empty");
  const VectorModel loaded(arguments.operand("MODEL"), "inspect neighbours");
  const text::Tokenizer& tokenizer = loaded.tokenizer;
  const std::vector<TokenId> word = tokenizer.encode(text);
  check<UsageError>(!word.empty(), "'", text, "' has no token");
  const auto known = [&](Index row) {
    return row < tokenizer.vocab_size() && !tokenizer.is_special(static_cast<TokenId>(row)) &&
           std::ranges::find(word, row) == word.end();
  };
  const analysis::NearestVectors pieces(loaded.vectors.token_embeddings());
  const Tensor vector = analysis::embed_tokens(loaded.vectors, word);
  formats::Json list = formats::Json::array();
  Index shown = 0;
  const auto found = pieces.find(vector.reshaped({1, vector.size()}), pieces.size());
  for (const auto& [row, similarity] : found.front()) {
    if (!known(row)) continue;
    const std::string& piece = tokenizer.piece(static_cast<TokenId>(row));
    if (options.json) {
      list.push_back({{"piece", piece}, {"id", row}, {"similarity", similarity}});
    } else {
      std::cout << printable(piece) << '\t' << similarity << '\n';
    }
    if (++shown == options.top) break;
  }
  if (options.json) std::cout << dump({{"word", text}, {"neighbours", std::move(list)}});
}

}  // namespace

cli::Verb verbs::neighbours() {
  return cli::make_verb<NeighboursOptions>(
      {.summary = "Prints the pieces whose embeddings are most similar to a word's.",
       .synopsis = {"MODEL WORD [--top K] [--json]"},
       .operands = {{"MODEL", "a model file", 1, 1}, {"WORD", "a word, as it would stand in a text", 1, 1}}},
      heddle::neighbours);
}

}  // namespace heddle
