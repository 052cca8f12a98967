#include "tools/lines/document_cutter.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace heddle;

namespace {

// The documents with bars after them, of inputs that come in parts of `size` bytes.
std::string cut(const std::vector<std::string>& inputs, std::size_t size) {
  std::string documents;
  DocumentCutter cutter(Documents::blank, {.add = [&](std::string_view part) { documents += part; },
                                           .end_document = [&] { documents += '|'; }});
  for (const std::string& text : inputs) {
    for (std::size_t at = 0; at < text.size(); at += size) cutter.add(std::string_view(text).substr(at, size));
    cutter.end_input();
  }
  cutter.finish();
  return documents;
}

}  // namespace

TEST_CASE("document cutter: lines of white space alone separate documents, however the input is cut into parts") {
  for (std::size_t size = 1; size < 12; ++size) {
    CAPTURE(size);
    CHECK(cut({"a\nb\n\nc\n"}, size) == "a\nb\n\n|c\n|");
    CHECK(cut({"a\n \t\r\n\u3000\n  c d\n"}, size) == "a\n \t\r\n\u3000\n|  c d\n|");
    CHECK(cut({"\n \na\n"}, size) == "\n \na\n|");
    CHECK(cut({"a\n\n \u3000"}, size) == "a\n\n \u3000|");
    CHECK(cut({"a\n\n \u3001"}, size) == "a\n\n| \u3001|");
    CHECK(cut({"a\n \xe3\x80\n\nb"}, size) == "a\n \xe3\x80\n\n|b|");
    CHECK(cut({"a\n\n\xe3\x80"}, size) == "a\n\n|\xe3\x80|");
    CHECK(cut({""}, size).empty());
    CHECK(cut({"a", "b\n\nc", "\n\nd\n"}, size) == "a|b\n\n|c|\n\nd\n|");
    CHECK(cut({"a\n ", "", "\n", "b\n\n"}, size) == "a\n |\n|b\n\n|");
  }
}
