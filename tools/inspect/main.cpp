// Shows what is in heddle's files.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iostream>

#include "heddle/base/printable.hpp"
#include "heddle/base/strings.hpp"
#include "heddle/cli/outputs.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/formats/heddle/model_file.hpp"
#include "tools/inspect/compare.hpp"
#include "tools/inspect/history.hpp"
#include "tools/inspect/print.hpp"
#include "tools/inspect/verify.hpp"

namespace {

using namespace heddle;
using formats::Json;

cli::About about() {
  return {.name = "inspect",
          .summary = "Shows what is in heddle's files.",
          .synopsis = {"FILE [--config] [--weights] [--history] [--json]",
                       "MODEL... --history [-o x.svg|x.tsv] [--json]", "FILE --verify [--json]",
                       "FILE --diff FILE [--json]", "MODEL|ADAPTER --evaluate TOKENS [--base MODEL] [--json]",
                       "--preset NAME [--json]", "MODEL|--preset NAME --profile [--precision bf16] [--batch-size N]",
                       "MODEL --embed TEXT|- [INPUT] [--layer N] [--pooling NAME] [-o x.h5] [--json]",
                       "MODEL --neighbours WORD [--top K] [--json]",
                       "MODEL --senses TRAIN [--voters K] [--gold] [INPUT] [--json]", "MODEL --bias TESTS [--json]"},
          .operands = {
              {"FILE", "a tokenizer, token or model file, or a directory with GPT-2's vocabulary", 0, 1},
              {"INPUT", "texts or marked words, a line each; none or - is standard input. With --history, more models",
               0, cli::any_number}}};
}

// Options of which at most one is given: each is a task of its own.
std::vector<std::string> tasks_of(const InspectOptions& options) {
  std::vector<std::string> tasks;
  const auto add = [&](bool given, const char* task) {
    if (given) tasks.emplace_back(task);
  };
  add(options.verify, "--verify");
  add(!options.diff.empty(), "--diff");
  add(!options.evaluate.empty(), "--evaluate");
  add(options.profile.profile, "--profile");
  add(!options.vectors.embed.empty(), "--embed");
  add(!options.vectors.neighbours.empty(), "--neighbours");
  add(!options.vectors.senses.empty(), "--senses");
  add(!options.vectors.bias.empty(), "--bias");
  return tasks;
}

// A second file is the input of a task; several are models whose histories are compared.
void check_more_files(const InspectOptions& options, const cli::Arguments& arguments, const std::string& task) {
  const std::vector<std::string>& more = arguments.operands("INPUT");
  if (more.empty()) return;
  if (task == "--senses" || options.vectors.embed == "-") {
    check<UsageError>(more.size() == 1, more.back(), ": ", task, " takes one INPUT");
    return;
  }
  check<UsageError>(task.empty() && options.parts.history && !options.parts.any_but_history(), more.front(),
                    ": several files are for --history, and a second one for --diff FILE, --embed - and --senses");
}

void check_usage(const InspectOptions& options, const cli::Arguments& arguments) {
  check<UsageError>(arguments.operand("FILE").empty() != options.preset.empty(),
                    "give one FILE, or --preset NAME (inspect --help shows the "
                    "usage)");
  const std::vector<std::string> tasks = tasks_of(options);
  const std::string task = tasks.empty() ? "" : tasks.front();
  check<UsageError>(tasks.size() <= 1, join(tasks, " and "), " do not go together");
  check<UsageError>(options.preset.empty() || tasks.empty() || task == "--profile", "--preset has nothing for ", task,
                    ", which needs a FILE");
  check<UsageError>(tasks.empty() || !options.parts.any(), "parts cannot be chosen with ", task);
  check_more_files(options, arguments, task);
  if (options.output.empty() || task == "--embed") return;
  check<UsageError>(tasks.empty() && options.preset.empty(), "-o does not go with ", tasks.empty() ? "--preset" : task);
  check<UsageError>(options.output.ends_with(".svg") || options.output.ends_with(".tsv"), options.output,
                    ": the history can be written into .svg and .tsv files only");
  check<UsageError>(!options.json && !options.parts.any_but_history(),
                    "-o writes the history; --json and other parts have no place there");
}

int show_problems(const std::string& path, bool json) {
  const std::vector<std::string> problems = verify(path);
  if (json) {
    std::cout << dump({{"name", path}, {"problems", problems}});
  } else {
    for (const std::string& problem : problems) std::cout << printable(problem) << "\n";
    if (problems.empty()) std::cout << printable(path) << ": no problem found\n";
  }
  return problems.empty() ? 0 : 1;
}

void show_score(const Score& score, bool json) {
  if (json) {
    Json answer{
        {"tokens", score.tokens}, {"nats_per_token", score.nats_per_token()}, {"perplexity", score.perplexity()}};
    if (score.figures.empty()) answer["bits_per_byte"] = score.bits_per_byte();
    for (const training::Metric& figure : score.figures) answer[figure.name] = figure.value;
    std::cout << dump(answer);
    return;
  }
  const auto line = [](const char* name, double value) {
    std::array<char, 64> text;
    std::snprintf(text.data(), text.size(), "%-15s %.6g\n", name, value);
    std::cout << text.data();
  };
  std::cout << "tokens          " << grouped(score.tokens) << "\n";
  line("nats a token", score.nats_per_token());
  line("perplexity", score.perplexity());
  if (score.bytes > 0) line("bits a byte", score.bits_per_byte());
  for (const training::Metric& figure : score.figures) {
    std::string name = figure.name;
    std::ranges::replace(name, '_', ' ');
    line(name.c_str(), figure.value);
  }
}

void show_profile(const InspectOptions& options, const std::string& path, const cli::Arguments& arguments) {
  const models::ModelConfig config =
      options.preset.empty() ? formats::ModelFile(path).config<models::ModelConfig>() : models::preset(options.preset);
  const StepProfile profile = profile_steps(config, options.batch_size, options.profile, arguments);
  std::cout << (options.json ? profile_json(profile) : printable_lines(profile_table(profile)));
}

int inspect(cli::Arguments& arguments) {
  const auto options = arguments.read<InspectOptions>();
  const std::string path = arguments.operand("FILE");
  check_usage(options, arguments);
  std::vector<std::string> paths = arguments.operands("INPUT");
  paths.insert(paths.begin(), path);
  std::vector<std::string> inputs = paths;
  inputs.push_back(options.base);
  cli::keep_inputs(inputs, {options.output}, arguments);
  if (options.verify) return show_problems(path, options.json);
  if (!options.diff.empty()) {
    const Comparison comparison = compare(path, options.diff);
    std::cout << (options.json ? dump(as_json(comparison)) : printable_lines(as_text(comparison)));
  } else if (options.profile.profile) {
    show_profile(options, path, arguments);
  } else if (!options.evaluate.empty()) {
    show_score(evaluate(arguments, options, path), options.json);
  } else if (!options.vectors.embed.empty()) {
    embed_texts(arguments, options.vectors, options.output, options.json);
  } else if (!options.vectors.neighbours.empty()) {
    show_neighbours(arguments, options.vectors, options.json);
  } else if (!options.vectors.senses.empty()) {
    tell_senses(arguments, options.vectors, options.json);
  } else if (!options.vectors.bias.empty()) {
    show_bias(arguments, options.vectors, options.json);
  } else if (!options.output.empty() || paths.size() > 1) {
    show_histories(paths, options);
  } else {
    const Summary summary = options.preset.empty() ? summarize_file(path, options.parts, options.vectors.top)
                                                   : summarize_preset(options.preset, options.parts);
    std::cout << (options.json ? dump(as_json(summary)) : printable_lines(as_text(summary)));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return heddle::cli::run(argc, argv, about(), inspect);
}
