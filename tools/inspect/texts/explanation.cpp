#include "tools/inspect/texts/explanation.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "formats/heddle/task_file.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/data/words.hpp"
#include "libcore/decoding/class_probabilities.hpp"
#include "libcore/decoding/score.hpp"
#include "libcore/models/summed_vectors.hpp"
#include "libcore/ops/gather.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/own_translation.hpp"
#include "tools/lines/answer_texts.hpp"

namespace heddle {

namespace {

using analysis::Contributions;
using analysis::Explaining;
using analysis::Places;
using analysis::TokenFunction;
using models::Answered;

// Words and where their tokens are in what the model reads.
struct PlacedWords {
  std::vector<ExplainedWord> words;
  std::vector<Places> places;
  std::string end;
};

// The part of a text that a word's tokens stand for, without white space at its beginning.
struct WordText {
  std::string gap, text;
};
WordText word_text(const CutText& cut, const data::TokenRange& range, std::size_t& at) {
  const CutToken &first = cut.tokens[static_cast<std::size_t>(range.first)],
                 &last = cut.tokens[static_cast<std::size_t>(range.second - 1)];
  WordText word;
  if (first.bytes && last.bytes) {
    word.text = cut.text.substr(first.bytes->begin, last.bytes->end - first.bytes->begin);
    word.gap = cut.text.substr(at, first.bytes->begin - std::min(at, first.bytes->begin));
    at = last.bytes->end;
  } else {
    for (Index i = range.first; i < range.second; ++i) word.text += cut.tokens[static_cast<std::size_t>(i)].text;
  }
  const std::size_t white = std::min(word.text.find_first_not_of(" \t"), word.text.size());
  if (white == word.text.size()) return word;
  word.gap += word.text.substr(0, white);
  word.text.erase(0, white);
  return word;
}

// Adds the words of a text whose tokens begin at `first` in what the model reads.
void add_words(PlacedWords& placed, const text::Tokenizer& tokenizer, const data::WordVocabulary& vocabulary,
               const std::string& text, const std::vector<TokenId>& ids, Index first, bool is_second) {
  const CutText cut = cut_text({tokenizer, text, ids});
  std::size_t at = 0;
  for (const data::TokenRange& range : data::words_in(ids, vocabulary)) {
    const WordText word = word_text(cut, range, at);
    placed.words.push_back({word.gap, word.text, is_second});
    placed.places.emplace_back(static_cast<std::size_t>(range.second - range.first));
    std::iota(placed.places.back().begin(), placed.places.back().end(), first + range.first);
  }
  placed.end = at > 0 ? text.substr(std::min(at, text.size())) : "";
}

// Unknown tokens stand for words.
data::WordVocabulary words_of(const text::Tokenizer& tokenizer) {
  data::WordVocabulary vocabulary(tokenizer);
  if (const auto unknown = tokenizer.unknown()) vocabulary.is_special[static_cast<std::size_t>(*unknown)] = false;
  return vocabulary;
}

nn::GateBaseline baseline_for(const text::Tokenizer& tokenizer) {
  return tokenizer.mask() ? nn::GateBaseline::of_token(*tokenizer.mask()) : nn::GateBaseline::mean();
}

Explaining method_of(ExplainBy by) {
  if (by == ExplainBy::leave_out) return Explaining::leave_out;
  return by == ExplainBy::gradient ? Explaining::gradient : Explaining::integrated;
}

std::string name_of(ExplainBy by) {
  return std::string(to_text(by == ExplainBy::automatic ? ExplainBy::integrated : by));
}

// Throws DataError, naming the text.
template <class Make>
auto located(const InputText& text, const Make& make) {
  try {
    return make();
  } catch (const DataError& error) {
    throw DataError(text.where() + ": " + error.what());
  }
}

// The texts on both sides of the tab of a line.
std::pair<std::string, std::optional<std::string>> halves(const InputText& input, bool must, const char* form) {
  const std::size_t tab = input.text.find('\t');
  if (tab == input.text.npos && !must) return {input.text, std::nullopt};
  check<DataError>(tab != input.text.npos && input.text.find('\t', tab + 1) == input.text.npos, input.where(),
                   ": is not ", form, "; this model reads such lines");
  return {input.text.substr(0, tab), input.text.substr(tab + 1)};
}

void check_fits(Index tokens, Index most) {
  check<DataError>(tokens <= most, tokens, " tokens are more than the model's context of ", most,
                   "; give a shorter text, or with --documents line one in each line");
}

// Throws UsageError for a place after the last of so many.
void check_place(Index place, std::size_t count, const char* noun) {
  check<UsageError>(place <= static_cast<Index>(count), "--place ", place, ": the text has ",
                    counted(static_cast<Index>(count), noun, concatenate(noun, "s")));
}

// Fine-tuned models.
class TaskExplainer {
 public:
  TaskExplainer(formats::LoadedTask loaded, const std::string& path, const ExplainWanted& wanted)
      : loaded_(std::move(loaded)),
        path_(path),
        wanted_(wanted),
        vocabulary_(words_of(loaded_.of_sources())),
        baseline_(baseline_for(loaded_.of_sources())),
        is_exact_(model().body().as<models::SummedVectors>() != nullptr) {
    const models::TaskConfig& task = model().task();
    check<DataError>(answer_of(task.task) != models::Answer::span, path,
                     ": finds answers in texts; inspect explain is for classes, tags, numbers and tokens");
    check<UsageError>(!is_exact_ || wanted.method == ExplainBy::automatic,
                      "--method: the contributions of a bag of words are exact; leave it out");
    check<UsageError>(tags() || wanted.place == 0, "--place: is for tags and tokens; the model labels whole texts");
    check<UsageError>(task.has_labels() || wanted.label.empty(), "--class: the model predicts numbers");
    const auto& labels = task.labels;
    label_ = static_cast<Index>(std::ranges::find(labels, wanted.label) - labels.begin());
    check<UsageError>(wanted.label.empty() || wanted.label == "all" || label_ < std::ssize(labels), "--class ",
                      wanted.label, ": the model has the classes ", join(labels));
  }

  bool is_exact() const { return is_exact_; }
  bool reads_lines() const { return model().task().two_texts; }
  std::string value() const { return model().task().has_labels() ? "logit" : "number"; }

  Explanation operator()(const InputText& input) const {
    return located(input, [&] { return tags() ? of_words(input) : of_text(input); });
  }

 private:
  const models::TaskModel& model() const { return *loaded_.model; }
  bool tags() const { return answered_by(model().task().task) == Answered::parts; }

  data::FramedSequence framed(const std::vector<TokenId>& first, const std::vector<TokenId>* second) const {
    const models::TokenConfig& config = model().body().config().tokens();
    const data::Framing framing(loaded_.of_sources(), config.longest_text(), config.has_segments());
    check_fits(std::ssize(first) + (second == nullptr ? 0 : std::ssize(*second)) + framing.overhead(second != nullptr),
               config.longest_text());
    return second == nullptr ? framing(first, data::Overlong::error).front()
                             : framing(first, *second, data::Overlong::error).front();
  }

  Explanation of_text(const InputText& input) const {
    const text::Tokenizer& tokenizer = loaded_.of_sources();
    const auto [first, second] = model().task().two_texts ? halves(input, true, "two texts with a tab between them")
                                                          : std::pair(input.text, std::optional<std::string>());
    const std::vector<TokenId> ids = tokenizer.encode(first, text::SpecialText::plain);
    const std::vector<TokenId> more = second ? tokenizer.encode(*second, text::SpecialText::plain) : ids;
    const data::FramedSequence sequence = framed(ids, second ? &more : nullptr);
    PlacedWords placed;
    add_words(placed, tokenizer, vocabulary_, first, ids, sequence.first_at, false);
    if (second) add_words(placed, tokenizer, vocabulary_, *second, more, sequence.second_at, true);
    Explanation result{.words = placed.words, .end = placed.end, .answers = {}};
    add_answers(result, sequence, placed.places, std::nullopt, 0, "");
    return result;
  }

  // Words are what white space separates, as in data that taggers learn from.
  Explanation of_words(const InputText& input) const {
    std::vector<std::string> words = split(input.text, ' ');
    std::erase(words, "");
    const data::AlignedWords aligned = data::align_words(loaded_.of_sources(), words);
    const data::FramedSequence sequence = framed(aligned.ids, nullptr);
    Explanation result;
    std::vector<Places> places(words.size());
    for (std::size_t i = 0; i < aligned.ids.size(); ++i) {
      if (aligned.word_of[i] < 0) continue;
      places[static_cast<std::size_t>(aligned.word_of[i])].push_back(sequence.first_at + static_cast<Index>(i));
    }
    for (const std::string& word : words) result.words.push_back({result.words.empty() ? "" : " ", word});
    check_place(wanted_.place, words.size(), "word");
    for (std::size_t w = 0; w < words.size(); ++w) {
      const auto place = static_cast<Index>(w) + 1;
      if (aligned.first_token[w] < 0 || (wanted_.place != 0 && place != wanted_.place)) continue;
      add_answers(result, sequence, places, sequence.first_at + aligned.first_token[w], place, words[w]);
    }
    return result;
  }

  void add_answers(Explanation& result, const data::FramedSequence& sequence, const std::vector<Places>& words,
                   std::optional<Index> position, Index place, const std::string& of) const {
    TokenFunction function{.ids = sequence.ids, .segments = sequence.segments, .numbers = {}, .number = 0};
    function.numbers = [this, position](const models::Sequences& copies) {
      if (!position) return model().sequence_logits(copies);
      std::vector<Index> positions;
      for (Index row = 0; row < copies.ids.shape[0]; ++row) positions.push_back(row * copies.ids.shape[1] + *position);
      return model().token_logits(copies, positions);
    };
    models::Sequences one{TokenIds(Shape{1, std::ssize(sequence.ids)}, sequence.ids)};
    one.segments = sequence.segments;
    const Tensor logits = function.numbers(one).value();
    const std::span<const Real> row(logits.data(), static_cast<std::size_t>(logits.size()));
    const bool has_classes = model().task().has_labels();
    if (!has_classes) function.unit = model().task().stddev;
    for (const Index label : labels_of(row)) {
      function.number = label;
      ExplainedAnswer answer{.name = has_classes ? model().task().labels[static_cast<std::size_t>(label)] : "number",
                             .place = place,
                             .of = of};
      if (has_classes) answer.probability = probability_of(row, label);
      answer.contributions = is_exact_ ? analysis::summed_contributions(model(), sequence.ids, position, label, words)
                                       : contributions(function, words, method_of(wanted_.method), baseline_);
      if (!has_classes) to_units(answer.contributions);
      result.answers.push_back(std::move(answer));
    }
  }

  double probability_of(std::span<const Real> logits, Index label) const {
    const auto at = static_cast<std::size_t>(label);
    if (!model().task().has_label_sets()) return decoding::softmax(logits)[at];
    return 1 / (1 + std::exp(-static_cast<double>(logits[at])));
  }
  std::vector<Index> labels_of(std::span<const Real> logits) const {
    if (wanted_.label.empty()) return {static_cast<Index>(std::ranges::max_element(logits) - logits.begin())};
    if (label_ < std::ssize(model().task().labels)) return {label_};
    std::vector<Index> all(logits.size());
    std::iota(all.begin(), all.end(), Index{0});
    return all;
  }

  void to_units(Contributions& found) const {
    const models::TaskConfig& task = model().task();
    found.value = task.mean + task.stddev * found.value;
    if (found.base) *found.base = task.mean + task.stddev * *found.base;
    for (double& word : found.words) word *= task.stddev;
    found.gap *= task.stddev;
  }

  formats::LoadedTask loaded_;
  std::string path_;
  ExplainWanted wanted_;
  data::WordVocabulary vocabulary_;
  nn::GateBaseline baseline_;
  bool is_exact_;
  Index label_ = 0;
};

// Row `position` of each text, as scores of tokens: [texts, vocab].
Variable scores_at(const Variable& hidden, Index position, const heads::TokenHead& head) {
  const std::vector<Index> positions(static_cast<std::size_t>(hidden.shape()[0]), position);
  return view(head(ops::gather_positions(hidden, positions)), [](const Tensor& t) {
    return t.reshaped({t.shape()[0], t.shape()[-1]});
  });
}

// Models that predict tokens.
class TokenExplainer {
 public:
  TokenExplainer(formats::LoadedModel loaded, const std::string& path, const ExplainWanted& wanted)
      : loaded_(std::move(loaded)),
        path_(path),
        wanted_(wanted),
        vocabulary_(words_of(loaded_.of_sources())),
        baseline_(baseline_for(loaded_.of_sources())) {
    check<DataError>(pairs() != nullptr || next() != nullptr, path,
                     ": inspect explain needs a fine-tuned model, or one that predicts next tokens or target texts");
    check<UsageError>(wanted.label.empty(), "--class: the model predicts tokens; classes are of fine-tuned models");
  }

  bool reads_lines() const { return pairs() != nullptr; }

  Explanation operator()(const InputText& input) const {
    return located(input, [&] { return pairs() != nullptr ? of_translation(input) : of_text(input); });
  }

 private:
  const models::SequenceToSequence* pairs() const { return loaded_.model->as<models::SequenceToSequence>(); }
  const models::TokenLoss* next() const { return loaded_.model->as<models::TokenLoss>(); }

  // Each token, given those before it.
  Explanation of_text(const InputText& input) const {
    const text::Tokenizer& tokenizer = loaded_.tokenizer;
    const std::vector<TokenId> ids = encode_valid(tokenizer, input);
    std::vector<TokenId> read;
    if (tokenizer.end_of_text()) read.push_back(*tokenizer.end_of_text());
    const auto first = static_cast<Index>(read.size());
    read.insert(read.end(), ids.begin(), ids.end());
    check_fits(std::ssize(read), decoding::score_limit(*next()));
    PlacedWords placed;
    add_words(placed, tokenizer, vocabulary_, input.text, ids, first, false);
    Explanation result{.words = placed.words, .end = placed.end, .answers = {}};
    check_place(wanted_.place, ids.size(), "token");
    for (Index at = std::max<Index>(first, 1); at < std::ssize(read); ++at) {
      const Index place = at - first + 1;
      if (wanted_.place != 0 && place != wanted_.place) continue;
      TokenFunction function{.ids = {read.begin(), read.begin() + at},
                             .segments = {},
                             .numbers =
                                 [this, at](const models::Sequences& copies) {
                                   return scores_at(next()->next_hidden(copies), at - 1, next()->next_token_head());
                                 },
                             .number = read[static_cast<std::size_t>(at)],
                             .is_log_softmax = true};
      std::vector<Places> before = placed.places;  // the tokens so far of a word that is incomplete
      for (Places& word : before) std::erase_if(word, [at](Index token) { return token >= at; });
      add_answer(result, function, before, place);
    }
    return result;
  }

  // Each token of the target, given the source and the target before it.
  Explanation of_translation(const InputText& input) const {
    const TranslationFrames frames(*pairs(), loaded_);
    const auto [source, given] = halves(input, false, "SOURCE, or SOURCE, tab, TARGET");
    const std::vector<TokenId> ids = loaded_.of_sources().encode(source);
    const std::vector<TokenId> read = frames.source.around(ids);
    check_fits(std::ssize(read), pairs()->max_source_positions().value_or(std::ssize(read)));
    std::vector<TokenId> target =
        given ? loaded_.tokenizer.encode(*given)
              : own_translation(models::require<models::Generator>(*loaded_.model, "inspect explain", path_), loaded_,
                                path_, frames, read);
    Explanation result;
    result.target = loaded_.tokenizer.decode(target);
    target.insert(target.begin(), frames.prompt.begin(), frames.prompt.end());
    target.push_back(frames.target.end);
    check_fits(std::ssize(target) - 1, pairs()->position_limit());
    PlacedWords placed;
    add_words(placed, loaded_.of_sources(), vocabulary_, source, ids, frames.source.begin ? 1 : 0, false);
    result.words = placed.words;
    result.end = placed.end;
    const auto prompt = static_cast<Index>(frames.prompt.size());
    check_place(wanted_.place, target.size() - frames.prompt.size(), "token");
    for (Index at = prompt; at < std::ssize(target); ++at) {
      const Index place = at - prompt + 1;
      if (wanted_.place != 0 && place != wanted_.place) continue;
      const std::vector<TokenId> before(target.begin(), target.begin() + at);
      TokenFunction function{
          .ids = read,
          .segments = {},
          .numbers = [this, &before](const models::Sequences& sources) { return translated_scores(sources, before); },
          .number = target[static_cast<std::size_t>(at)],
          .is_log_softmax = true};
      add_answer(result, function, placed.places, place);
    }
    return result;
  }

  Variable translated_scores(const models::Sequences& sources, const std::vector<TokenId>& before) const {
    const Index copies = sources.ids.shape[0], time = std::ssize(before);
    models::Sequences targets{TokenIds(Shape{copies, time})};
    for (Index row = 0; row < copies; ++row) std::ranges::copy(before, targets.ids.ids.begin() + row * time);
    targets.sources = std::make_shared<const models::Sequences>(sources);
    return scores_at(pairs()->target_hidden(targets), time - 1, pairs()->target_head());
  }

  void add_answer(Explanation& result, const TokenFunction& function, const std::vector<Places>& words,
                  Index place) const {
    ExplainedAnswer answer{.name = shown(static_cast<TokenId>(function.number)), .place = place};
    answer.contributions = contributions(function, words, method_of(wanted_.method), baseline_);
    answer.probability = std::exp(answer.contributions.value);
    result.answers.push_back(std::move(answer));
  }

  // Text of the token, without the space before a word, or its piece.
  std::string shown(TokenId token) const {
    std::string text;
    if (!loaded_.tokenizer.is_special(token)) loaded_.tokenizer.decode(token, text, text::TextPlace::begin);
    const std::size_t word = text.find_first_not_of(' ');
    if (text.empty()) return loaded_.tokenizer.piece(token);
    return word == text.npos ? text : text.substr(word);
  }

  formats::LoadedModel loaded_;
  std::string path_;
  ExplainWanted wanted_;
  data::WordVocabulary vocabulary_;
  nn::GateBaseline baseline_;
};

// Whether the file is of a model with a task's head.
bool has_task(const std::string& path) {
  const formats::FileKind kind = formats::kind_of(path);
  check<DataError>(kind != formats::FileKind::ensemble, path,
                   ": is an ensemble; inspect explain takes one of its models");
  if (kind == formats::FileKind::adapter) return !models::has_own_head(task_of(formats::ModelFile(path, kind)).task);
  return formats::ModelFile(path).has_part("task");
}

}  // namespace

Explainer explainer(const std::string& path, const std::string& base, const ExplainWanted& wanted) {
  if (!has_task(path)) {
    const auto tokens = std::make_shared<const TokenExplainer>(formats::load_language_model(path, base), path, wanted);
    return {name_of(wanted.method), "log-probability", tokens->reads_lines(),
            [tokens](const InputText& text) { return (*tokens)(text); }};
  }
  formats::LoadedTask loaded = formats::load_task(path, base);
  check<DataError>(loaded.tokenizer.has_value() && !loaded.model->task().of_graphs, path,
                   ": reads graphs; inspect attention --of answer shows what its answers rest on");
  const auto task = std::make_shared<const TaskExplainer>(std::move(loaded), path, wanted);
  return {task->is_exact() ? "exact" : name_of(wanted.method), task->value(), task->reads_lines(),
          [task](const InputText& text) { return (*task)(text); }};
}

}  // namespace heddle
