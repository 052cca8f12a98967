// Blocks whose heads and columns ranks divide, against whole ones. Ranks are threads; built in double.
#include "libcore/nn/model_ranks.hpp"

#include <doctest/doctest.h>

#include <map>
#include <mutex>

#include "libcore/nn/block.hpp"
#include "libcore/nn/low_rank_options.hpp"
#include "libcore/nn/value_embeddings.hpp"
#include "libcore/parallel/thread_group.hpp"
#include "support/gradient_check.hpp"
#include "support/tensors.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace model_ranks_tests {

namespace {

constexpr Index samples = 2, time = 3, width = 8;

nn::BlockOptions options_of(BlockOrder order, bool cross, bool gated) {
  nn::BlockOptions options{.order = order,
                           .attention = {.width = width, .shape = {8, 2, 4, 2}, .stddev = 0.4, .output_stddev = 0.4},
                           .feed_forward = {width, 12, Activation::silu, gated, nn::Bias::yes, 0.4, 0.4}};
  options.attention.head_norm = options.attention.head_gates = gated;
  if (cross) options.cross_attention = options.attention;
  return options;
}

// All that a block computes: results, and gradients by name, of whole parameters.
struct Computed {
  Tensor y, dx, dsource;
  std::map<std::string, Tensor> values, gradients;
};

// With other values than modules begin with, since biases begin as zeros.
ParameterSource random_values() {
  return ParameterSource::given([](const Declaration& declaration) {
    const Tensor all(declaration.stacked_shape());
    Index row = 0;
    for (const std::string& name : declaration.names) {
      all.narrowed(0, row, declaration.shape[0])
          .assign(normal_tensor(declaration.shape, random_site(name) % 1000, 0.4));
      row += declaration.shape[0];
    }
    return all;
  });
}

Computed computed_by(const nn::BlockOptions& options, const nn::ModelRanks& ranks, bool adapts) {
  const LowRankOptions adapters{
      .lora_rank = adapts ? 2 : 0, .lora_targets = "query,value,output,up,down", .lora_dropout = 0.3};
  Parameters parameters(with_adapters(ranks.divided(random_values()), adapters));
  const nn::Block block(Scope(parameters, "0"), Scope(parameters, ""), options);
  const Variable x = leaf(normal_tensor({samples, time, width}, 1));
  const Variable source = leaf(normal_tensor({samples, 2, width}, 2));
  Computed result;
  Recording recording;
  nn::CrossAttention::Memory memory;
  nn::BlockContext context;
  if (options.cross_attention) {
    memory = block.cross_attention()->remember(source, {2, 1});
    context.memory = &memory;
  }
  const Variable y = block(x, {.causal = true}, {.seed = 3, .training = true}, context);
  result.y = y.value();
  recording.backward(weighted_sum(y));
  result.dx = x.gradient()->tensor();
  result.dsource = source.gradient()->is_empty() ? Tensor({1}, 0) : source.gradient()->tensor();
  for (const Parameter& parameter : parameters.all()) {
    result.values[parameter.name] = parameter.value().copy();
    result.gradients[parameter.name] = parameter.gradient().copy();
  }
  return result;
}

void check_part(const Tensor& own, const Tensor& whole, const nn::PartOfWhole* part) {
  const Tensor expected = part == nullptr ? whole : nn::part_of(whole, *part, own.shape()).copy();
  CHECK(difference(own, expected) < 1e-12 * (1 + largest(expected)));
}

}  // namespace

TEST_CASE("model ranks: a block that 2 or 4 share computes what a whole one does, forward and backward") {
  const nn::ModelRanks one(parallel::alone());
  for (const auto& [order, name] : Names<BlockOrder>::list) {
    for (const bool cross : {false, true}) {
      for (const bool gated : {false, true}) {
        CAPTURE(name);
        CAPTURE(cross);
        CAPTURE(gated);
        const bool adapts = cross == gated;
        const nn::BlockOptions options = options_of(order, cross, gated);
        const Computed whole = computed_by(options, one, adapts);
        CHECK(whole.gradients.contains("0/feed_forward/down/lora/b") == adapts);
        for (const int count : {2, 4}) {
          std::vector<Computed> all(static_cast<std::size_t>(count));
          parallel::on_ranks(count, [&](const parallel::Group& group) {
            const nn::ModelRanks ranks(group);
            Computed& own = all[static_cast<std::size_t>(group.rank())] = computed_by(options, ranks, adapts);
            CHECK(relative_difference(own.y, whole.y) < 1e-12);
            CHECK(relative_difference(own.dx, whole.dx) < 1e-12);
            CHECK(relative_difference(own.dsource, whole.dsource) < 1e-12);
            for (const auto& [parameter, gradient] : own.gradients) {
              CAPTURE(parameter);
              check_part(own.values.at(parameter), whole.values.at(parameter), ranks.part_of(parameter));
              check_part(gradient, whole.gradients.at(parameter), ranks.part_of(parameter));
            }
            CHECK(ranks.part_of("0/attention/output/weight")->dimension == 1);
            CHECK(ranks.part_of("0/attention_norm/gain") == nullptr);
          });
          for (const Computed& own : all) {
            CHECK(own.y.elements() == all[0].y.elements());
            for (const auto& [parameter, gradient] : own.gradients) {
              if (gradient.size() != whole.gradients.at(parameter).size()) continue;
              CHECK(gradient.elements() == all[0].gradients.at(parameter).elements());
            }
          }
        }
      }
    }
  }
}

TEST_CASE("model ranks: each draws its part of what one process draws") {
  const nn::BlockOptions options = options_of(BlockOrder::pre, false, true);
  Parameters whole(ParameterSource(7));
  const nn::Block block(Scope(whole, "0"), Scope(whole, ""), options);
  parallel::on_ranks(2, [&](const parallel::Group& group) {
    const nn::ModelRanks ranks(group);
    Parameters own(ranks.divided(ParameterSource(7)));
    const nn::Block part(Scope(own, "0"), Scope(own, ""), options);
    REQUIRE(own.all().size() == whole.all().size());
    for (const Parameter& parameter : own.all()) {
      check_part(parameter.value(), whole.find(parameter.name)->value(), ranks.part_of(parameter.name));
    }
    CHECK(own.count() < whole.count());
    CHECK(ranks.count(own) == whole.count());
    CHECK_NOTHROW(ranks.check_divides(own));
  });
}

TEST_CASE("model ranks: what they cannot divide is refused") {
  parallel::on_ranks(2, [&](const parallel::Group& group) {
    const nn::ModelRanks ranks(group);
    const auto refused = [&](const auto& change, const char* message) {
      nn::BlockOptions options = options_of(BlockOrder::pre, false, false);
      change(options);
      Parameters parameters(ranks.divided(ParameterSource(1)));
      CHECK_THROWS_WITH_AS(nn::Block(Scope(parameters, "0"), Scope(parameters, ""), options), message, UsageError);
    };
    refused(
        [](nn::BlockOptions& o) {
          o.attention.shape = {3, 2};
        },
        "`tensor_parallel` = 2 does not divide `heads` = 3; give a number that divides it");
    refused(
        [](nn::BlockOptions& o) {
          o.attention.shape = {4, 2, 1, 2};
        },
        "`tensor_parallel` = 2 does not divide `kv_heads` = 1; give a number that divides it");
    refused([](nn::BlockOptions& o) { o.feed_forward.inner_width = 7; },
            "`tensor_parallel` = 2 does not divide `ffn_width` = 7; give a number that divides it");
    refused([](nn::BlockOptions& o) { o.attention.variant = "performer"; },
            "`tensor_parallel`: ranks do not divide heads with `attention` = performer; `attention` = dot can be "
            "divided");
    refused([](nn::BlockOptions& o) { o.attention.projections = Projections::narrow; },
            "`tensor_parallel`: ranks do not divide heads with `projections` = narrow; `projections` = standard can be "
            "divided");
    Parameters nothing(ranks.divided(ParameterSource(1)));
    CHECK_THROWS_AS(nn::ValueEmbeddings(Scope(nothing, ""), {4, 4, 2, 1}), UsageError);
    (void)nn::Linear(Scope(nothing, "a"), 4, 4, nn::Bias::no, 1);
    CHECK_THROWS_AS(ranks.check_divides(nothing), UsageError);
  });
}

}  // namespace model_ranks_tests
