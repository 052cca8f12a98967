// Low-rank adapters: the matrices that get them, and their rank.
#pragma once

#include <string>
#include <string_view>

#include "libcore/autograd/parameters.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

// W' = W + alpha / rank B A with W fixed, A [rank, in], B [out, rank].  Source: Hu et al. 2022, "LoRA".
struct LowRankOptions {
  Index lora_rank = 0;  // 0: no adapters
  double lora_alpha = 16;
  std::string lora_targets = "query,value";  // the last part of a matrix's name
  double lora_dropout = 0;                   // dropout on the input of A

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("lora_rank", "rank of low-rank adapters; only the adapters and the head are trained")
                .range(1, 100000)
                .word(0, "none")
                .takes("R")
                .essential(),
            self.lora_rank);
    visitor(Field("lora_alpha", "scale of the adapters: alpha / rank").needs({"lora_rank"}).above(0, 1e6).takes("A"),
            self.lora_alpha);
    visitor(Field("lora_targets", "matrices that get adapters, among query, key, value, output, up, down")
                .needs({"lora_rank"})
                .takes("LIST"),
            self.lora_targets);
    visitor(Field("lora_dropout", "dropout rate of the input of the adapters")
                .needs({"lora_rank"})
                .range(0, 0.99)
                .takes("P"),
            self.lora_dropout);
  }

  double scale() const { return lora_alpha / static_cast<double>(lora_rank); }
  bool targets(std::string_view name) const {
    if (lora_rank == 0) return false;
    for (const std::string& target : split(lora_targets, ',')) {
      if (target == name) return true;
    }
    return false;
  }
};

// The source of a model whose matrices get these adapters. Throws UsageError for targets that no model has.
ParameterSource with_adapters(const ParameterSource& source, const LowRankOptions& options);

// Throws UsageError for options that ask for adapters where the model whose parameters these are has got none.
void check_adapters(const Parameters& parameters, const LowRankOptions& options);

}  // namespace heddle
