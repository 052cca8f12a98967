#include "libcore/text/sentinels.hpp"

namespace heddle::text {

std::string sentinel_name(Index number) {
  return "<extra_id_" + std::to_string(number) + ">";
}

std::vector<TokenId> sentinels_of(const Tokenizer& tokenizer) {
  std::vector<TokenId> sentinels;
  while (const auto id = tokenizer.id_of(sentinel_name(static_cast<Index>(sentinels.size())))) sentinels.push_back(*id);
  return sentinels;
}

}  // namespace heddle::text
