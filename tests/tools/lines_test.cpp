// Helpers of readers of texts: places in inputs, characters and rows that are cut, and counted bytes.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tools/command.hpp"
#include "tools/lines/document_encoder.hpp"
#include "tools/lines/document_reader.hpp"
#include "tools/lines/input_texts.hpp"
#include "tools/lines/invalid_bytes.hpp"

using namespace heddle;

namespace lines_tests {

namespace {

using Strings = std::vector<std::string>;

Strings texts_of(const std::string& path, TextUnit unit) {
  cli::Input input(path);
  InputTexts reader(input, unit);
  Strings texts;
  while (const auto text = reader.next([] {})) texts.push_back(concatenate(text->line, ":", text->text));
  return texts;
}

}  // namespace

TEST_CASE("places: of a document over several inputs, which may begin and end within its lines") {
  const Strings inputs{"ab", "cde\nf", "", "gh\n", "i"};
  for (const bool apart : {false, true}) {
    Places places;
    text::TextPosition in_document;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::string name(1, static_cast<char>('p' + i));
      places.begin_input(name);
      Index line = 1, byte = 1;
      for (const char letter : inputs[i]) {
        CHECK(places.text_of(in_document) == concatenate(name, ":", line, ":", byte));
        places.advance({&letter, 1});
        in_document.advance(std::string_view(&letter, 1));
        byte = letter == '\n' ? 1 : byte + 1;
        line += letter == '\n' ? 1 : 0;
      }
      if (!apart) continue;
      places.begin_document();
      places.finish_document();
      in_document = {};
    }
  }
}

TEST_CASE("unfinished bytes: those of a character of two to four bytes that are there before its last one") {
  for (const std::string whole : {"\u00e9", "\u4e2d", "\U0001F600"}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      CAPTURE(whole);
      CAPTURE(size);
      const std::size_t expected = size < whole.size() ? size : 0;
      CHECK(unfinished_bytes(whole.substr(0, size)) == expected);
      CHECK(unfinished_bytes("a" + whole.substr(0, size)) == expected);
      CHECK(unfinished_bytes(whole + whole.substr(0, size)) == expected);
    }
  }
  CHECK(unfinished_bytes("\x80\x80\x80\x80") == 0);
}

TEST_CASE("texts of an input: rows whose quotes hold line ends and doubled quotes, beside the other units") {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "t.csv";
  testing::write_file(path, "\"x\"\"\ny\",1\nz\"\"w,2\n\"\",\"\"\"\"\n\"a;\n\"\"\";\"\nb\"\n");
  CHECK(texts_of(path, TextUnit::row) ==
        Strings{"1:\"x\"\"\ny\",1\n", "3:z\"\"w,2\n", "4:\"\",\"\"\"\"\n", "5:\"a;\n\"\"\";\"\nb\"\n"});
  CHECK(texts_of(path, TextUnit::line).size() == 7);
  CHECK(texts_of(path, TextUnit::document).size() == 1);
}

TEST_CASE("bytes of special tokens: unknown characters are text, other special tokens are not") {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::character;
  model.pieces = {"<unk>", "<s>", "a", "<added>"};
  model.special_tokens = {0, 1};
  model.added_tokens = {3};
  model.unknown = 0;
  const text::Tokenizer tokenizer(model);
  CHECK(spelled_bytes(tokenizer, std::vector<TokenId>{0, 1, 2, 0, 1, 3}) == 6);
}

}  // namespace lines_tests
