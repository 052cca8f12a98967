// A bag of words and n-grams: the classifier of fastText, without a network between the vectors of words and the task's
// layer. With F(t) the features of position t,
//
//   h_t = 1 / sqrt(|F(t)|) sum over f in F(t) of E_f
//
// The first position, which is that of [CLS], has every token and every n-gram of up to `ngrams` tokens of the whole
// text, each once. Another one has its token, the n-grams that contain it and the single tokens less than `ngrams`
// away, each by its distance, for tagging. Tokens have rows of their own; n-grams share the rows of a table of
// `buckets`, by their hash. Source: Joulin et al. 2017, "Bag of tricks for efficient text classification", which has
// the mean where this has the root, so that long texts are no less decided than short ones.
//
// E can start from counts: for class c, with n_fc the examples of c that have f, and a = 1,
//
//   E_fc = log (n_fc + a) / sum over g of (n_gc + a)  -  its mean over the classes,
//
// and 0 for an f that none has, or all have.
// These are the weights of multinomial naive Bayes. Training then makes them those of a logistic regression that began
// as one. Source: Wang and Manning 2012, "Baselines and bigrams: simple, good sentiment and topic classification"
// (NB-SVM). For label c of texts with any number of labels, with m_fc the texts without c that have f,
//
//   E_fc = log (n_fc + a) / sum over g of (n_gc + a)  -  log (m_fc + a) / sum over g of (m_gc + a).
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_set>

#include "libcore/models/architecture.hpp"
#include "libcore/models/counted_labels.hpp"
#include "libcore/models/summed_vectors.hpp"
#include "libcore/nn/embedding.hpp"
#include "libcore/ops/arithmetic.hpp"
#include "libcore/ops/segment_sum.hpp"

namespace heddle::models {

namespace {

constexpr Index default_width = 32;
constexpr Index default_buckets = Index(1) << 18;
// Most n-grams of a new text are in no example; in a row that an example's has, they would speak for its class.
constexpr Index buckets_per_ngram = 8;
constexpr Index least_buckets = 1024;
// Many classes, where that makes files of hundreds of megabytes, get fewer rows: with 77 and with 150 classes a quarter
// of them has the same accuracy.
constexpr Index most_numbers = Index(1) << 23;

// A hash on which the meaning of files depends (the finalizer of SplitMix64 over the ids).
class Hash {
 public:
  explicit Hash(Index place) { add(place); }
  Hash& add(Index number) {
    value_ += static_cast<std::uint64_t>(number) + 0x9e3779b97f4a7c15U;
    value_ = (value_ ^ (value_ >> 30U)) * 0xbf58476d1ce4e5b9U;
    value_ = (value_ ^ (value_ >> 27U)) * 0x94d049bb133111ebU;
    value_ ^= value_ >> 31U;
    return *this;
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0;
};

// The features of one position: ids of tokens, and hashes.
struct Features {
  std::vector<TokenId> tokens;
  std::vector<std::uint64_t> hashes;
};

template <class Value>
void keep_once(std::vector<Value>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Calls visit(hash) for the n-grams of 2 to `ngrams` tokens that begin at `begin`.
template <class Visit>
void for_each_ngram(TokenList text, Index begin, Index ngrams, Index place, const Visit& visit) {
  Hash hash(place);
  const Index end = std::min(begin + ngrams, static_cast<Index>(text.size()));
  for (Index at = begin; at < end; ++at) {
    hash.add(text[static_cast<std::size_t>(at)]);
    if (at > begin) visit(at, hash.value());
  }
}

// A feature where it occurs: the id of a token, or the hash of the tokens from `first` to `last`.
struct Occurrence {
  bool is_token;
  std::uint64_t value;
  Index first, last;
};

// Calls visit(Occurrence) for each feature of a position, in order; for position 0 once for each place that has it.
template <class Visit>
void for_each_occurrence(TokenList text, Index position, Index ngrams, const Visit& visit) {
  const auto size = static_cast<Index>(text.size());
  const auto token = [&](Index at) { return text[static_cast<std::size_t>(at)]; };
  const auto visit_token = [&](Index at) { visit(Occurrence{true, static_cast<std::uint64_t>(token(at)), at, at}); };
  for (Index begin = 0; position == 0 && begin < size; ++begin) {
    visit_token(begin);
    for_each_ngram(text, begin, ngrams, 0, [&](Index last, std::uint64_t hash) {
      visit(Occurrence{false, hash, begin, last});
    });
  }
  if (position == 0) return;
  visit_token(position);
  const Index first = std::max<Index>(0, position - ngrams + 1), end = std::min(position + ngrams, size);
  for (Index at = first; at < end; ++at) {
    const Index place = 1 + at - position + ngrams;  // neither 0 nor that of another distance
    if (at != position) visit(Occurrence{false, Hash(place).add(token(at)).value(), at, at});
    if (at > position) continue;
    for_each_ngram(text, at, ngrams, place, [&](Index last, std::uint64_t hash) {
      if (last >= position) visit(Occurrence{false, hash, at, last});
    });
  }
}

Features features_at(TokenList text, Index position, Index ngrams) {
  Features features;
  for_each_occurrence(text, position, ngrams, [&](const Occurrence& found) {
    if (found.is_token) {
      features.tokens.push_back(static_cast<TokenId>(found.value));
    } else {
      features.hashes.push_back(found.value);
    }
  });
  if (position == 0) {
    keep_once(features.tokens);
    keep_once(features.hashes);
  }
  return features;
}

// Factor of the sum of their vectors.
double scale_of(const Features& features) {
  const auto count = static_cast<double>(features.tokens.size() + features.hashes.size());
  return count > 0 ? 1 / std::sqrt(count) : 0;
}

struct BagConfig : TokenConfig {
  static constexpr const char* kind_name = "bag";
  Index width = 0;  // 0: the number of classes
  Index ngrams = 2;
  Index buckets = 0;  // 0: by the n-grams of the examples

  bool reads_all() const override { return true; }
  Index table_width() const { return width > 0 ? width : default_width; }
  Index table_rows() const { return buckets > 0 ? buckets : default_buckets; }

  void fit_unordered() override { ngrams = 1; }
  void fit_examples(std::span<const CountedExample> examples, Index classes) override {
    if (width == 0 && classes > 0) width = classes;
    if (buckets > 0 || ngrams < 2) return;
    std::unordered_set<std::uint64_t> seen;
    for (const CountedExample& example : examples) {
      const Features features = features_at(example.text, example.position, ngrams);
      seen.insert(features.hashes.begin(), features.hashes.end());
    }
    const auto ngrams_seen = static_cast<Index>(seen.size());
    const Index most = std::max(ngrams_seen, most_numbers / table_width());
    buckets = std::max(least_buckets, std::min(most, buckets_per_ngram * ngrams_seen));
  }

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("width", "width of the vectors of words; auto means one number for each class")
                .range(1, 1000000)
                .word(0, "auto")
                .takes("N"),
            self.width);
    visitor(Field("ngrams", "longest n-grams of tokens that count besides single ones; 1 means none")
                .range(1, 16)
                .takes("N"),
            self.ngrams);
    visitor(Field("buckets",
                  "rows of the table that n-grams share by their hash; auto means eight for each n-gram of the "
                  "examples; fewer if there are many classes, but at least one")
                .range(1, 1 << 30)
                .word(0, "auto")
                .takes("N"),
            self.buckets);
    TokenConfig::visit(self, visitor);
  }
};

}  // namespace

// Parameters: bag/embedding/token/weight; bag/embedding/ngram/weight where n-grams count.
class Bag : public ModelOfTokens, public CountedStart, public CountedLabels, public SummedVectors {
 public:
  Bag(const BagConfig& config, ParameterSource weights)
      : ModelOfTokens(config, std::move(weights)),
        ngrams_(config.ngrams),
        tokens_(scope("bag/embedding/token"), config.vocab_size, config.table_width(), embedding_stddev),
        dropout_site_(random_site("bag/dropout")) {
    if (ngrams_ > 1) {
      table_.emplace(scope("bag/embedding/ngram"), config.table_rows(), config.table_width(), embedding_stddev);
    }
  }

  Index layers() const override { return 0; }
  Index width() const override { return tokens_.weight().shape()[1]; }
  bool is_bidirectional() const override { return true; }
  bool has_summary() const override { return true; }
  const Tensor& token_embeddings() const override { return tokens_.weight().value(); }

  Variable hidden(const Sequences& sequences, const Pass& pass, const Observer& observe) const override {
    check_sequences(sequences);
    const Index time = sequences.ids.shape[1];
    Bags bags;
    for (Index row = 0; row < sequences.ids.shape[0]; ++row) {
      const TokenList text = text_of(sequences, row);
      for (Index t = 0; t < time; ++t) {
        bags.add(t < static_cast<Index>(text.size()) ? features_at(text, t, ngrams_) : Features(), buckets());
      }
    }
    const Variable x = reshaped(sum(bags, pass), {sequences.ids.shape[0], time, width()});
    if (observe) observe(x);
    return x;
  }

  Variable hidden_at(const std::vector<Index>& positions, const Sequences& sequences, const Pass& pass) const override {
    check_sequences(sequences);
    Bags bags;
    for (std::size_t row = 0; row < positions.size(); ++row) {
      bags.add(features_at(text_of(sequences, static_cast<Index>(row)), positions[row], ngrams_), buckets());
    }
    return reshaped(sum(bags, pass), {static_cast<Index>(positions.size()), 1, width()});
  }

  std::optional<double> start_from_counts(std::span<const CountedExample> examples, Index classes) override {
    if (width() != classes) return std::nullopt;
    const Tensor& words = tokens_.weight().value();
    words.fill(0);
    if (table_) table_->weight().value().fill(0);
    double scales = 0;
    for (const CountedExample& example : examples) {
      const Features features = features_at(example.text, example.position, ngrams_);
      Bags bag;
      bag.add(features, buckets());
      for (const TokenId id : bag.tokens) words[id * classes + example.label] += 1;
      for (const TokenId row : bag.rows) table_->weight().value()[row * classes + example.label] += 1;
      scales += scale_of(features);
    }
    to_log_ratios(classes, static_cast<Real>(examples.size()));
    return scales / static_cast<double>(examples.size());
  }

  std::optional<double> start_from_label_counts(std::span<const CountedText> texts, Index labels) override {
    if (width() != labels) return std::nullopt;
    std::vector<LabelCounts> tables{LabelCounts(tokens_)};
    if (table_) tables.emplace_back(*table_);
    double scales = 0;
    for (const CountedText& text : texts) {
      const Features features = features_at(text.text, 0, ngrams_);
      Bags bag;
      bag.add(features, buckets());
      for (const TokenId id : bag.tokens) tables.front().add(id, text.labels);
      for (const TokenId row : bag.rows) tables.back().add(row, text.labels);
      scales += scale_of(features);
    }
    to_log_odds(tables, labels, static_cast<double>(texts.size()));
    return scales / static_cast<double>(texts.size());
  }

  std::vector<double> summands(TokenList text, Index position) const override {
    std::map<std::pair<bool, std::uint64_t>, double> places;  // number of texts with each feature
    for_each_occurrence(text, position, ngrams_, [&](const Occurrence& found) {
      double& count = places[{found.is_token, found.value}];
      count = position == 0 ? count + 1 : 1;
    });
    const double scale = scale_of(features_at(text, position, ngrams_));
    std::vector<double> result(text.size() * static_cast<std::size_t>(width()), 0);
    for_each_occurrence(text, position, ngrams_, [&](const Occurrence& found) {
      const Tensor vector = vector_of(found);
      const double tokens = static_cast<double>(found.last - found.first + 1);
      const double part = scale / (places.at({found.is_token, found.value}) * tokens);
      for (Index at = found.first; at <= found.last; ++at) {
        for (Index j = 0; j < width(); ++j) {
          result[static_cast<std::size_t>(at * width() + j)] += part * static_cast<double>(vector[j]);
        }
      }
    });
    return result;
  }

  double training_flops_per_token(Index, double) const override {
    return static_cast<double>(3 * 2 * ngrams_ * width());
  }

 private:
  // The rows of both tables that make up each position.
  struct Bags {
    std::vector<TokenId> tokens, rows;
    ops::Segments of_tokens, of_rows;

    void add(const Features& features, Index buckets) {
      tokens.insert(tokens.end(), features.tokens.begin(), features.tokens.end());
      for (const std::uint64_t hash : features.hashes) {
        rows.push_back(static_cast<TokenId>(hash % static_cast<std::uint64_t>(buckets)));
      }
      const auto scale = static_cast<Real>(scale_of(features));
      of_tokens.close(static_cast<Index>(tokens.size()), scale);
      of_rows.close(static_cast<Index>(rows.size()), scale);
    }
  };

  static TokenList text_of(const Sequences& sequences, Index row) {
    const auto time = static_cast<std::size_t>(sequences.ids.shape[1]), at = static_cast<std::size_t>(row);
    const std::size_t length = sequences.lengths.empty() ? time : static_cast<std::size_t>(sequences.lengths[at]);
    return TokenList(sequences.ids.ids).subspan(at * time, length);
  }
  static Variable reshaped(const Variable& x, const Shape& shape) {
    return view(x, [shape](const Tensor& t) { return t.reshaped(shape); });
  }

  // How many texts have each feature of a table, in all and, in the table itself, with each label.
  struct LabelCounts {
    Tensor with_label;
    std::vector<double> all;

    explicit LabelCounts(const nn::Embedding& table)
        : with_label(table.weight().value()), all(static_cast<std::size_t>(with_label.shape()[0])) {
      with_label.fill(0);
    }
    void add(Index row, const std::vector<Index>& labels) {
      all[static_cast<std::size_t>(row)] += 1;
      for (const Index label : labels) with_label[row * with_label.shape()[1] + label] += 1;
    }
    // Calls visit(counts with each label, count) for each feature that a text has.
    template <class Visit>
    void for_each(const Visit& visit) const {
      for (std::size_t row = 0; row < all.size(); ++row) {
        if (all[row] > 0) visit(with_label.data() + static_cast<Index>(row) * with_label.shape()[1], all[row]);
      }
    }
  };

  static void to_log_odds(const std::vector<LabelCounts>& tables, Index labels, double texts) {
    std::vector<double> present(static_cast<std::size_t>(labels), 0), absent(present);
    for (const LabelCounts& table : tables) {
      table.for_each([&](const Real* counts, double all) {
        for (Index c = 0; all < texts && c < labels; ++c) {
          present[static_cast<std::size_t>(c)] += counts[c] + 1;
          absent[static_cast<std::size_t>(c)] += all - counts[c] + 1;
        }
      });
    }
    for (const LabelCounts& table : tables) {
      table.for_each([&](Real* counts, double all) {
        for (Index c = 0; c < labels; ++c) {
          const double odds = (counts[c] + 1) / present[static_cast<std::size_t>(c)] /
                              ((all - counts[c] + 1) / absent[static_cast<std::size_t>(c)]);
          counts[c] = all < texts ? static_cast<Real>(std::log(odds)) : Real(0);
        }
      });
    }
  }

  Tensor vector_of(const Occurrence& found) const {
    if (found.is_token) return rows_of(tokens_, {static_cast<TokenId>(found.value)}).value();
    const std::uint64_t row = found.value % static_cast<std::uint64_t>(buckets());
    return rows_of(*table_, {static_cast<TokenId>(row)}).value();
  }
  Index buckets() const { return table_ ? table_->weight().shape()[0] : 1; }

  Variable sum(const Bags& bags, const Pass& pass) const {
    const Variable words = ops::segment_sum(rows_of(tokens_, bags.tokens), bags.of_tokens);
    if (!table_) return pass.drop(words, dropout_site_);
    return pass.drop(ops::add(words, ops::segment_sum(rows_of(*table_, bags.rows), bags.of_rows)), dropout_site_);
  }
  static Variable rows_of(const nn::Embedding& table, const std::vector<TokenId>& ids) {
    return table(TokenIds(Shape{static_cast<Index>(ids.size())}, ids));
  }

  // Turns the counts that the tables hold into what the head of the file says.
  void to_log_ratios(Index classes, Real examples) {
    std::vector<const Tensor*> tables{&tokens_.weight().value()};
    if (table_) tables.push_back(&table_->weight().value());
    for_each_seen(tables, classes, [&](Real* counts) {
      if (std::accumulate(counts, counts + classes, Real(0)) == examples) std::fill(counts, counts + classes, Real(0));
    });
    std::vector<double> totals(static_cast<std::size_t>(classes), 0);
    for_each_seen(tables, classes, [&](Real* counts) {
      for (Index c = 0; c < classes; ++c) totals[static_cast<std::size_t>(c)] += static_cast<double>(counts[c]) + 1;
    });
    for_each_seen(tables, classes, [&](Real* counts) {
      double mean = 0;
      for (Index c = 0; c < classes; ++c) {
        const double log = std::log((static_cast<double>(counts[c]) + 1) / totals[static_cast<std::size_t>(c)]);
        counts[c] = static_cast<Real>(log);
        mean += log / static_cast<double>(classes);
      }
      for (Index c = 0; c < classes; ++c) counts[c] -= static_cast<Real>(mean);
    });
  }
  // Calls visit(counts) for each feature that an example has.
  template <class Visit>
  static void for_each_seen(const std::vector<const Tensor*>& tables, Index classes, const Visit& visit) {
    for (const Tensor* table : tables) {
      for (Index row = 0; row < table->shape()[0]; ++row) {
        Real* const counts = table->data() + row * classes;
        if (std::any_of(counts, counts + classes, [](Real count) { return count != 0; })) visit(counts);
      }
    }
  }

  Index ngrams_;
  nn::Embedding tokens_;
  std::optional<nn::Embedding> table_;  // n-grams
  std::uint64_t dropout_site_;
};

// AdaGrad leaves the rows of words that no text of the batch has as they are, so that a step costs what its texts do,
// however many words and classes there are. Large steps: by smaller ones the weights of naive Bayes change too little
// where its words are far from independent, as in short questions, or classes are many.
Architecture describe_Bag() {
  return describe<Bag, BagConfig>({}, {.learning_rate = 0.15, .epochs = 0, .batch_size = 32, .optimizer = "adagrad"});
}

}  // namespace heddle::models
