// Damaged labelled data: every reader gives examples or a DataError, whatever the bytes.
#include <doctest/doctest.h>

#include "formats/files.hpp"
#include "libcore/base/random.hpp"
#include "support/labelled.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using namespace std::string_literals;

namespace {

// Some bytes replaced, removed or doubled.
std::string damaged(std::string content, const RandomStream& random) {
  static const std::string alphabet = "\t\n\r\0\"\\{}[],:-.#09aZ\xff\xc3\xe2 "s;
  const std::uint64_t changes = 1 + random.below(0, 4);
  for (std::uint64_t change = 1; change <= changes && !content.empty(); ++change) {
    const auto at = static_cast<std::size_t>(random.below(3 * change, content.size()));
    const char byte = alphabet[static_cast<std::size_t>(random.below(3 * change + 1, alphabet.size()))];
    switch (random.below(3 * change + 2, 4)) {
      case 0:
        content[at] = byte;
        break;
      case 1:
        content.insert(at, 1, byte);
        break;
      case 2:
        content.erase(at, 1 + at % 7);
        break;
      default:
        content.insert(at, content.substr(at / 2, 1 + at % 20));
    }
  }
  return content;
}

template <class Read>
void survive(const std::string& content, const Read& read) {
  REQUIRE(read(content) == "");
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const std::string message = read(damaged(content, RandomStream(seed, random_site("damage"))));
    if (!message.empty()) {
      ++refused;
      CHECK(message.starts_with("x:"));
    }
  }
  CHECK(refused > 100);
}

}  // namespace

TEST_CASE("labelled data: damage is refused or read, never more") {
  survive("ham\thello\nspam\tbuy\n", [](const std::string& content) {
    return message_of([&] { read_tsv(content, "x", Texts::one, Gold::given); });
  });
  survive("text,label\nhello,ham\n\"buy, \"\"now\"\"\nor never\",spam\n", [](const std::string& content) {
    return message_of([&] { read_csv(content, "x", Texts::one, Gold::given); });
  });
  survive("New\tB-loc\nYork\tI-loc\n\nis\tO\n",
          [](const std::string& content) { return message_of([&] { read_conll(content, "x", "", Gold::given); }); });
  survive("# c\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\t_\tADP\t_\t_\t_\t_\t_\t_\n1.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n",
          [](const std::string& content) { return message_of([&] { read_conllu(content, "x", "", Gold::given); }); });
  survive(R"({"text": "a\u00e9", "label": "x"})"
          "\n"
          R"({"text": "", "label": 1.5})",
          [](const std::string& content) {
            return message_of([&] { read_jsonl_texts(content, "x", Texts::one, Gold::given); });
          });
  survive(R"({"data": [{"paragraphs": [{"context": "é Max", "qas": [{"id": "1", "question": "?",
 "answers": [{"text": "Max", "answer_start": 2}], "is_impossible": false}]}]}]})",
          [](const std::string& content) { return message_of([&] { read_squad(content, "x", Gold::given); }); });
}
