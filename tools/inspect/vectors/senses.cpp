// inspect senses: word sense disambiguation from examples.
#include <fmt/format.h>

#include <iostream>
#include <set>

#include "formats/heddle/load_model.hpp"
#include "formats/labelled/marked_words.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/senses.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/metrics/classification.hpp"
#include "tools/cli/protect_inputs.hpp"
#include "tools/cli/streams.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/vectors/vector_map.hpp"
#include "tools/inspect/vectors/vector_model.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

using data::MarkedWord;
using formats::Gold;

constexpr Index default_layers = 4;

struct SensesOptions {
  bool evaluate = false;
  std::vector<Index> layer;
  Index voters = 0;
  double sentence_weight = 0.5;
  std::string base, output;
  MapLayout layout = MapLayout::pca;
  bool json = false, jsonl = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("evaluate", "compare with the senses in FILE, which has the form of TRAIN, and print the accuracy")
                .formerly("gold")
                .essential(),
            self.evaluate);
    visitor(hidden_layer_field("; by default the last four").essential(), self.layer);
    visitor(Field("voters", "the K most similar examples vote; none takes the sense whose mean is most similar")
                .range(1, 1000000)
                .word(0, "none")
                .takes("K")
                .essential(),
            self.voters);
    visitor(Field("sentence_weight", "weight of the sentence mean in a word's vector")
                .formerly("sentence")
                .range(0, 1)
                .essential(),
            self.sentence_weight);
    visitor(base_field(), self.base);
    visitor(map_output_field("the examples, and of the words of FILE with their predicted senses"), self.output);
    visitor(layout_field(), self.layout);
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per word, one per line").essential(), self.jsonl);
  }
};

struct MarkedFile {
  std::string name;
  std::vector<MarkedWord> words;
};

MarkedFile read(cli::Input input, Gold gold) {
  const std::string content = cli::read_all(input);
  MarkedFile file{input.name(), formats::read_marked_words(content, input.name(), gold)};
  check<DataError>(!file.words.empty() || gold == Gold::absent, file.name, ": has no example");
  return file;
}

// The senses that occur in either file, in byte order.
data::LabelSet senses_of(const MarkedFile& train, const MarkedFile& file) {
  std::set<std::string> names;
  for (const MarkedWord& word : train.words) names.insert(word.sense);
  for (const MarkedWord& word : file.words) {
    if (!word.sense.empty()) names.insert(word.sense);
  }
  return data::LabelSet({names.begin(), names.end()});
}

std::vector<Index> ids_of(const MarkedFile& file, const data::LabelSet& senses) {
  std::vector<Index> ids;
  for (const MarkedWord& word : file.words) ids.push_back(*senses.find(word.sense));
  return ids;
}

// The vectors of the words that have one, and the indices of these words.
struct WordVectors {
  Tensor vectors;  // [count, width]
  std::vector<std::size_t> words;
};

class WordEmbedder {
 public:
  WordEmbedder(const cli::Arguments& arguments, const SensesOptions& options)
      : arguments_(arguments),
        loaded_(arguments.operand("MODEL"), options.base, "inspect senses"),
        sentence_(static_cast<Real>(options.sentence_weight)) {
    embedding_.layers = options.layer;
    for (Index i = 1; options.layer.empty() && i <= std::min(default_layers, loaded_.vectors.layers()); ++i) {
      embedding_.layers.push_back(-i);
    }
    if (embedding_.layers.empty()) embedding_.layers.push_back(0);  // a bag has no other layer
  }

  WordVectors operator()(const MarkedFile& file) const {
    WordVectors result;
    std::vector<analysis::TextToEmbed> texts;
    Index cut = 0;
    for (std::size_t i = 0; i < file.words.size(); ++i) {
      const data::AlignedWords aligned = data::align_words(loaded_.tokenizer, file.words[i].words);
      if (aligned.first_token[static_cast<std::size_t>(file.words[i].position)] < 0) continue;
      texts.push_back(around(aligned, file.words[i], file.name));
      cut += texts.back().text.last - texts.back().text.first + 1 < static_cast<Index>(aligned.ids.size()) ? 1 : 0;
      result.words.push_back(i);
    }
    if (cut > 0) {
      arguments_.say(
          concatenate(file.name, ": ", cut, " sentences were longer than the context and truncated around the word"));
    }
    const Index width = loaded_.vectors.width();
    result.vectors = Tensor({static_cast<Index>(texts.size()), width});
    Index row = 0;
    for (const Tensor& means : analysis::embed(loaded_.vectors, texts, embedding_)) {
      Real* const vector = result.vectors.data() + row++ * width;
      for (Index j = 0; j < width; ++j) vector[j] = (1 - sentence_) * means[j] + sentence_ * means[width + j];
    }
    return result;
  }

 private:
  analysis::TextToEmbed around(const data::AlignedWords& aligned, const MarkedWord& word,
                               const std::string& file) const {
    data::TokenSpan span{aligned.first_token[static_cast<std::size_t>(word.position)], 0};
    for (std::size_t i = 0; i < aligned.word_of.size(); ++i) {
      if (aligned.word_of[i] == word.position) span.last = static_cast<Index>(i);
    }
    try {
      auto text = analysis::text_to_embed(loaded_.vectors, loaded_.tokenizer, aligned.ids, span);
      text.wanted = {text.around, text.text};
      return text;
    } catch (const DataError& error) {
      throw DataError(concatenate(file, ":", word.line, ": the word has ", error.what()));
    }
  }

  const cli::Arguments& arguments_;
  VectorModel loaded_;
  analysis::EmbedOptions embedding_;
  Real sentence_;
};

WordVectors vectors_of_examples(const WordEmbedder& embedder, const MarkedFile& train) {
  WordVectors known = embedder(train);
  check<DataError>(!known.words.empty(), train.name, ": the tokenizer has no token for any of the words");
  return known;
}

analysis::SenseClassifier learn(const WordVectors& known, const MarkedFile& train, const data::LabelSet& senses,
                                Index voters) {
  const std::vector<Index> all = ids_of(train, senses);
  std::vector<Index> ids;
  for (const std::size_t word : known.words) ids.push_back(all[word]);
  return {known.vectors, ids, voters};
}

// Words without a token get the most frequent sense.
std::vector<analysis::SenseGuess> guess(const analysis::SenseClassifier& classifier, const WordVectors& vectors,
                                        std::size_t words) {
  std::vector<analysis::SenseGuess> guesses(words, {classifier.most_frequent(), 0.0});
  if (vectors.words.empty()) return guesses;
  const auto found = classifier(vectors.vectors);
  for (std::size_t i = 0; i < found.size(); ++i) guesses[vectors.words[i]] = found[i];
  return guesses;
}

// The word with those beside it.
std::string in_context(const MarkedWord& word) {
  const auto last = static_cast<Index>(word.words.size()) - 1;
  std::string text = word.position > 1 ? "… " : "";
  for (Index i = std::max<Index>(0, word.position - 1); i <= std::min(last, word.position + 1); ++i) {
    text += (i > std::max<Index>(0, word.position - 1) ? " " : "") + word.words[static_cast<std::size_t>(i)];
  }
  return text + (word.position + 1 < last ? " …" : "");
}

// The words of a file that have vectors, as points; `guesses` are their senses, or none for what TRAIN says.
void add_points(VectorMap& map, const MarkedFile& file, const WordVectors& vectors,
                const std::vector<analysis::SenseGuess>& guesses, const data::LabelSet& senses) {
  for (const std::size_t i : vectors.words) {
    const MarkedWord& word = file.words[i];
    const std::string sense = guesses.empty() ? word.sense : senses.name(guesses[i].sense);
    map.points.push_back({in_context(word), sense, join(word.words, " "), !guesses.empty()});
  }
}

Tensor joined(const Tensor& first, const Tensor& second) {
  if (second.empty()) return first;
  const Tensor all({first.shape()[0] + second.shape()[0], first.shape()[1]});
  all.narrowed(0, 0, first.shape()[0]).assign(first);
  all.narrowed(0, first.shape()[0], second.shape()[0]).assign(second);
  return all;
}

void print_report(const metrics::ClassificationReport& report, double baseline) {
  const auto four = [](double value) { return format_fixed(value, 4); };
  std::cout << fmt::format(
      "words                {}\naccuracy             {}\nmost frequent sense  {}\nmacro F1             "
      "{}\n\n"
      "precision  recall      F1   words  sense\n",
      grouped(report.examples), four(report.accuracy), four(baseline), four(report.macro_f1));
  for (const auto& [name, scores] : report.classes.entries) {
    std::cout << fmt::format("{:>9}{:>8}{:>8}{:8}  {}\n", four(scores.precision), four(scores.recall), four(scores.f1),
                             scores.support, name);
  }
}

// `first` is the most frequent sense of the training file, which the baseline always predicts.
void evaluate(const std::vector<Index>& gold, const std::vector<analysis::SenseGuess>& guesses, Index first,
              const data::LabelSet& senses, bool json) {
  metrics::Confusion confusion(senses.size()), always(senses.size());
  for (std::size_t i = 0; i < gold.size(); ++i) {
    confusion.add(gold[i], guesses[i].sense);
    always.add(gold[i], first);
  }
  const metrics::ClassificationReport report = metrics::report(confusion, senses.names());
  if (!json) return print_report(report, always.accuracy());
  formats::Json answer = formats::to_json(report);
  answer["most_frequent_sense"] = always.accuracy();
  std::cout << dump(answer);
}

void print(const std::vector<analysis::SenseGuess>& guesses, const data::LabelSet& senses,
           const SensesOptions& options) {
  formats::Json list = formats::Json::array();
  for (const auto& [sense, similarity] : guesses) {
    formats::Json one{{"sense", senses.name(sense)}, {"similarity", similarity}};
    if (options.json) {
      list.push_back(std::move(one));
    } else if (options.jsonl) {
      std::cout << json_line(one) << '\n';
    } else {
      std::cout << senses.name(sense) << '\t' << similarity << '\n';
    }
  }
  if (options.json) std::cout << dump({{"senses", std::move(list)}});
}

void check_usage(const cli::Arguments& arguments, const SensesOptions& options) {
  check_forms(options.json, options.jsonl);
  check<UsageError>(!options.evaluate || !options.jsonl,
                    "--jsonl has no effect with --evaluate, whose answer is one object; "
                    "use --json");
  if (options.output.empty()) return;
  check_map_name(options.output);
  check<UsageError>(!options.json && !options.jsonl && !options.evaluate,
                    "-o writes a map; leave --json, --jsonl and --evaluate out");
  cli::protect_inputs({options.base}, {options.output}, arguments);
}

// Draws the examples, and the words of FILE if there is one.
void draw_map(const cli::Arguments& arguments, const SensesOptions& options) {
  const MarkedFile train = read(arguments.open_text(arguments.operand("TRAIN")), Gold::given);
  const WordEmbedder embedder(arguments, options);
  const WordVectors known = vectors_of_examples(embedder, train);
  VectorMap map{"Words by sense: " + arguments.operand("TRAIN"), "sense", "predicted", {}, known.vectors};
  const data::LabelSet senses = senses_of(train, {});
  add_points(map, train, known, {}, senses);
  if (!arguments.operands("FILE").empty()) {
    const MarkedFile file = read(arguments.open_text(arguments.operand("FILE")), Gold::absent);
    const WordVectors asked = embedder(file);
    const auto guesses = guess(learn(known, train, senses, options.voters), asked, file.words.size());
    add_points(map, file, asked, guesses, senses);
    map.vectors = joined(known.vectors, asked.vectors);
  }
  write_map(options.output, map, options.layout);
}

void find_senses(const cli::Arguments& arguments, const SensesOptions& options) {
  check_usage(arguments, options);
  if (!options.output.empty()) return draw_map(arguments, options);
  const MarkedFile train = read(arguments.open_text(arguments.operand("TRAIN")), Gold::given);
  const MarkedFile file = read(arguments.open_text(arguments.input_or_usage("FILE").front()),
                               options.evaluate ? Gold::given : Gold::absent);
  const data::LabelSet senses = senses_of(train, file);
  const WordEmbedder embedder(arguments, options);
  const analysis::SenseClassifier classifier =
      learn(vectors_of_examples(embedder, train), train, senses, options.voters);
  const auto guesses = guess(classifier, embedder(file), file.words.size());
  if (options.evaluate)
    return evaluate(ids_of(file, senses), guesses, classifier.most_frequent(), senses, options.json);
  print(guesses, senses, options);
}

}  // namespace

cli::Verb verbs::senses() {
  return cli::make_verb<SensesOptions>(
      {.summary = "Finds the senses of marked words from examples.",
       .synopsis = {"MODEL TRAIN [FILE] [--voters K] [--layer N,...] [--jsonl]",
                    "MODEL TRAIN [FILE] --evaluate [--json]",
                    "MODEL TRAIN [FILE] [--layout NAME] -o x.html|x.svg|x.png|x.pdf|x.tsv"},
       .operands = {{"MODEL", "a model file, or an adapter", 1, 1},
                    {"TRAIN", "examples of the senses, one per line: SENSE, POSITION and SENTENCE, tab-separated", 1,
                     1},
                    {"FILE", "marked words, one per line: POSITION and SENTENCE; none or - is standard input", 0, 1}}},
      find_senses);
}

}  // namespace heddle
