// Scaling of data-parallel training to many nodes: a simulation of steps whose gradients are exchanged in buckets while
// the backward pass runs, by a ring or by halving, event by event; prints a table, or JSON, and draws a picture. The
// cost model of dry runs (tools/training/scaling_model.hpp) is compared with it.
//
// A node has one rank and a full-duplex link, which sends one message at a time, in the order in which they were made;
// a message takes latency + bytes / bandwidth, and the next one follows after bytes / bandwidth. A rank begins with a
// bucket when it has the sum of the one before, or, where it is asked, as soon as it has the gradients. Nodes compute
// at one speed, with a variation from node to node where it is asked.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iostream>
#include <queue>
#include <string>
#include <vector>

#include "formats/archives/json_archive.hpp"
#include "libcore/base/random.hpp"
#include "tools/cli/run.hpp"
#include "tools/drawing/panels.hpp"
#include "tools/drawing/picture.hpp"
#include "tools/training/scaling_model.hpp"

using namespace heddle;

namespace {

struct Options {
  Index most = 1024, micro_batches = 1, tokens = 8192;
  double rate = 2, latency = 20, bucket = 64, variation = 0;
  bool at_once = false, json = false;
  std::string output;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("most", "ranks at most, a power of two").range(1, 65536).takes("N"), self.most);
    visitor(Field("micro_batches", "micro-batches of a rank in each step").range(1, 1000).takes("N"),
            self.micro_batches);
    visitor(Field("tokens", "tokens of a micro-batch").range(1, 10000000).takes("N"), self.tokens);
    visitor(Field("rate", "TFLOP/s that a node computes").above(0, 1e6).takes("X"), self.rate);
    visitor(Field("latency", "microseconds of a small message").range(0, 1e6).takes("X"), self.latency);
    visitor(Field("bucket", "MiB of gradients that are exchanged at once").above(0, 1e6).takes("X"), self.bucket);
    visitor(Field("variation", "by which nodes are slower in a step, each by up to this fraction").range(0, 10),
            self.variation);
    visitor(Field("at_once", "buckets do not wait for the sum of the one before"), self.at_once);
    visitor(Field("json", "print JSON"), self.json);
    visitor(Field("output", "the picture, .svg, .png or .pdf").letter('o').takes("FILE"), self.output);
  }
};

const cli::About about{.name = "benchmark_scaling_out",
                       .summary = "Simulates steps of data-parallel training on up to 1,024 nodes.",
                       .synopsis = {"[options]"},
                       .operands = {}};

struct Model {
  const char* name;
  double parameters;
};
constexpr Model models[] = {{"124M", 124439808}, {"1.5B", 1557611200}};
constexpr double link_rates[] = {1, 10, 100};

// Network load of a step.
struct Step {
  Exchange exchange = Exchange::ring;
  bool at_once = false;
  Index buckets = 1;
  double bucket_bytes = 0;
  std::vector<double> before = {}, backward = {};  // seconds of each rank until its last backward pass, and of it
};

// One step on all ranks. For each bucket a rank sends in rounds 0, 1, ...; it can send in a round once it has received
// the messages of those before, and completed the bucket's gradients.
class Simulation {
 public:
  Simulation(Step step, const Network& network)
      : step_(std::move(step)), network_(network), ranks_(std::ssize(step_.before)), rounds_(rounds_of(step_, ranks_)) {
    states_.resize(static_cast<std::size_t>(ranks_));
    for (Rank& rank : states_) rank.buckets.resize(static_cast<std::size_t>(step_.buckets));
  }

  // Seconds until the last rank has the last sum. A bucket is complete after an equal part of the backward pass.
  double run() {
    double end = 0;
    for (Index rank = 0; rank < ranks_; ++rank) {
      const double before = step_.before[static_cast<std::size_t>(rank)];
      const double backward = step_.backward[static_cast<std::size_t>(rank)];
      end = std::max(end, before + backward);
      for (Index bucket = 0; bucket < step_.buckets && rounds_ > 0; ++bucket) {
        const double part = static_cast<double>(bucket + 1) / static_cast<double>(step_.buckets);
        events_.push({before + part * backward, rank, bucket, completed});
      }
    }
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      end = std::max(end, event.time);
      handle(event);
    }
    return end;
  }

 private:
  static constexpr int completed = -1;  // in place of the round whose message has arrived
  struct Event {
    double time;
    Index rank, bucket;
    int round;
    bool operator<(const Event& other) const { return time > other.time; }  // the queue begins with the largest
  };
  struct Bucket {
    bool is_completed = false;
    int sent = 0, received = 0;  // rounds
    std::uint64_t early = 0;     // rounds that have arrived from `received` on, since partners may be ahead
  };
  struct Rank {
    double link_is_free = 0;
    Index current = 0;  // bucket
    std::vector<Bucket> buckets;
  };

  static int rounds_of(const Step& step, Index ranks) {
    const auto count = static_cast<std::uint64_t>(ranks);
    return step.exchange == Exchange::ring ? 2 * static_cast<int>(ranks - 1) : 2 * std::countr_zero(count);
  }
  // Recursive halving: how often the ranks, and the bytes, are halved until the round. First the farthest rank is the
  // partner.
  int halvings(int round) const { return round < rounds_ / 2 ? round + 1 : rounds_ - round; }
  Index partner(Index rank, int round) const {
    if (step_.exchange == Exchange::ring) return (rank + 1) % ranks_;
    return rank ^ (ranks_ >> halvings(round));
  }
  double bytes(int round) const {
    const Index parts = step_.exchange == Exchange::ring ? ranks_ : Index{1} << halvings(round);
    return step_.bucket_bytes / static_cast<double>(parts);
  }

  void handle(const Event& event) {
    Rank& rank = states_[static_cast<std::size_t>(event.rank)];
    Bucket& bucket = rank.buckets[static_cast<std::size_t>(event.bucket)];
    if (event.round == completed) {
      bucket.is_completed = true;
    } else {
      bucket.early |= std::uint64_t{1} << (event.round - bucket.received);
      for (; (bucket.early & 1) != 0; bucket.early >>= 1) ++bucket.received;
    }
    if (step_.at_once) return send_what_can_go(event.time, event.rank, event.bucket);
    while (rank.current < step_.buckets) {
      send_what_can_go(event.time, event.rank, rank.current);
      if (rank.buckets[static_cast<std::size_t>(rank.current)].received < rounds_) return;
      ++rank.current;
    }
  }
  void send_what_can_go(double now, Index from, Index of) {
    Rank& rank = states_[static_cast<std::size_t>(from)];
    Bucket& bucket = rank.buckets[static_cast<std::size_t>(of)];
    while (bucket.is_completed && bucket.sent < rounds_ && bucket.sent <= bucket.received) {
      rank.link_is_free = std::max(rank.link_is_free, now) + bytes(bucket.sent) / network_.bandwidth;
      events_.push({rank.link_is_free + network_.latency, partner(from, bucket.sent), of, bucket.sent});
      ++bucket.sent;
    }
  }

  Step step_;
  Network network_;
  Index ranks_;
  int rounds_;
  std::vector<Rank> states_;
  std::priority_queue<Event> events_;
};

struct Row {
  std::string model, exchange;
  double gigabits = 0;
  Index ranks = 1;
  double efficiency = 1, predicted = 1;     // of the step
  double bucket = 0, bucket_predicted = 0;  // seconds of the exchange of one bucket, with no backward pass beside it

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("model", "parameters"), self.model);
    visitor(Field("exchange", "ring or halving"), self.exchange);
    visitor(Field("gigabits", "per second of a link"), self.gigabits);
    visitor(Field("ranks", "nodes"), self.ranks);
    visitor(Field("efficiency", "simulated"), self.efficiency);
    visitor(Field("predicted", "by the cost model"), self.predicted);
    visitor(Field("bucket", "simulated seconds of the exchange of one bucket alone"), self.bucket);
    visitor(Field("bucket_predicted", "the same by the cost model"), self.bucket_predicted);
  }
};

double seconds_of_step(const Options& options, const RankStep& step, Index ranks, const Network& network) {
  const RandomStream random(1, random_site("scaling out"));
  const double backward = step.micro_batch * 2 / 3;
  const auto buckets = static_cast<Index>(std::ceil(step.gradient_bytes / step.bucket_bytes));
  Step simulated{.exchange = step.exchange,
                 .at_once = options.at_once,
                 .buckets = buckets,
                 .bucket_bytes = step.gradient_bytes / static_cast<double>(buckets)};
  for (Index rank = 0; rank < ranks; ++rank) {
    const double slower = 1 + options.variation * random.uniform(static_cast<std::uint64_t>(rank));
    const double all = static_cast<double>(step.micro_batches) * step.micro_batch;
    simulated.before.push_back((all - backward) * slower);
    simulated.backward.push_back(backward * slower);
  }
  return Simulation(simulated, network).run();
}

Row simulate(const Options& options, const Model& model, Exchange exchange, double gigabits, Index ranks) {
  const Network network{.latency = 1e-6 * options.latency, .bandwidth = gigabits * 1e9 / 8};
  RankStep step;
  step.micro_batches = options.micro_batches;
  step.micro_batch = 6 * model.parameters * static_cast<double>(options.tokens) / (1e12 * options.rate);
  step.gradient_bytes = 4 * model.parameters;
  step.bucket_bytes = options.bucket * (1 << 20);
  step.exchange = exchange;
  step.overlaps = true;
  Row row{.model = model.name,
          .exchange = exchange == Exchange::ring ? "ring" : "halving",
          .gigabits = gigabits,
          .ranks = ranks};
  const double alone = static_cast<double>(options.micro_batches) * step.micro_batch;
  row.efficiency = alone / seconds_of_step(options, step, ranks, network);
  row.predicted = step_time(step, {ranks, 1}, network).efficiency;
  RankStep bucket = step;
  bucket.micro_batch = 0;
  bucket.gradient_bytes = step.bucket_bytes;
  row.bucket = seconds_of_step(options, bucket, ranks, network);
  row.bucket_predicted = step_time(bucket, {ranks, 1}, network).exchange;
  return row;
}

// The rows of one line of the table, and of one curve.
using Line = std::vector<Row>;

std::string name_of(const Row& row) {
  return fmt::format("{}, {} Gb/s", row.exchange, row.gigabits);
}

void print(const std::vector<Line>& lines) {
  std::cout << fmt::format("{:<24}", "efficiency, % (model)");
  for (const Row& row : lines.front()) std::cout << fmt::format("{:>14}", row.ranks);
  std::cout << "\n";
  double farthest = 0, farthest_bucket = 0;
  for (const Line& line : lines) {
    std::cout << fmt::format("{:<24}", fmt::format("{} {}", line.front().model, name_of(line.front())));
    for (const Row& row : line) {
      std::cout << fmt::format("{:>14}", fmt::format("{:.1f} ({:.1f})", 100 * row.efficiency, 100 * row.predicted));
      farthest = std::max(farthest, std::abs(row.predicted / row.efficiency - 1));
      if (row.ranks > 1) farthest_bucket = std::max(farthest_bucket, std::abs(row.bucket_predicted / row.bucket - 1));
    }
    std::cout << "\n";
  }
  std::cout << fmt::format("The model is off by up to {:.2g} % of the efficiency, and {:.2g} % of one bucket's time.\n",
                           100 * farthest, 100 * farthest_bucket);
}

std::unique_ptr<const Panel> panel_of_model(const std::string& model, const std::vector<Line>& lines) {
  CurvePlot plot{.title = model + " parameters", .x = {.name = "nodes"}, .y = "efficiency, %", .curves = {}};
  plot.least = 0;
  plot.most = 100;
  for (const Line& line : lines) {
    if (line.front().model != model) continue;
    PanelCurve curve{name_of(line.front()), {}};
    for (const Row& row : line) curve.values.push_back(100 * row.efficiency);
    plot.curves.push_back(std::move(curve));
  }
  for (std::size_t i = 0; i < lines.front().size(); ++i) {
    plot.x.numbers.push_back(static_cast<double>(i));
    plot.x.names.push_back(std::to_string(lines.front()[i].ranks));
  }
  return panel_of(std::move(plot));
}

void draw(const Options& options, const std::vector<Line>& lines) {
  Panels panels;
  for (const Model& model : models) panels.push_back(panel_of_model(model.name, lines));
  save_panels(options.output,
              {fmt::format("Data-parallel steps of {} x {} tokens a node at {} TFLOP/s, simulated",
                           options.micro_batches, options.tokens, options.rate),
               fmt::format("Gradients in f32, buckets of {} MiB, latency {} us", options.bucket, options.latency)},
              panels);
}

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    check<UsageError>(options.output.empty() || Picture::is_name(options.output), "-o ", options.output,
                      ": needs a name that ends in .svg, .png or .pdf");
    std::vector<Line> lines;
    formats::Json json = formats::Json::array();
    for (const Model& model : models) {
      for (const double rate : link_rates) {
        for (const Exchange exchange : {Exchange::ring, Exchange::halving}) {
          Line& line = lines.emplace_back();
          for (Index ranks = 1; ranks <= options.most; ranks *= 2) {
            line.push_back(simulate(options, model, exchange, rate, ranks));
            json.push_back(formats::to_json(line.back()));
          }
        }
      }
    }
    options.json ? void(std::cout << json.dump(2) << std::endl) : print(lines);
    if (!options.output.empty()) draw(options, lines);
  });
}
