// inspect cost from outside: totals that agree with the other tools, known prices, tables, pictures, wrong usage.
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "libcore/base/printable.hpp"
#include "support/json.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace inspect_cost_tests {

namespace {

json answer(const SmallCorpus& corpus, const std::string& command) {
  return parse_json(corpus.must(command + " --json").out);
}

json cost_of(const SmallCorpus& corpus, const std::string& options) {
  return answer(corpus, "inspect cost --no-measure " + options).at("models").at(0);
}

std::size_t longest_line(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_of(text)) longest = std::max(longest, display_width(line));
  return longest;
}

}  // namespace

// Before the others, whose programs may use more memory.
TEST_CASE("inspect cost: models of any size are counted without memory for them") {
  const SmallCorpus corpus;
  const json cost = cost_of(corpus, "--preset llama3-405b");
  CHECK(cost["parameters"] == 405853388800);
  CHECK(cost["time"] == 8192);
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  CHECK(children.ru_maxrss < 300'000);  // kilobytes
}

TEST_CASE("inspect cost: an adapter file without its base, and what no text alone trains") {
  const SmallCorpus corpus;
  corpus.must("pretrain -q --train train.h5 -o model.h5 --steps 1" + tiny_shape);
  corpus.must(
      "finetune -q --from model.h5 --task lm --train train.h5 -o lora.h5 --lora-rank 2 --steps 1 --batch-size 2");
  const json whole = cost_of(corpus, "model.h5");
  corpus.must("mkdir apart && mv lora.h5 apart");
  const json cost = cost_of(corpus, "apart/lora.h5");
  CHECK(cost["parameters"] == whole["parameters"]);
  CHECK(whole["adapter_parameters"] == 0);
  CHECK(cost["adapter_parameters"] == 2 * 2 * 2 * (32 + 32));  // layers, matrices, rank, sides
  CHECK(cost["memory"]["gradients_bytes"] == 4 * cost["adapter_parameters"].get<long>());
  CHECK(contains(corpus.must("inspect cost --no-measure apart/lora.h5").out,
                 " and 512 in adapters; only these are trained\n"));
  write_file(corpus.path("texts.tsv"), "good\tthe cat\nbad\tthe dog\n");
  corpus.must("finetune -q --arch bag --task classify -t tokenizer.h5 --train texts.tsv -o bag.h5 --epochs 1");
  CHECK(lines_in(corpus.refused("inspect cost bag.h5", 1, "no objective of pre-training is for it").err) == 1);
}

TEST_CASE("inspect cost: totals are those of inspect and of a dry run") {
  const SmallCorpus corpus;
  // So large a step that the dry run does not measure any.
  for (const std::string preset : {"gpt2", "bert-base", "xlnet-base"}) {
    CAPTURE(preset);
    const json cost = cost_of(corpus, "--preset " + preset + " --batch-size 256"),
               shown = answer(corpus, "inspect --preset " + preset),
               run = answer(corpus, "pretrain --dry-run --optimizer adamw --batch-size 256 --preset " + preset);
    CHECK(cost["parameters"] == shown["parameters"]);
    CHECK(cost["head_parameters"].get<long>() == shown.value("head_parameters", 0L));
    CHECK(run["parameters"].get<long>() == cost["parameters"].get<long>() + cost["head_parameters"].get<long>());
    const json& memory = cost["memory"];
    for (const char* category : {"weights_bytes", "gradients_bytes", "optimizer_bytes"}) {
      CHECK(memory[category] == run["memory"][category]);
    }
    // The masked tokens depend on the data.
    CHECK(cost["flops"]["step"].get<double>() == doctest::Approx(run["flops_per_step"].get<double>()).epsilon(0.01));
    CHECK(memory["activations_bytes"].get<double>() ==
          doctest::Approx(run["memory"]["activations_bytes"].get<double>()).epsilon(0.02));
    long parameters = 0;
    double forward = 0, bytes = 0;
    for (const json& part : cost["parts"]) {
      parameters += part["parameters"].get<long>();
      forward += part["forward_flops"].get<double>();
      bytes += part["bytes"].get<double>();
    }
    CHECK(parameters == run["parameters"].get<long>());
    CHECK(forward == cost["flops"]["forward"].get<double>());
    CHECK(bytes == cost["bytes_per_step"].get<double>());
  }
}

TEST_CASE("inspect cost: what XLNet cost, with the arithmetic") {
  const SmallCorpus corpus;
  const std::string run = "inspect cost --chips 512 --price-per-device-hour 8 ";
  const std::string eight = corpus.must(run + "--chips-per-device 8 --days 2.5").out;
  CHECK(contains(eight, "512 chips / 8 per device = 64 devices"));
  CHECK(contains(eight, "2.5 days = 60 h"));
  CHECK(contains(eight, "64 devices x 60 h x $8 = $30,720\n"));
  CHECK(contains(corpus.must(run + "--chips-per-device 4 --days 2.5").out, "128 devices x 60 h x $8 = $61,440\n"));
  CHECK(answer(corpus, run + "--chips-per-device 4 --days 5.5")["run"]["price"] == 135168);
  const json devices =
      answer(corpus, "inspect cost --devices 64 --chips-per-device 8 --price-per-device-hour 8 --days 2.5");
  CHECK(devices["run"]["price"] == 30720);
  CHECK(devices["run"]["chips"] == 512);
}

TEST_CASE("inspect cost: tokens, chips and watts make hours and energy") {
  const SmallCorpus corpus;
  const std::string options = "--preset gpt3 --chips 1000 --flops-per-chip 100T --utilization 0.5";
  const json cost = cost_of(corpus, options + " --tokens 300G --watts-per-chip 400"), &run = cost["run"];
  const double flops = 300e9 * cost["flops"]["per_token"].get<double>();
  CHECK(run["six_p_d"].get<double>() == doctest::Approx(3.143e23).epsilon(0.001));
  CHECK(run["flops"].get<double>() == doctest::Approx(flops));
  CHECK(run["hours"].get<double>() == doctest::Approx(flops / 5e16 / 3600));
  CHECK(run["kilowatt_hours"].get<double>() == doctest::Approx(run["hours"].get<double>() * 400));
  CHECK(!run.contains("price"));
  const json days = cost_of(corpus, options + " --days 10")["run"];
  CHECK(days["hours"] == 240);
  CHECK(days["tokens"].get<double>() == doctest::Approx(864000 * 5e16 / cost["flops"]["per_token"].get<double>()));
  CHECK(cost_of(corpus, options + " --tokens 300B")["run"] == cost_of(corpus, options + " --tokens 3e11")["run"]);
}

TEST_CASE("inspect cost: several models side by side, of presets or of files") {
  const SmallCorpus corpus;
  const std::string presets = corpus.must("inspect cost --no-measure --preset gpt2,bert-base,t5-small").out;
  const std::vector<std::string> lines = lines_of(presets);
  REQUIRE(lines.size() == 4);
  CHECK(lines[1].starts_with("gpt2 "));
  CHECK(contains(lines[2], " 109 M "));
  CHECK(contains(lines[3], " 60.5 M "));
  CHECK(longest_line(presets) <= 100);
  corpus.must(
      "pretrain --train train.h5 -o m.h5 --layers 1 --width 8 --heads 2 --context 16 --steps 1 --batch-size 1 -q");
  const json models = answer(corpus, "inspect cost --no-measure m.h5 m.h5")["models"];
  CHECK(models.size() == 2);
  CHECK(models[0] == models[1]);
  CHECK(models[0]["name"] == "m.h5");
  CHECK(models[0]["time"] == 16);
  CHECK(models[0]["parameters"] == answer(corpus, "inspect m.h5")["parameters"]);
  // Each part's percentage of the parameters, and what the usual formulas say of some.
  const std::string text = corpus.must("inspect cost --no-measure m.h5").out;
  double fractions = 0;
  std::set<std::string> with_formula;
  for (const json& part : models[0]["parts"]) {
    fractions += part["parameter_fraction"].get<double>();
    char percentage[32];
    std::snprintf(percentage, sizeof percentage, " %.3f ", 100 * part["parameter_fraction"].get<double>());
    if (part["parameters"].get<long>() > 0) CHECK_MESSAGE(contains(text, percentage), percentage);
    if (part.contains("formula_forward_flops")) with_formula.insert(part["part"].get<std::string>());
  }
  CHECK(fractions == doctest::Approx(1));
  CHECK(with_formula.size() == 4);
  // The usual formula's term of attention is for models that have some.
  CHECK(contains(corpus.must("inspect cost --no-measure m.h5").out, "and 12 L d T"));
  CHECK_FALSE(contains(corpus.must("inspect cost --no-measure --preset seq2seq-2014").out, "12 L d T"));
}

TEST_CASE("inspect cost: the time of a step on this machine, part by part") {
  const SmallCorpus corpus;
  const std::string text = corpus.must("inspect cost --preset nano --time 16 --tokens 1M").out;
  CHECK(contains(text, "tokens/s\n"));
  CHECK(contains(text, "measured\n"));
  CHECK(contains(text, " tokens/s by memory\n"));
  CHECK(contains(text, " on this machine\n"));
  CHECK(longest_line(text) <= 100);
  const json cost = answer(corpus, "inspect cost --preset nano --time 16").at("models").at(0);
  double seconds = 0;
  for (const json& part : cost["parts"]) seconds += part["seconds"].get<double>();
  CHECK(seconds > 0);
  CHECK(seconds <= cost["machine"]["seconds_per_step"].get<double>() * 1.0001);
  CHECK(cost["machine"]["from"] == "model");
}

TEST_CASE("inspect cost: tables and pictures") {
  const SmallCorpus corpus;
  corpus.must("inspect cost --no-measure --preset gpt2,bert-base -o costs.tsv");
  const std::vector<std::string> lines = lines_of(read_file(corpus.path("costs.tsv")));
  CHECK(lines.front() ==
        "model\tpart\tparameters\tforward_flops\tbackward_flops\tformula_forward_flops\tbytes\tseconds");
  CHECK(std::ranges::any_of(lines, [](const std::string& line) {
    return line.starts_with("gpt2\tfeed-forward\t56669184\t115964116992\t231928233984\t115964116992\t");
  }));
  for (const std::string name : {"costs.svg", "costs.png", "costs.pdf"}) {
    CAPTURE(name);
    CHECK(corpus.must("inspect cost --no-measure --preset gpt2,bert-base -o " + name).out.empty());
    CHECK(read_file(corpus.path(name)).size() > 2000);
  }
}

// Sequences of other lengths are not compared in silence.
TEST_CASE("inspect cost: a picture says what a step reads, once or for each model") {
  const SmallCorpus corpus;
  const auto height = [&](const std::string& options) {
    corpus.must("inspect cost --no-measure -o costs.svg " + options);
    const std::string picture = read_file(corpus.path("costs.svg")), name = " height=\"";
    return std::stod(picture.substr(picture.find(name) + name.size()));
  };
  const double same = height("--preset gpt2,gpt1 --time 512"), other = height("--preset gpt2,gpt1");
  CHECK(other > same + 10);  // a line more
  CHECK(other < same + 25);
}

TEST_CASE("inspect cost: wrong usage is one line that says what to do") {
  const SmallCorpus corpus;
  write_file(corpus.path("texts.tsv"), "a\tthe cat\nb\tthe king\n");
  corpus.must("finetune -q --arch bag --task classify --train texts.tsv -o bag.h5");
  const Refusal refusals[]{
      {"inspect cost", "give one MODEL", 2},
      {"inspect cost --preset gpt9", "llama3-405b", 2},
      {"inspect cost --preset gpt2,gpt9", "did you mean 'gpt1'?", 2},
      {"inspect cost train.h5 --preset gpt2", "not both", 2},
      {"inspect cost train.h5", "train.h5: ", 1},
      {"inspect cost nowhere.h5", "No such file", 1},
      {"inspect cost bag.h5", "no objective of pre-training is for it", 1},
      {"inspect cost --preset gpt2 --time 1025", "--time 1025 is more than the 1024 positions", 2},
      {"inspect cost --preset gpt2 --batch-size 1000000", "more than 16,777,216 tokens", 2},
      {"inspect cost --preset gpt2 --tokens 15X", "such as 300G", 2},
      {"inspect cost --preset gpt2 --tokens 1e31", "at most 1e30", 2},
      {"inspect cost --preset gpt2 --tokens -1G", "more than 0", 2},
      {"inspect cost --preset gpt2 --tokens nan", "'nan'", 2},
      {"inspect cost --preset gpt2 --days 0", "more than 0", 2},
      {"inspect cost --preset gpt2 --tokens 1G --days 1", "give one of them", 2},
      {"inspect cost --preset gpt2 --chips 8", "--tokens or --days", 2},
      {"inspect cost --chips 512 --price-per-device-hour 8", "needs --days X", 2},
      {"inspect cost --chips 512 --days 1 -o x.tsv", "give one MODEL or several", 2},
      {"inspect cost --chips 8 --devices 8 --days 1", "give one of them", 2},
      {"inspect cost --preset gpt2 --chips 8 --tokens 1G", "--flops-per-chip", 2},
      {"inspect cost --preset gpt2 --price-per-device-hour 8", "--chips or --devices", 2},
      {"inspect cost --chips 512 --price-per-hour 8 --days 1", "it is called --price-per-device-hour", 2},
      {"inspect cost --chips 8 --flops-per-chip 1T --utilization 2 --days 1", "--utilization", 2},
      {"inspect cost --preset gpt2 -o costs.gif", ".svg, .png, .pdf and .tsv", 2},
      {"inspect cost --preset gpt2 -o costs.svg --json", "leave out -o or --json", 2}};
  for (const Refusal& refusal : refusals) CHECK(lines_in(corpus.refused(refusal).err) == 1);
}

}  // namespace inspect_cost_tests
