// inspect neighbours: the pieces most similar to words, and their map.
#include <algorithm>
#include <iostream>
#include <map>

#include "formats/heddle/load_model.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/nearest.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/text/spelling.hpp"
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
  bool raw = false;
  std::string base, output;
  MapLayout layout = MapLayout::pca;
  bool json = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("top", "how many pieces to print for each word").range(1, 1000000).takes("K").essential(), self.top);
    visitor(
        Field("raw", "compare the vectors as they are, without removing their mean, and list pieces inside words, too")
            .essential(),
        self.raw);
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
  NeighbourSearch(const std::string& model, const std::string& base, bool raw)
      : loaded_(model, base, "inspect neighbours"),
        raw_(raw),
        table_(raw ? loaded_.vectors.token_embeddings() : centred(loaded_.vectors.token_embeddings(), mean_)),
        pieces_(table_) {}

  const text::Tokenizer& tokenizer() const { return loaded_.tokenizer; }
  // The mean of the pieces' embeddings, without that of all.
  Tensor vector(std::span<const TokenId> ids) const {
    const Tensor vector = analysis::embed_tokens(loaded_.vectors, ids);
    for (std::size_t j = 0; j < mean_.size(); ++j) vector[static_cast<Index>(j)] -= static_cast<Real>(mean_[j]);
    return vector;
  }

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
      if (!raw_ && tokenizer().piece(id).starts_with(text::continuation_mark)) continue;
      result.nearest.push_back({id, similarity});
      if (static_cast<Index>(result.nearest.size()) == top) break;
    }
    return result;
  }

 private:
  // A copy without the mean of the rows, which all of them have in common (Mu and Viswanath 2018).
  static Tensor centred(const Tensor& table, std::vector<double>& mean) {
    const Tensor copy(table.shape());
    copy.assign(table);
    const Index rows = copy.shape()[0], width = copy.shape()[1];
    mean.assign(static_cast<std::size_t>(width), 0);
    for (Index i = 0; i < copy.size(); ++i) mean[static_cast<std::size_t>(i % width)] += static_cast<double>(copy[i]);
    for (double& each : mean) each /= static_cast<double>(rows);
    for (Index i = 0; i < copy.size(); ++i) copy[i] -= static_cast<Real>(mean[static_cast<std::size_t>(i % width)]);
    return copy;
  }

  VectorModel loaded_;
  bool raw_;
  std::vector<double> mean_;  // empty of raw vectors
  Tensor table_;
  analysis::NearestVectors pieces_;
};

// Each line begins with the word if there are several.
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
  VectorMap map{"Neighbours among the embeddings of " + model, "word", "words asked for", {}, {}, {}};
  std::vector<Tensor> vectors;
  std::map<TokenId, std::pair<double, std::string>> nearest;
  for (const WordNeighbours& each : all) {
    map.points.push_back({label_of(each.word), each.word, "", true});
    vectors.push_back(each.vector);
    map.ranked.push_back({each.word, {}});
    for (const auto& [id, similarity] : each.nearest) {
      map.ranked.back().near.emplace_back(label_of_piece(search.tokenizer(), id), similarity);
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
  const NeighbourSearch search(model, options.base, options.raw);
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
       .synopsis = {"MODEL WORD... [--top K] [--raw] [--json]",
                    "MODEL WORD... [--top K] [--raw] [--layout NAME] -o x.html|x.svg|x.png|x.pdf|x.tsv"},
       .operands = {{"MODEL", "a model file, or an adapter", 1, 1},
                    {"WORD", "words, spelled as in a text", 1, cli::any_number}}},
      heddle::neighbours);
}

}  // namespace heddle
