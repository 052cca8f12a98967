#include "formats/labelled/marked_words.hpp"

#include "formats/files.hpp"

using namespace heddle;
using namespace heddle::formats;
using heddle::tests::message_of;

TEST_CASE("marked words: a sense, a position and one sentence per line, with and without the sense") {
  const auto words =
      read_marked_words("river bank\t1\tthe bank  flooded\r\nmoney\t0\tbanks fail", "x.tsv", Gold::given);
  REQUIRE(words.size() == 2);
  CHECK(words[0].sense == "river bank");
  CHECK(words[0].position == 1);
  CHECK(words[0].words == std::vector<std::string>{"the", "bank", "flooded"});
  CHECK(words[1].words[0] == "banks");
  CHECK(words[1].line == 2);
  CHECK(read_marked_words("1\ta b\n", "x", Gold::absent)[0].sense.empty());
  CHECK(read_marked_words("", "x", Gold::given).empty());
  CHECK(read_marked_words("1\ta b\r0\tc d\r", "x", Gold::absent)[1].line == 2);
}

TEST_CASE("marked words: every other line is an error that names it") {
  const auto message = [](const std::string& line, Gold gold) {
    return message_of([&] { read_marked_words("0\ta b\n" + line, "x.tsv", gold); });
  };
  CHECK(message("a b", Gold::absent) ==
        "x.tsv:2: the number of columns is 1, not 2; a line is POSITION, tab, SENTENCE");
  for (const std::string position : {"-1", "", "1.5", "x", "+1", "1x", "99999999999999999999"}) {
    CHECK(message(position + "\ta b", Gold::absent) ==
          "x.tsv:2: '" + position + "' is not a position: the number of the word in the sentence, from 0");
  }
  CHECK(message("2\ta b", Gold::absent) == "x.tsv:2: there is no word 2; the sentence has 2, counted from 0");
  CHECK(message("0\t", Gold::absent) == "x.tsv:2: there is no word 0; the sentence has 0, counted from 0");
  CHECK(message_of([] { read_marked_words("\t0\ta", "x.tsv", Gold::given); }).starts_with("x.tsv:1: "));
}

TEST_CASE("marked words: CoarseWSD-20's sentences have the word that they are about where they say") {
  Index sentences = 0;
  const auto read = [&](const std::string& word, const std::string& file) {
    const std::string content = tests::shared_content("coarsewsd20/" + word + "/" + file);
    if (content.empty()) return false;
    for (const data::MarkedWord& example : read_marked_words(content, file, Gold::absent)) {
      CHECK(example.words[static_cast<std::size_t>(example.position)] == word);
      ++sentences;
    }
    return true;
  };
  for (const char* word : {"arm", "chair", "square", "yard"}) {
    if (!read(word, "train.data.txt") || !read(word, "test.data.txt")) return;
  }
  CHECK(sentences == 1919);
  if (read("java", "train.data.txt.gz")) CHECK(sentences == 1919 + 4504);
}
