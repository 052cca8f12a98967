// Adapters that PEFT trained: convert PEFT --base MODEL.
#include <cmath>
#include <random>

#include "formats/huggingface/safetensors.hpp"
#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;
using nlohmann::json;

namespace peft_tests {

namespace {

using Weights = std::map<std::string, std::vector<float>>;

// A module's correction of a matrix, and the rows of its product with which a matrix of the base begins.
struct Adapted {
  std::string module;
  Index in, out;
  std::vector<float> a, b;
};

class PeftFolder : public SmallCorpus {
 public:
  PeftFolder() {
    must("convert -q '" HEDDLE_HUGGINGFACE "/gpt2-narrow' -o base.h5 && mkdir -p peft");
    const json config{{"peft_type", "LORA"},
                      {"r", rank},
                      {"lora_alpha", 3},
                      {"target_modules", {"c_attn", "c_proj"}},
                      {"fan_in_fan_out", true},
                      {"base_model_name_or_path", "gpt2-narrow"},
                      {"task_type", "CAUSAL_LM"},
                      {"bias", "none"},
                      {"modules_to_save", nullptr},
                      {"rank_pattern", json::object()},
                      {"revision", nullptr},
                      {"lora_dropout", 0.1},
                      {"init_lora_weights", true},
                      {"use_dora", false}};
    config_ = config;
    write_config(config);
    std::mt19937 random(3);
    std::uniform_real_distribution<float> values(-0.3F, 0.3F);
    const auto draw = [&](Index count) {
      std::vector<float> numbers(static_cast<std::size_t>(count));
      for (float& number : numbers) number = values(random);
      return numbers;
    };
    for (const auto& [module, in, out] :
         std::vector<std::tuple<std::string, Index, Index>>{{"transformer.h.0.attn.c_attn", 8, 24},
                                                            {"transformer.h.2.attn.c_attn", 8, 24},
                                                            {"transformer.h.1.mlp.c_proj", 32, 8}}) {
      adapted_.push_back({module, in, out, draw(rank * in), draw(out * rank)});
    }
    write_tensors("base_model.model.");
  }

  void write_config(const json& config) const { write_file(path("peft/adapter_config.json"), config.dump()); }
  void write_tensors(const std::string& prefix) const {
    std::vector<formats::SafetensorOutput> tensors;
    const auto add = [&](const std::string& name, const Shape& shape, const std::vector<float>& values) {
      const Tensor tensor(shape);
      std::copy(values.begin(), values.end(), tensor.data());
      tensors.push_back({prefix + name, tensor, formats::Safetype::f32});
    };
    for (const Adapted& one : adapted_) {
      add(one.module + ".lora_A.weight", {rank, one.in}, one.a);
      add(one.module + ".lora_B.weight", {one.out, rank}, one.b);
    }
    formats::write_safetensors(path("peft/adapter_model.safetensors"), tensors, {{"format", "pt"}});
  }
  json config_with(const json& changes) const {
    json config = config_;
    config.update(changes);
    return config;
  }

  // base + scale B A, in double.
  Weights corrected(double scale) const {
    Weights weights = SmallCorpus::weights("base.h5");
    for (const Adapted& one : adapted_) {
      const std::string layer = "decoder/" + one.module.substr(14, 1);
      const bool attends = one.module.ends_with("c_attn");
      const std::vector<std::string> parts{"query", "key", "value"};
      for (Index row = 0; row < one.out; ++row) {
        const std::string name = attends
                                     ? layer + "/attention/" + parts.at(static_cast<std::size_t>(row / 8)) + "/weight"
                                     : layer + "/feed_forward/down/weight";
        for (Index column = 0; column < one.in; ++column) {
          double sum = 0;
          for (Index r = 0; r < rank; ++r) {
            sum +=
                one.b[static_cast<std::size_t>(row * rank + r)] * one.a[static_cast<std::size_t>(r * one.in + column)];
          }
          weights.at(name)[static_cast<std::size_t>(row % 8 * one.in + column)] += static_cast<float>(scale * sum);
        }
      }
    }
    return weights;
  }

  static constexpr Index rank = 2;

 private:
  json config_;
  std::vector<Adapted> adapted_;
};

void check_equal(const Weights& got, const Weights& wanted) {
  REQUIRE(got.size() == wanted.size());
  for (const auto& [name, values] : got) {
    CAPTURE(name);
    REQUIRE(wanted.at(name).size() == values.size());
    double apart = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      apart = std::max(apart, std::abs(double{values[i]} - double{wanted.at(name)[i]}));
    }
    CHECK(apart < 1e-6);
  }
}

}  // namespace

TEST_CASE("peft: an adapter of PEFT's becomes heddle's, of which base + scale B A is the sum") {
  const PeftFolder folder;
  folder.must("convert -q peft --base base.h5 -o adapter.h5 && convert -q adapter.h5 --merge -o merged.h5");
  check_equal(folder.weights("merged.h5"), folder.corrected(3.0 / 2));
  CHECK(folder.must("inspect verify adapter.h5").out == "adapter.h5: no problem found\n");
  const std::string score = " --score --jsonl < train.txt | head -5";
  CHECK(folder.must("generate adapter.h5" + score).out ==
        folder.must("generate adapter.h5 --base base.h5" + score).out);
  const auto with = json_lines(folder.must("generate adapter.h5" + score).out),
             merged = json_lines(folder.must("generate merged.h5" + score).out),
             without = json_lines(folder.must("generate base.h5" + score).out);
  for (std::size_t i = 0; i < with.size(); ++i) {
    const double value = with[i]["log_likelihood"];
    CHECK(value == doctest::Approx(merged[i]["log_likelihood"].get<double>()).epsilon(1e-4));
    CHECK(std::abs(value - without[i]["log_likelihood"].get<double>()) > 1e-3);
  }
  folder.write_config(folder.config_with({{"use_rslora", true}}));
  folder.must("convert -q peft --base base.h5 -o adapter.h5 && convert -q adapter.h5 --merge -o merged.h5");
  check_equal(folder.weights("merged.h5"), folder.corrected(3 / std::sqrt(2.0)));
}

TEST_CASE("peft: adapters of every architecture find their matrices by the names that Hugging Face's models have") {
  struct Base {
    std::string model, module, weight;
    Index in, out;
  };
  const PeftFolder folder;
  folder.write_config(folder.config_with({{"fan_in_fan_out", false}}));
  for (const Base& base : std::vector<Base>{
           {"bert-narrow", "roberta.encoder.layer.0.output.dense", "encoder/0/feed_forward/down/weight", 32, 8},
           {"t5-gated", "decoder.block.2.layer.1.EncDecAttention.q", "decoder/2/cross_attention/query/weight", 16, 12},
           {"bart-narrow", "model.decoder.layers.1.fc1", "decoder/1/feed_forward/up/weight", 16, 24},
           {"marian-narrow", "model.encoder.layers.0.self_attn.v_proj", "encoder/0/attention/value/weight", 16, 16}}) {
    CAPTURE(base.module);
    const Tensor a({2, base.in}), b({base.out, 2});
    for (Index i = 0; i < a.size(); ++i) a[i] = static_cast<Real>(std::sin(static_cast<double>(i + 1)));
    for (Index i = 0; i < b.size(); ++i) b[i] = static_cast<Real>(std::cos(static_cast<double>(i)));
    const std::string name = "base_model.model." + base.module;
    formats::write_safetensors(
        folder.path("peft/adapter_model.safetensors"),
        std::vector<formats::SafetensorOutput>{{name + ".lora_A.weight", a, formats::Safetype::f32},
                                               {name + ".lora_B.weight", b, formats::Safetype::f32}},
        {{"format", "pt"}});
    folder.must("convert -q '" HEDDLE_HUGGINGFACE "/" + base.model + "' -o one.h5 && " +
                "convert -q peft --base one.h5 -o adapter.h5 && convert -q adapter.h5 --merge -o merged.h5");
    const std::string origin = folder.must("inspect one.h5 --provenance").out;
    for (const std::string file : {"config.json", "model.safetensors"})
      CHECK(contains(origin, "model: " HEDDLE_HUGGINGFACE "/" + base.model + "/" + file + ", "));
    Weights wanted = folder.weights("one.h5");
    std::vector<float>& weight = wanted.at(base.weight);
    REQUIRE(std::ssize(weight) == base.in * base.out);
    for (Index row = 0; row < base.out; ++row) {
      for (Index column = 0; column < base.in; ++column) {
        weight[static_cast<std::size_t>(row * base.in + column)] +=
            1.5F * (b[2 * row] * a[column] + b[2 * row + 1] * a[base.in + column]);
      }
    }
    check_equal(folder.weights("merged.h5"), wanted);
    folder.must("rm one.h5 adapter.h5 merged.h5");
  }
}

TEST_CASE("peft: what heddle does not carry out is named, and nothing is written") {
  const PeftFolder folder;
  const std::string command = "convert peft --base base.h5 -o x.h5";
  for (const auto& [field, value] : std::map<std::string, json>{{"use_dora", true},
                                                                {"bias", "all"},
                                                                {"modules_to_save", {"lm_head"}},
                                                                {"rank_pattern", {{"c_proj", 4}}},
                                                                {"alpha_pattern", {{"c_proj", 4}}},
                                                                {"init_lora_weights", "pissa"},
                                                                {"peft_type", "IA3"},
                                                                {"layer_replication", {{0, 1}}}}) {
    folder.write_config(folder.config_with({{field, value}}));
    folder.refused(command, 1, "peft/adapter_config.json: " + field + ": is ");
  }
  folder.write_config(folder.config_with({{"r", 3}}));
  folder.refused(command, 1, "is not of the shape");
  folder.write_config(folder.config_with(json::object()));
  folder.refused("convert peft -o x.h5", 1, "peft: is an adapter of 'gpt2-narrow'; name the model file");
  folder.refused("convert peft --merge --base base.h5 -o x.h5", 2, "--merge");
  folder.refused("convert base.h5 --base base.h5 -o x.h5", 2, "--base");
  folder.write_tensors("base_model.model.other.");
  folder.refused(command, 1, "peft: adapts 'other.transformer.h.0.attn.c_attn', which is not a matrix of the base");
  folder.write_tensors("model.");
  folder.refused(command, 1, "is not the matrix of an adapter");
  folder.must("rm peft/adapter_model.safetensors");
  folder.refused(command, 1, "peft: has no adapter_model.safetensors");
  CHECK_FALSE(std::filesystem::exists(folder.path("x.h5")));
}

}  // namespace peft_tests
