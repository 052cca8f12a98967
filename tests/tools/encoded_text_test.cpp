// Texts as tokens in memory, beside a list of all their tokens.
#include "tools/lines/encoded_text.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"

using namespace heddle;

namespace encoded_text_tests {

TEST_CASE("encoded text: each token is in its document, also the first and the last one of each") {
  EncodedText text(100, "t");
  const std::vector<Index> lengths{3, 1, 0, 5, 2};
  std::vector<Index> documents;
  for (std::size_t document = 0; document < lengths.size(); ++document) {
    for (Index i = 0; i < lengths[document]; ++i) {
      text.append(std::vector<TokenId>{static_cast<TokenId>(documents.size())});
      documents.push_back(static_cast<Index>(document));
    }
    text.end_document();
  }
  REQUIRE(text.size() == 11);
  CHECK(text.document_lengths() == lengths);
  for (Index offset = 0; offset < text.size(); ++offset) {
    CAPTURE(offset);
    CHECK(text.document_at(offset) == documents[static_cast<std::size_t>(offset)]);
  }
}

TEST_CASE("encoded text: tokens around the ends of blocks, of small vocabularies and of large ones") {
  constexpr Index block = Index{1} << 20, size = 2 * block + 5;
  for (const Index vocab : {65536, 65537}) {
    const auto token = [vocab](Index i) { return static_cast<TokenId>(vocab - 1 - i % 1000); };
    EncodedText text(vocab, "t");
    std::vector<TokenId> part;
    for (Index i = 0; i < size; ++i) {
      part.push_back(token(i));
      if (i % 70001 == 0 || i + 1 == size) {
        text.append(part);
        part.clear();
      }
    }
    text.end_document();
    REQUIRE(text.size() == size);
    for (const Index offset : {Index{0}, block - 2, block - 1, block, 2 * block - 1, size - 3}) {
      for (const Index count : {Index{1}, Index{3}, std::min(size - offset, block + 2)}) {
        std::vector<TokenId> read(static_cast<std::size_t>(count));
        text.read(offset, read);
        bool is_right = true;
        for (Index i = 0; i < count; ++i) is_right = is_right && read[static_cast<std::size_t>(i)] == token(offset + i);
        CHECK(is_right);
      }
    }
    std::vector<TokenId> beyond(2);
    CHECK_THROWS_AS(text.read(size - 1, beyond), DataError);
  }
}

}  // namespace encoded_text_tests
