// Lines and blocks of input, byte for byte.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "heddle/cli/streams.hpp"
#include "tools/command.hpp"

using namespace heddle;
using namespace heddle::cli;
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
  write_file(folder / "long", std::string(400000, 'x'));
  Input input(folder / "long");
  LineReader lines(input, 1000);
  CHECK_THROWS_AS(lines.next(), DataError);
  Input again(folder / "long");
  CHECK_THROWS_AS(read_all(again, 399999), DataError);
}

TEST_CASE("output: a device is written directly, a folder is refused") {
  Output null("/dev/null");
  null.stream() << "text";
  CHECK_NOTHROW(null.close());
  Output full("/dev/full");
  full.stream() << "text";
  CHECK_THROWS_WITH_AS(full.close(), "cannot write /dev/full: No space left on device", DataError);
  CHECK_THROWS_AS(Output("/"), DataError);
}
