// A step of training on several ranks, as a picture: what each rank computes, and what is on its way meanwhile. Prints
// JSON: the seconds of the step, those in which something was on its way to or from the first rank, and the part of
// these that its computing hid.
//
//     mpirun -np 2 benchmark_timeline --arch decoder:... --batch-size 4 --accumulate 4 -o step.svg
#include <algorithm>
#include <iostream>
#include <optional>

#include "formats/archives/json_archive.hpp"
#include "libcore/data/token_source.hpp"
#include "libcore/nn/parts.hpp"
#include "libcore/tensor/timeline.hpp"
#include "libcore/training/causal.hpp"
#include "libcore/training/trainer.hpp"
#include "measure.hpp"
#include "model_choice.hpp"
#include "tools/cli/ranks.hpp"
#include "tools/cli/run.hpp"
#include "tools/drawing/palette.hpp"
#include "tools/drawing/picture.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  Index batch_size = 4, accumulate = 2;
  Precision exchange = Precision::f32;
  std::string output;
  ModelChoice model;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("batch_size", "sequences in a micro-batch").range(1, 10000).takes("N"), self.batch_size);
    visitor(Field("accumulate", "micro-batches of a step, of all ranks").range(1, 10000).takes("N"), self.accumulate);
    visitor(Field("exchange", "dtype of gradients and updates on their way").takes("NAME"), self.exchange);
    visitor(Field("output", "the picture, .svg, .png or .pdf").letter('o').takes("FILE"), self.output);
    visitor(Field("model", "Model"), self.model);
  }
};

enum Kind : Index { forward, backward, update, waiting, gradients, weights };
struct Style {
  const char* name;
  Colour colour;
};
constexpr std::array<Style, 6> styles{{{"forward", palette::series[5]},
                                       {"backward", palette::series[0]},
                                       {"update", palette::series[2]},
                                       {"waiting", palette::series[1]},
                                       {"gradients on their way", palette::series[4]},
                                       {"weights on their way", palette::series[3]}}};

struct Bar {
  Index kind;
  double begin, end;
};
using Bars = std::vector<Bar>;

Kind kind_of(const Timeline::Event& event) {
  if (event.is_transit) return event.name == "weights" ? weights : gradients;
  if (event.name.starts_with("exchange")) return waiting;
  if (event.part == nn::parts::optimizer) return update;
  return event.backward ? backward : forward;
}

Bars bars_of(const Timeline& timeline) {
  Bars bars;
  for (const Timeline::Event& event : timeline.events()) bars.push_back({kind_of(event), event.begin, event.end});
  std::ranges::stable_sort(bars, {}, [](const Bar& bar) { return bar.begin - bar.end; });  // the inner ones last
  return bars;
}

// Seconds that these cover.
template <class Takes>
double covered(Bars bars, const Takes& takes) {
  std::erase_if(bars, [&](const Bar& bar) { return !takes(bar.kind); });
  std::ranges::sort(bars, {}, &Bar::begin);
  double sum = 0, end = 0;
  for (const Bar& bar : bars) {
    sum += std::max(0.0, bar.end - std::max(end, bar.begin));
    end = std::max(end, bar.end);
  }
  return sum;
}

// A rank's computing above, and below it what is on its way, each message a line.
constexpr double left = 70, width = 900, lane = 24, messages = 90, gap = 18, top = 50;

void draw(Picture& picture, const Bars& bars, double y, double seconds) {
  const auto x = [&](double time) { return left + width * time / seconds; };
  Bars sent;
  for (const Bar& bar : bars) {
    if (bar.kind >= gradients) {
      sent.push_back(bar);
      continue;
    }
    picture.rectangle({x(bar.begin), y}, std::max(0.1, x(bar.end) - x(bar.begin)), lane,
                      styles[static_cast<std::size_t>(bar.kind)].colour);
  }
  std::ranges::sort(sent, {}, &Bar::begin);
  const double height = messages / static_cast<double>(std::max<std::size_t>(1, sent.size()));
  for (std::size_t i = 0; i < sent.size(); ++i) {
    picture.rectangle({x(sent[i].begin), y + lane + 4 + height * static_cast<double>(i)},
                      std::max(0.2, x(sent[i].end) - x(sent[i].begin)), height,
                      styles[static_cast<std::size_t>(sent[i].kind)].colour);
  }
}

void draw(const std::string& path, const std::vector<Bars>& ranks, double seconds) {
  const double each = lane + 4 + messages + gap;
  Picture picture(path, left + width + 20, top + each * static_cast<double>(ranks.size()) + 30);
  double x = left;
  for (const Style& style : styles) {
    picture.rectangle({x, 16}, 12, 12, style.colour);
    picture.text({x + 16, 26}, style.name, Anchor::start, palette::text, 11);
    x += picture.text_width(style.name, 11) + 34;
  }
  double y = top;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank, y += each) {
    picture.text({left - 8, y + lane - 8}, concatenate("rank ", rank), Anchor::end, palette::text, 11);
    draw(picture, ranks[rank], y, seconds);
  }
  picture.text({left, y + 8}, "0", Anchor::middle, palette::text, 11);
  picture.text({left + width, y + 8}, concatenate(std::round(seconds * 1000), " ms"), Anchor::end, palette::text, 11);
  picture.save();
}

data::TokensInMemory random_tokens(const models::Model& model, Index samples) {
  std::vector<TokenId> tokens(static_cast<std::size_t>(4 * samples * model.tokens().training_length()));
  const RandomStream stream(1, 2);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    tokens[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(model.tokens().vocab_size())));
  }
  return {std::move(tokens), model.tokens().vocab_size()};
}

// Bars of the fourth step, whose weights arrive during its forward pass.
Bars measured(const Options& options, const parallel::Group& group) {
  const auto model = models::make_model(options.model.chosen(256), 1);
  training::TrainingConfig settings;
  settings.training.batch_size = options.batch_size;
  settings.training.accumulate = options.accumulate;
  settings.optimizer.set("exchange", options.exchange == Precision::bf16 ? "bf16" : "f32");
  settings.training.steps = 5;
  const data::TokensInMemory source = random_tokens(*model, options.batch_size * options.accumulate);
  training::Causal objective(*model, source, nullptr, settings);
  training::Trainer trainer(objective, settings, group);
  std::optional<Timeline> timeline;
  Bars bars;
  training::Hooks hooks;
  hooks.on_progress = [&](const training::TrainingState& state) {
    if (state.step == 4) bars = bars_of(*timeline);
    timeline.reset();
    if (state.step == 3) {
      group.barrier();
      timeline.emplace();
    }
  };
  trainer.run(hooks);
  return bars;
}

const cli::About about{.name = "benchmark_timeline",
                       .summary = "Draws a step of training on several ranks; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {},
                       .has_ranks = true};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    const cli::Ranks together(arguments);
    const parallel::Group& group = together.group();
    const std::vector<Bars> ranks = group.gather(measured(options, group));
    double seconds = 0;
    for (const Bars& bars : ranks) {
      for (const Bar& bar : bars) seconds = std::max(seconds, bar.end);
    }
    if (group.is_first()) {
      if (!options.output.empty()) draw(options.output, ranks, seconds);
      const double on_its_way = covered(ranks[0], [](Index kind) { return kind >= gradients; });
      const double exposed = covered(ranks[0], [](Index kind) { return kind == waiting; });
      formats::Json json;
      json["seconds"] = seconds;
      json["on_its_way"] = on_its_way;
      json["waiting"] = exposed;
      json["hidden"] = on_its_way > 0 ? 1 - exposed / on_its_way : 1;
      std::cout << json.dump() << std::endl;
    }
  });
}
