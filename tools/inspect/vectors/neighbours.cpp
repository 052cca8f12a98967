// inspect neighbours: the pieces most similar to words, and their map.
#include <algorithm>
#include <iostream>
#include <map>

#include "formats/heddle/load_model.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/nearest.hpp"
#include "libcore/base/printable.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/token_text.hpp"
#include "tools/inspect/vectors/vector_map.hpp"
#include "tools/inspect/vectors/vector_model.hpp"
#include "tools/inspect/verbs.hpp"

namespace heddle {

namespace {

struct NeighboursOptions {
  Index top = 10;
  std::string base, output;
  MapLayout layout = MapLayout::pca;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("top", "how many pieces to print for each word").range(1, 1000000).takes("K").essential(), self.top);
    visitor(base_field(), self.base);
    visitor(map_output_field("the words and these pieces"), self.output);
    visitor(layout_field(), self.layout);
    visitor(Field("json", "print one JSON object").essential(), self.json);
  }
};

struct Near {
  TokenId id;
  double similarity;
};

struct WordNeighbours {
  std::string word;
  std::vector<TokenId> ids;
  Tensor vector;  // [width]
  std::vector<Near> nearest;
};

class NeighbourSearch {
 public:
  NeighbourSearch(const std::string& model, const std::string& base)
      : loaded_(model, base, "inspect neighbours"), pieces_(loaded_.vectors.token_embeddings()) {}

  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }
  Tensor vector(std::span<const TokenId> ids) const { return analysis::embed_tokens(loaded_.vectors, ids); }

  // The pieces whose embeddings are most similar to the mean of the word's pieces, except these and special tokens.
  WordNeighbours operator()(const std::string& text, Index top) const {
    const std::vector<TokenId> ids = tokenizer().encode(text);
    check<UsageError>(!ids.empty(), "'", text, "' has no token");
    WordNeighbours result{text, ids, vector(ids), {}};
    const auto found = pieces_.find(result.vector.reshaped({1, result.vector.size()}), pieces_.size());
    for (const auto& [row, similarity] : found.front()) {
      if (row >= tokenizer().vocab_size()) continue;
      const auto id = static_cast<TokenId>(row);
      if (tokenizer().is_special(id) || std::ranges::find(ids, id) != ids.end()) continue;
      result.nearest.push_back({id, similarity});
      if (static_cast<Index>(result.nearest.size()) == top) break;
    }
    return result;
  }

 private:
  VectorModel loaded_;
  analysis::NearestVectors pieces_;
};

// With several words, each line begins with the word.
void print(const std::vector<WordNeighbours>& all, const text::Tokenizer& tokenizer) {
  for (const WordNeighbours& each : all) {
    for (const auto& [id, similarity] : each.nearest) {
      if (all.size() > 1) std::cout << printable(each.word) << '\t';
      std::cout << printable(tokenizer.piece(id)) << '\t' << similarity << '\n';
    }
  }
}

void print_json(const std::vector<WordNeighbours>& all, const text::Tokenizer& tokenizer) {
  formats::Json words = formats::Json::array();
  for (const WordNeighbours& each : all) {
    formats::Json list = formats::Json::array();
    for (const auto& [id, similarity] : each.nearest) {
      list.push_back({{"piece", tokenizer.piece(id)}, {"id", id}, {"similarity", similarity}});
    }
    words.push_back({{"word", each.word}, {"neighbours", std::move(list)}});
  }
  std::cout << dump({{"words", std::move(words)}});
}

// A piece; of a tokenizer of bytes, which spells them in letters of its own, as it stands within a text: "␣in".
std::string label_of_piece(const text::Tokenizer& tokenizer, TokenId id) {
  if (tokenizer.kind() != text::TokenizerKind::bpe && tokenizer.kind() != text::TokenizerKind::byte) {
    return tokenizer.piece(id);
  }
  std::string text;
  tokenizer.decode(id, text, text::TextPlace::inside);
  return label_of(text);
}

// A piece that is near several words is a point of the most similar one; a word that is a piece is one point.
VectorMap map_of(const std::vector<WordNeighbours>& all, const NeighbourSearch& search, const std::string& model) {
  VectorMap map{"Neighbours among the embeddings of " + model, "word", "words asked for", {}, {}};
  std::vector<Tensor> vectors;
  std::map<TokenId, std::pair<double, std::string>> nearest;
  for (const WordNeighbours& each : all) {
    map.points.push_back({label_of(each.word), each.word, "", true});
    vectors.push_back(each.vector);
    for (const auto& [id, similarity] : each.nearest) {
      auto& best = nearest.try_emplace(id, -2.0, "").first->second;
      best = std::max(best, {similarity, each.word}, [](const auto& x, const auto& y) { return x.first < y.first; });
    }
  }
  for (const WordNeighbours& each : all) {
    if (each.ids.size() == 1) nearest.erase(each.ids.front());
  }
  for (const auto& [id, best] : nearest) {
    const auto& [similarity, word] = best;
    const std::string detail = concatenate("similarity to ", word, ": ", similarity);
    map.points.push_back({label_of_piece(search.tokenizer(), id), word, detail, false});
    vectors.push_back(search.vector({&id, 1}));
  }
  map.vectors = Tensor({static_cast<Index>(vectors.size()), vectors.front().size()});
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    map.vectors.narrowed(0, static_cast<Index>(i), 1).assign(vectors[i].reshaped({1, vectors[i].size()}));
  }
  return map;
}

void neighbours(const cli::Arguments& arguments, const NeighboursOptions& options) {
  const std::string model = arguments.operand("MODEL");
  if (!options.output.empty()) {
    check_map_name(options.output);
    check<UsageError>(!options.json, "-o writes a map; leave --json out");
    cli::protect_inputs({options.base}, {options.output}, arguments);
  }
  const NeighbourSearch search(model, options.base);
  std::vector<WordNeighbours> all;
  for (const std::string& word : arguments.operands("WORD")) all.push_back(search(word, options.top));
  if (!options.output.empty()) {
    write_map(options.output, map_of(all, search, model), options.layout);
  } else if (options.json) {
    print_json(all, search.tokenizer());
  } else {
    print(all, search.tokenizer());
  }
}

}  // namespace

cli::Verb verbs::neighbours() {
  return cli::make_verb<NeighboursOptions>(
      {.summary = "Prints the pieces whose embeddings are most similar to a word's.",
       .synopsis = {"MODEL WORD... [--top K] [--json]",
                    "MODEL WORD... [--top K] [--layout NAME] -o x.html|x.svg|x.png|x.pdf|x.tsv"},
       .operands = {{"MODEL", "a model file, or an adapter", 1, 1},
                    {"WORD", "words, as they would stand in a text", 1, cli::any_number}}},
      heddle::neighbours);
}

}  // namespace heddle
