// Systems as prefix tokens: what is read has the same tokens again, one blank apart.
#include "fuzz/target.hpp"
#include "libcore/symbolic/tree.hpp"

void heddle::fuzz::prefix_system(std::string_view input) {
  read_or_refuse([&] {
    const symbolic::System system = symbolic::read_prefix_system(input);
    const std::string tokens = symbolic::prefix(system);
    expect(symbolic::prefix(symbolic::read_prefix_system(tokens)) == tokens, "tokens that change");
    std::string single;
    for (const char c : input)
      if (c != ' ' || (!single.empty() && single.back() != ' ')) single += c;
    while (single.ends_with(' ')) single.pop_back();
    expect(single == tokens, "tokens that are not those that were read");
  });
}
