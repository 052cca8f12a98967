// Token files: everything that training and inspect read of them.
#include "formats/heddle/token_file.hpp"

#include <algorithm>

#include "fuzz/target.hpp"

namespace heddle::fuzz {

namespace {

void use(const formats::TokenFile& file) {
  constexpr Index most_tokens = 1 << 16, most_documents = 100;
  std::vector<TokenId> ids(static_cast<std::size_t>(std::min(file.size(), most_tokens)));
  read_or_refuse([&] { file.read(file.size() - static_cast<Index>(ids.size()), ids); });
  for (Index i = 0; i < std::min(file.documents(), most_documents); ++i) {
    read_or_refuse([&] {
      const auto [begin, end] = file.document(i);
      expect(0 <= begin && begin <= end && end <= file.size(), "a document beyond the tokens");
    });
  }
  read_or_refuse([&] { file.document_at(file.size() / 2); });
}

}  // namespace

void token_file(std::string_view input) {
  const std::string path = write_input("tokens.h5", input);
  read_or_refuse([&] {
    const formats::TokenFile file(path);
    use(file);
    file.verify();
    use(file.tokenizer());
  });
}

}  // namespace heddle::fuzz
