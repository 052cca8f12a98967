#include <algorithm>
#include <iostream>

#include "heddle/analysis/embed.hpp"
#include "heddle/analysis/nearest.hpp"
#include "heddle/base/printable.hpp"
#include "heddle/formats/heddle/load_model.hpp"
#include "tools/inspect/print.hpp"
#include "tools/inspect/vectors.hpp"

namespace heddle {

void show_neighbours(const cli::Arguments& arguments, const VectorOptions& options, bool json) {
  const VectorModel loaded(arguments.operand("FILE"), "--neighbours");
  const text::Tokenizer& tokenizer = loaded.tokenizer;
  const std::vector<TokenId> word = tokenizer.encode(options.neighbours);
  check<UsageError>(!word.empty(), "--neighbours: '", options.neighbours, "' has no token");
  const auto known = [&](Index row) {
    return row < tokenizer.vocab_size() && !tokenizer.is_special(static_cast<TokenId>(row)) &&
           std::ranges::find(word, row) == word.end();
  };
  const analysis::NearestVectors pieces(loaded.vectors.token_embeddings());
  const Tensor vector = analysis::embed_tokens(loaded.vectors, word).reshaped({1, loaded.vectors.width()});
  formats::Json list = formats::Json::array();
  Index shown = 0;
  const auto found = pieces.find(vector, pieces.size());
  for (const auto& [row, similarity] : found.front()) {
    if (!known(row)) continue;
    const std::string& piece = tokenizer.piece(static_cast<TokenId>(row));
    if (json) {
      list.push_back({{"piece", piece}, {"id", row}, {"similarity", similarity}});
    } else {
      std::cout << printable(piece) << '\t' << similarity << '\n';
    }
    if (++shown == options.top) break;
  }
  if (json) std::cout << dump({{"word", options.neighbours}, {"neighbours", std::move(list)}});
}

}  // namespace heddle
