// The special tokens that stand for the spans that span corruption takes out of a text, named as T5 names them:
// <extra_id_0>, <extra_id_1>, … (Raffel et al. 2020).
#pragma once

#include <string>
#include <vector>

#include "libcore/text/tokenizer.hpp"

namespace heddle::text {

// "<extra_id_0>" for the first.
std::string sentinel_name(Index number);

// In the order of their numbers, from 0 to the first that the tokenizer lacks.
std::vector<TokenId> sentinels_of(const Tokenizer& tokenizer);

}  // namespace heddle::text
