// Systems and Lyapunov functions of them as token ids, for models that propose functions.
#pragma once

#include <cstdint>
#include <vector>

#include "libcore/data/generated_pairs.hpp"
#include "libcore/data/problems.hpp"
#include "libcore/symbolic/generators.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle {

// One token for each of the prefix tokens that systems and functions can have: signs of integers and their digits to
// base 1000, variables, operators, and what separates equations.
text::Tokenizer system_tokenizer();

// Pairs that are drawn as they are needed: backward, but for a fraction of forward ones. Throws DataError where these
// lack their solver.
data::GeneratedPairs pairs_to_train(const std::string& name, const data::SystemDraws& draws, std::uint64_t seed);
// Backward pairs to evaluate on, whose numbers begin at 2^63.
data::PairsInMemory pairs_to_evaluate(const std::string& name, const symbolic::GeneratorSettings& settings, Index count,
                                      std::uint64_t seed);

}  // namespace heddle
