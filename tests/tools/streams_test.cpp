// Lines and blocks of input, byte for byte.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/cli/streams.hpp"
#include "tools/command.hpp"

using namespace heddle;
using namespace heddle::cli;
using heddle::testing::read_file;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;

TEST_CASE("lines: endings, NUL and a missing final newline are kept") {
  const TemporaryFolder folder;
  const std::string bytes = std::string("one\r\n\nt\0wo\n\r\nthr\ree", 19);
  write_file(folder / "text", bytes);
  Input input(folder / "text");
  LineReader lines(input);
  std::vector<std::string> texts, endings;
  std::vector<Index> offsets;
  while (const auto line = lines.next()) {
    texts.emplace_back(line->text);
    endings.emplace_back(line->ending);
    offsets.push_back(lines.offset());
  }
  CHECK(texts == std::vector<std::string>{"one", "", std::string("t\0wo", 4), "", "thr\ree"});
  CHECK(endings == std::vector<std::string>{"\r\n", "\n", "\n", "\r\n", ""});
  CHECK(offsets == std::vector<Index>{0, 5, 6, 11, 13});
  CHECK(lines.where() == (folder / "text") + ":5");
  CHECK(input.size() == Index{19});
  CHECK(input.position() == 19);
}

TEST_CASE("lines: long ones, across blocks of every alignment, add up to the input") {
  const TemporaryFolder folder;
  std::string bytes;
  for (std::size_t length : {0, 1, 262143, 262144, 5, 1000000, 131072, 70000, 0})
    bytes += std::string(length, 'x') + "\n";
  bytes += std::string(600000, 'y');
  write_file(folder / "text", bytes);
  Input input(folder / "text");
  LineReader lines(input);
  std::string joined;
  Index count = 0;
  for (; const auto line = lines.next(); ++count) joined.append(line->text).append(line->ending);
  CHECK(count == 10);
  CHECK(joined == bytes);
}

TEST_CASE("input: empty files, folders, absent files and what is too long") {
  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  Input empty(folder / "empty");
  LineReader no_lines(empty);
  CHECK_FALSE(no_lines.next().has_value());
  CHECK_FALSE(no_lines.next().has_value());
  CHECK_THROWS_AS(Input(folder / "absent"), DataError);
  std::vector<char> block(16);
  Input directory(folder / ".");
  CHECK_THROWS_AS(directory.read(block), DataError);
  write_file(folder / "long", "one\n" + std::string(399996, 'x'));
  Input input(folder / "long");
  LineReader lines(input, LineEnds::feeds, 1000);
  CHECK(lines.next().has_value());
  CHECK_THROWS_WITH_AS(lines.next(), ((folder / "long") + ":2: line longer than 1000 bytes").c_str(), DataError);
  Input again(folder / "long"), whole(folder / "long");
  CHECK_THROWS_WITH_AS(read_all(again, 399999), ((folder / "long") + ": larger than 399999 bytes").c_str(), DataError);
  CHECK(read_all(whole, 400000).size() == 400000);
}

TEST_CASE("output: pieces of any size are written in their order") {
  const TemporaryFolder folder;
  std::string expected;
  Output output(folder / "out");
  char letter = 'a';
  for (const std::size_t size : {3, 400000, 5, 262144, 262143, 1, 262145, 2}) {
    const std::string piece(size, letter++);
    output.stream() << piece;
    expected += piece;
  }
  output.close();
  CHECK(read_file(folder / "out") == expected);
}

TEST_CASE("output: a device is written directly, a folder is refused") {
  Output null("/dev/null");
  null.stream() << "text";
  CHECK_NOTHROW(null.close());
  Output full("/dev/full");
  full.stream() << "text";
  CHECK_THROWS_WITH_AS(full.close(), "/dev/full: cannot write: No space left on device", WriteError);
  CHECK_THROWS_AS(Output("/"), DataError);
}

TEST_CASE("encoding: text that is not UTF-8 is told of once, with its line, however it is cut into blocks") {
  struct Case {
    std::string bytes, wrong;
  };
  const std::string no_utf8 =
      ": is not UTF-8; if the text has another encoding, convert it first with iconv -f ENCODING -t "
      "UTF-8";
  for (const auto& [bytes, wrong] : {
           Case{"", ""},
           Case{"plain\ntext\n", ""},
           Case{"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\n\xC3\xA9", ""},
           Case{"one\ntwo\ncaf\xE9 \xE9\n\xE9", "3" + no_utf8},
           Case{"\xE9", "1" + no_utf8},
           Case{"one\ncut \xE2\x82", "2" + no_utf8},
           Case{"\xE2\x82\n\xAC", "1" + no_utf8},
           Case{"\n\n\x80", "3" + no_utf8},
           Case{"\xFF\xFEo\n", "1: is UTF-16, not UTF-8; convert it first with iconv -f UTF-16 -t UTF-8"},
           Case{"\xFE\xFFo\n", "1: is UTF-16, not UTF-8; convert it first with iconv -f UTF-16 -t UTF-8"},
       }) {
    for (std::size_t block = 1; block <= bytes.size() + 1; ++block) {
      CAPTURE(bytes);
      CAPTURE(block);
      EncodingWatch watch;
      std::vector<std::string> told;
      const auto tell = [&](const std::optional<std::string>& what) {
        if (what) told.push_back(*what);
      };
      for (std::size_t begin = 0; begin < bytes.size(); begin += block) {
        tell(watch.add(std::string_view(bytes).substr(begin, block)));
      }
      tell(watch.finish());
      CHECK(told == (wrong.empty() ? std::vector<std::string>{} : std::vector<std::string>{wrong}));
    }
  }
}
