#include "libcore/decoding/search.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include "libcore/tensor/threads.hpp"

namespace heddle::decoding {

namespace {

struct Hypothesis {
  std::vector<TokenId> text;  // since the context was last cut
};

// A search with the hypotheses that it has now, all of the same length.
struct Line {
  Search* search;
  models::TokenList source;  // empty where the model reads none
  std::vector<Hypothesis> hypotheses;

  Index length() const { return static_cast<Index>(hypotheses.front().text.size()); }
  Index count() const { return static_cast<Index>(hypotheses.size()); }
};

// Searches that began to read at the same time.
class Round {
 public:
  // Reads the texts, cut to their last half where they do not fit the context.
  Round(const models::Generator& model, std::vector<Line> lines, const SearchOptions& options)
      : model_(model), lines_(std::move(lines)) {
    const Index context = model.position_limit();
    Index rows = 0, longest = 0;
    for (Line& line : lines_) {
      rows += line.count();
      for (auto& [text] : line.hypotheses) {
        if (static_cast<Index>(text.size()) > context) text.erase(text.begin(), text.end() - (context + 1) / 2);
      }
      longest = std::max(longest, line.length());
    }
    const std::optional<models::Sequences> sources = read_sources();
    state_ = model.start({.batch = rows,
                          .capacity = std::min(context, longest + options.max_tokens),
                          .cache = options.cache,
                          .sources = sources ? &*sources : nullptr,
                          .source_weights = options.source_weights});
  }

  // Runs until every search has ended or has filled the context; returns the latter.
  std::vector<Line> run() {
    for (bool first = true; !lines_.empty(); first = false) advance(first ? read_all() : read_last());
    return std::move(full_);
  }

 private:
  std::optional<models::Sequences> read_sources() const {
    std::vector<models::TokenList> sources;
    for (const Line& line : lines_) {
      if (!line.source.empty()) sources.insert(sources.end(), line.hypotheses.size(), line.source);
    }
    if (sources.empty()) return std::nullopt;
    return models::padded(sources, 2);
  }

  // Two columns at least, since the model reads single tokens in another way, and neighbours must not decide that.
  Tensor read_all() {
    std::vector<models::TokenList> texts;
    for (const Line& line : lines_) {
      for (const auto& [text] : line.hypotheses) texts.emplace_back(text);
    }
    const models::Sequences batch = models::padded(texts, std::min<Index>(2, model_.position_limit()));
    return model_.step(batch.ids, batch.lengths, *state_);
  }

  Tensor read_last() {
    TokenIds ids(Shape{state_->batch(), 1});
    auto next = ids.ids.begin();
    for (const Line& line : lines_) {
      for (const auto& [text] : line.hypotheses) *next++ = text.back();
    }
    return model_.step(ids, std::vector<Index>(ids.ids.size(), 1), *state_);
  }

  std::vector<Prediction> predictions(const Tensor& logits) const {
    std::vector<std::pair<const Line*, Index>> rows;
    for (const Line& line : lines_) {
      for (Index h = 0; h < line.count(); ++h) rows.emplace_back(&line, h);
    }
    const Tensor& weights = state_->source_weights();
    std::vector<Prediction> predictions(rows.size());
    parallel_for(state_->batch(), [&](Index row) {
      const auto& [line, hypothesis] = rows[static_cast<std::size_t>(row)];
      Prediction& prediction = predictions[static_cast<std::size_t>(row)];
      prediction.candidates = line->search->candidates(hypothesis, logits.data() + row * logits.shape()[1]);
      if (!weights.empty()) {
        prediction.source_weights = {weights.data() + row * weights.shape()[1], line->source.size()};
      }
    });
    return predictions;
  }

  void advance(const Tensor& logits) {
    const auto all = predictions(logits);
    std::vector<Line> alive;
    std::vector<Index> rows;
    Index begin = 0;
    for (Line& line : lines_) {
      const auto own = std::span(all).subspan(static_cast<std::size_t>(begin), line.hypotheses.size());
      const auto steps = line.search->advance(own);
      Line next{line.search, line.source, {}};
      for (const auto& [hypothesis, token] : steps) {
        next.hypotheses.push_back(line.hypotheses[static_cast<std::size_t>(hypothesis)]);
        next.hypotheses.back().text.push_back(token);
      }
      if (!steps.empty() && next.length() > model_.position_limit()) {
        full_.push_back(std::move(next));
      } else if (!steps.empty()) {
        for (const auto& step : steps) rows.push_back(begin + step.hypothesis);
        alive.push_back(std::move(next));
      }
      begin += line.count();
    }
    lines_ = std::move(alive);
    keep(rows);
  }

  void keep(const std::vector<Index>& rows) {
    std::vector<Index> all(static_cast<std::size_t>(state_->batch()));
    std::iota(all.begin(), all.end(), Index{0});
    if (!rows.empty() && rows != all) state_->reorder(rows);
  }

  const models::Generator& model_;
  std::vector<Line> lines_, full_;
  std::unique_ptr<models::GeneratorState> state_;
};

}  // namespace

void run_searches(const models::Generator& model, const std::vector<std::vector<TokenId>>& prompts, Index first,
                  const std::vector<std::unique_ptr<Search>>& searches, const SearchOptions& options,
                  const std::vector<std::vector<TokenId>>& sources) {
  check<ShapeError>(sources.empty() || sources.size() == prompts.size(), sources.size(), " sources for ",
                    prompts.size(), " prompts");
  std::vector<Line> lines;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const Index number = first + static_cast<Index>(i) + 1;
    check<DataError>(!prompts[i].empty(), "prompt ", number, " is empty");
    check<DataError>(static_cast<Index>(prompts[i].size()) <= model.position_limit(), "prompt ", number, " has ",
                     prompts[i].size(), " tokens, more than the context of ", model.position_limit());
    lines.push_back(
        {searches[i].get(), sources.empty() ? models::TokenList() : models::TokenList(sources[i]), {{prompts[i]}}});
  }
  while (!lines.empty()) lines = Round(model, std::move(lines), options).run();
}

}  // namespace heddle::decoding
