// Training speed as ratios: of the machine's rate of matrix products, and of PyTorch on the same model where it is
// installed, measured in turns in one run.
#include <cblas.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <iostream>

#include "heddle/cli/run.hpp"
#include "heddle/formats/json_archive.hpp"
#include "heddle/tensor/blas.hpp"
#include "heddle/tensor/threads.hpp"
#include "heddle/training/trainer.hpp"

using namespace heddle;

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

template <class Work>
double seconds_of(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Options {
  Index rounds = 3;
  bool peers = true;
  bool json = false;
  std::vector<std::string> models{"nano", "small", "124m"};

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("rounds", "turns of limit, heddle and peer; medians are printed").range(1, 100), self.rounds);
    visitor(Field("peers", "heddle alone, without PyTorch"), self.peers);
    visitor(Field("json", "a JSON object a model"), self.json);
    visitor(Field("models", "which of nano, small and 124m"), self.models);
  }
};

struct Model {
  std::string name;
  models::ModelConfig config;
  Index batch, steps;  // steps a round
};

Model model_named(const std::string& name) {
  models::ModelConfig config;
  if (name == "nano") {
    config = models::preset("nano");
    config.vocab_size = 256;
    return {name, config, 12, 60};
  }
  if (name == "small") {
    config.layers = 6;
    config.width = 384;
    config.heads = 6;
    config.context = 256;
    config.vocab_size = 256;
    return {name, config, 12, 6};
  }
  check<UsageError>(name == "124m", "models: '", name, "' is not one of nano, small, 124m");
  config = models::preset("gpt2");
  config.context = 256;
  return {name, config, 4, 3};
}

// The library's own rate with its own threads: what anybody's matrix products could reach here. FLOP/s.
double sgemm_rate() {
  constexpr int n = 2048;
  static const std::vector<float> a(n * n, 0.5f), b(n * n, 0.25f);
  static std::vector<float> c(n * n);
  openblas_set_num_threads(thread_count());
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    seconds.push_back(seconds_of([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
    }));
  }
  openblas_set_num_threads(1);
  return 2.0 * n * n * n / median(seconds);
}

// Tokens a second of PyTorch; 0 where it is not installed. Empty kernel: the one that OpenBLAS chooses by itself.
double pytorch_rate(const Model& model, const std::string& kernel) {
  const models::ModelConfig& c = model.config;
  const std::string variable = kernel.empty() ? "-u OPENBLAS_CORETYPE" : "OPENBLAS_CORETYPE=" + kernel;
  const std::string command =
      concatenate("env ", variable, " OMP_WAIT_POLICY=PASSIVE OMP_NUM_THREADS=", thread_count(), " /usr/bin/python3 ",
                  HEDDLE_PEER_SCRIPT, " ", c.layers, " ", c.heads, " ", c.width, " ", c.vocab_size, " ", model.batch, " ",
                  c.context, " ", model.steps, " 2>/dev/null");
  FILE* pipe = popen(command.c_str(), "r");
  double rate = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf", &rate) != 1) rate = 0;
  if (pipe != nullptr) pclose(pipe);
  return rate;
}

struct Result {
  std::string model;
  double sgemm_gflops = 0, tokens_per_second = 0, sgemm_fraction = 0;
  double pytorch = 0, pytorch_default_kernel = 0, ratio = 0;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("model", "shape"), self.model);
    visitor(Field("sgemm_gflops", "OpenBLAS, 2048 cubed, all threads"), self.sgemm_gflops);
    visitor(Field("tokens_per_second", "heddle"), self.tokens_per_second);
    visitor(Field("sgemm_fraction", "share of the sgemm rate that training uses"), self.sgemm_fraction);
    visitor(Field("pytorch", "PyTorch's tokens a second with the same BLAS kernel"), self.pytorch);
    visitor(Field("pytorch_default_kernel", "and with the kernel that OpenBLAS chooses by itself"),
            self.pytorch_default_kernel);
    visitor(Field("ratio", "heddle's tokens a second over PyTorch's better one"), self.ratio);
  }
};

Result measure(const Model& model, const Options& options) {
  const Index tokens = model.batch * model.config.context;
  std::vector<TokenId> text(static_cast<std::size_t>(40 * tokens));
  const RandomStream stream(1, 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<TokenId>(stream.below(i, static_cast<std::uint64_t>(model.config.vocab_size)));
  }
  const data::TokensInMemory source(std::move(text), model.config.vocab_size);
  models::Decoder decoder(model.config, 1);
  training::Plan plan;
  plan.training.batch_size = model.batch;
  plan.schedule.learning_rate = 1e-4;
  training::Trainer trainer(decoder, source, nullptr, plan);
  trainer.step();
  std::vector<double> limits, ours, peers, default_peers;
  for (Index round = 0; round < options.rounds; ++round) {
    limits.push_back(sgemm_rate());
    std::vector<double> steps;
    for (Index i = 0; i < model.steps; ++i) steps.push_back(seconds_of([&] { trainer.step(); }));
    ours.push_back(static_cast<double>(tokens) / median(steps));
    if (options.peers) {
      peers.push_back(pytorch_rate(model, describe_blas().kernel));
      default_peers.push_back(pytorch_rate(model, ""));
    }
    limits.push_back(sgemm_rate());
  }
  Result result{model.name, median(limits) * 1e-9, median(ours), 0, median(peers), median(default_peers), 0};
  result.sgemm_fraction = result.tokens_per_second *
                          models::training_flops_per_token(model.config, decoder.parameters().count(),
                                                           model.config.context) /
                          median(limits);
  const double best_peer = std::max(result.pytorch, result.pytorch_default_kernel);
  if (best_peer > 0) result.ratio = result.tokens_per_second / best_peer;
  return result;
}

void print(const Result& r) {
  std::cout << std::fixed << std::setprecision(0) << std::setw(6) << r.model << std::setw(15) << r.sgemm_gflops
            << std::setw(15) << r.tokens_per_second << std::setprecision(2) << std::setw(12) << r.sgemm_fraction
            << std::setprecision(0) << std::setw(15) << r.pytorch << std::setw(15) << r.pytorch_default_kernel
            << std::setprecision(2) << std::setw(9) << r.ratio << std::endl;
}

const cli::About about{.name = "benchmark_training",
                       .summary = "Measures training against the machine's sgemm rate and against PyTorch.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    arguments.say(concatenate("OpenBLAS kernel ", describe_blas().kernel, ", ", thread_count(), " threads"));
    if (!options.json) {
      std::cout << " model  sgemm GFLOP/s  heddle tok/s  of sgemm  PyTorch tok/s  default BLAS   ratio" << std::endl;
    }
    for (const std::string& name : options.models) {
      const Result result = measure(model_named(name), options);
      if (options.json) {
        std::cout << formats::to_json(result).dump() << std::endl;
      } else {
        print(result);
      }
    }
  });
}
