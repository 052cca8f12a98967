#include <doctest/doctest.h>

#include <cmath>

#include "libcore/base/base64.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/random.hpp"
#include "libcore/base/settings.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/base/visit.hpp"

using namespace heddle;

TEST_CASE("replaced: every occurrence, from the left, once") {
  CHECK(replaced("", "a", "b").empty());
  CHECK(replaced("abcab", "ab", "x") == "xcx");
  CHECK(replaced("aaa", "aa", "b") == "ba");
  CHECK(replaced("aa", "a", "aa") == "aaaa");
  CHECK(replaced("none", "x", "y") == "none");
}

TEST_CASE("philox: the published test vectors") {
  // Known answers of Random123's Philox4x32-10.
  CHECK(philox({0, 0, 0, 0}, {0, 0}) == std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        std::array<std::uint32_t, 4>{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        std::array<std::uint32_t, 4>{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random stream: sixteen blocks at once are those one by one") {
  const RandomStream stream(7, random_site("dropout"), 0x123456789abcull);
  for (const std::uint64_t first : {0ull, 16ull, 5ull, 0xfffffff8ull, 0xffffffffffull}) {
    CAPTURE(first);
    std::array<std::uint32_t, 64> words;
    stream.sixteen_blocks(first, words.data());
    for (std::size_t i = 0; i < words.size(); ++i) REQUIRE(words[i] == stream.block(first + i / 4)[i % 4]);
  }
}

TEST_CASE("random streams: uniform and normal moments, and independence of seed, site and step") {
  const RandomStream stream(7, random_site("here"), 3);
  double sum = 0, square = 0, normal_sum = 0, normal_square = 0;
  constexpr int n = 20000;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double u = stream.uniform(i), z = stream.normal(i);
    REQUIRE((u >= 0 && u < 1));
    sum += u;
    square += u * u;
    normal_sum += z;
    normal_square += z * z;
  }
  CHECK(sum / n == doctest::Approx(0.5).epsilon(0.02));
  CHECK(square / n == doctest::Approx(1.0 / 3).epsilon(0.02));
  CHECK(std::abs(normal_sum / n) < 0.03);
  CHECK(normal_square / n == doctest::Approx(1.0).epsilon(0.03));
  CHECK(stream.uniform(0) == RandomStream(7, random_site("here"), 3).uniform(0));
  CHECK(stream.uniform(0) != RandomStream(8, random_site("here"), 3).uniform(0));
  CHECK(stream.uniform(0) != RandomStream(7, random_site("there"), 3).uniform(0));
  CHECK(stream.uniform(0) != RandomStream(7, random_site("here"), 4).uniform(0));
}

TEST_CASE("random streams: below stays below and reaches everything") {
  const RandomStream stream(1, 2);
  std::array<int, 7> counts{};
  for (std::uint64_t i = 0; i < 7000; ++i) ++counts.at(stream.below(i, 7));
  for (const int count : counts) CHECK(count == doctest::Approx(1000).epsilon(0.15));
}

TEST_CASE("strings: nearest, grouping and UTF-8") {
  CHECK(nearest("learing-rate", {"warmup", "learning-rate", "seed"}) == "learning-rate");
  CHECK(nearest("xyz", {"warmup", "seed"}).empty());
  CHECK(nearest("foo", {"log", "to"}).empty());
  CHECK(nearest("max", {"mean"}).empty());
  CHECK(nearest("jsno", {"seed", "json"}) == "json");
  CHECK(nearest("sead", {"seed", "head"}) == "seed");  // ties: the first
  CHECK(nearest("sead", {"head", "seed"}) == "head");
  CHECK(grouped(124439808) == "124,439,808");
  CHECK(grouped(-1234) == "-1,234");
  CHECK(grouped(999) == "999");
  CHECK(is_utf8("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"));
  CHECK_FALSE(is_utf8("\xc3"));
  CHECK_FALSE(is_utf8("\xc0\x80"));      // overlong
  CHECK_FALSE(is_utf8("\xed\xa0\x80"));  // a surrogate
  CHECK_FALSE(is_utf8("\xf4\x90\x80\x80"));
  CHECK_FALSE(is_utf8("\xe0\x9f\xbf"));  // the last overlong ones of three bytes and of four
  CHECK_FALSE(is_utf8("\xf0\x8f\xbf\xbf"));
  CHECK(is_utf8("\xe0\xa0\x80 \xf0\x90\x80\x80 \xf4\x8f\xbf\xbf"));
  CHECK(split("a,,b", ',') == std::vector<std::string>{"a", "", "b"});
  CHECK(join({"a", "b"}, " ") == "a b");
  CHECK(join_first({"a", "b"}, 2) == "a, b");
  CHECK(join_first({"a", "b", "c", "d"}, 2) == "a, b and 2 more");
}

namespace {
enum class Colour { red, dark_blue };
struct Inner {
  double rate = 0.5;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("rate", "a rate").above(0, 1), self.rate);
  }
};
struct Outer {
  Index count = 3;
  Inner inner;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("count", "how many").range(1, 10), self.count);
    visitor(Field("inner", "Inner things"), self.inner);
  }
};
}  // namespace
template <>
struct heddle::Names<Colour> {
  static constexpr std::pair<Colour, std::string_view> list[] = {{Colour::red, "red"},
                                                                 {Colour::dark_blue, "dark-blue"}};
};

TEST_CASE("visit: ranges are checked through sections, and enumerations have names") {
  static_assert(Visitable<Outer> && Visitable<const Outer> && !Visitable<int>);
  Outer outer;
  CHECK_NOTHROW(check_ranges(outer));
  outer.inner.rate = 0;
  CHECK_THROWS_WITH_AS(check_ranges(outer), "`rate` = 0 must be more than 0 and at most 1", UsageError);
  outer = {.count = 11, .inner = {}};
  CHECK_THROWS_WITH_AS(check_ranges(outer, "x: "), "x: `count` = 11 must be from 1 to 10", UsageError);
  CHECK(to_text(Colour::dark_blue) == "dark-blue");
  CHECK(from_text<Colour>("red") == Colour::red);
  CHECK_THROWS_WITH_AS(from_text<Colour>("darkblue"),
                       "'darkblue' is not one of red, dark-blue; did you mean 'dark-blue'?", UsageError);
}

TEST_CASE("field names: files have them without backquotes, and other backquotes stay") {
  CHECK(plain_field_names("`kv_heads` = 3 does not divide `heads` = 8 (`h2o`)\n`a`\t`b`") ==
        "kv_heads = 3 does not divide heads = 8 (h2o)\na\tb");
  CHECK(plain_field_names("`a b` `width`, `x` `y") == "`a b` width, x `y");
  for (const char* none : {"", "width", "`", "``", "`width", "width`", "`Width`", "`2d`", "`_x`", "`a-b`", "`--x`",
                           "`\u00e9`", "x`width`", "'`width`'", "\"`width`\""}) {
    CAPTURE(none);
    CHECK(plain_field_names(none) == none);
    CHECK_FALSE(next_field_name(none, 0));
  }
  const std::string text = "a `b_2` c";
  const auto found = next_field_name(text, 1);
  REQUIRE(found);
  CHECK(found->name == "b_2");
  CHECK(text.substr(found->begin, found->end - found->begin) == "`b_2`");
  CHECK_FALSE(next_field_name(text, found->begin + 1));
}

TEST_CASE("errors: a zero byte does not end the message") {
  DataError error(std::string("x\0y", 3) + ": is not there");
  CHECK(std::string(error.what()) == "x\\x00y: is not there");
  error.reword(std::string("a\0\0: why", 8));
  CHECK(std::string(error.what()) == "a\\x00\\x00: why");
}

TEST_CASE("errors: a new message leaves kind and exit status") {
  try {
    try {
      throw NumericError("`a` = 1");
    } catch (Error& error) {
      error.reword("a = 1");
      throw;
    }
  } catch (const NumericError& error) {
    CHECK(std::string(error.what()) == "a = 1");
    CHECK(error.exit_status() == 3);
  }
}

TEST_CASE("printable: what controls a terminal is shown as bytes") {
  CHECK(printable("plain text, \"quoted\" é 日本 \\n") == "plain text, \"quoted\" é 日本 \\n");
  CHECK(printable("\x1b[31m\a\n\t\x7f") == "\\x1b[31m\\x07\\x0a\\x09\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\u009b31m \u0080\u009f\u00a0") == "\\xc2\\x9b31m \\xc2\\x80\\xc2\\x9f\u00a0");
  CHECK(printable("\xff \xc2 \xc0\x9b \xed\xa0\x80 \xf4\x90\x80\x80") ==
        "\\xff \\xc2 \\xc0\\x9b \\xed\\xa0\\x80 \\xf4\\x90\\x80\\x80");
  CHECK(printable("\u2028\u202e\u2066x\u2069") == "\\xe2\\x80\\xa8\\xe2\\x80\\xae\\xe2\\x81\\xa6x\\xe2\\x81\\xa9");
  CHECK(printable("\u061c\u200e\u200f") == "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f");
  CHECK(printable_json("\u061c\u200e\u200f\u0627") == "\\u061c\\u200e\\u200f\u0627");
  CHECK(printable("\u2027\u202f\u2065\u206a") == "\u2027\u202f\u2065\u206a");
  CHECK(printable_lines("a\tb\n\r\x1b") == "a\tb\n\\x0d\\x1b");
  CHECK(is_printable("é"));
  CHECK_FALSE(is_printable("\u009b"));
  CHECK_FALSE(is_printable("\xe9"));
}

TEST_CASE("printable: JSON keeps its meaning") {
  CHECK(printable_json("{\"a\":\"\u009b\u0080\u009f\x7f\"}") == "{\"a\":\"\\u009b\\u0080\\u009f\\u007f\"}");
  CHECK(printable_json("\"é\u00a0\u00bf日本\"") == "\"é\u00a0\u00bf日本\"");
  const std::string a(5000, 'a'), euros = "€€€€€€€€€€";
  CHECK(printable_message(a + a) == a + a);
  const std::string cut = printable_message(a + euros + a + a + "\x1b" + a);
  CHECK(cut.starts_with(a + euros + "aaa"));
  CHECK(cut.size() < 9100);
  CHECK(cut.find("a … a") != cut.npos);
  // Overrides of the direction and ends of lines, beside other characters of the same first byte.
  CHECK(printable_json("\"\u202e\u2028\u2066\"") == "\"\\u202e\\u2028\\u2066\"");
  CHECK(printable_json("\"\u2027\u202f\u2065\u206a€\"") == "\"\u2027\u202f\u2065\u206a€\"");
}

TEST_CASE("printable: a long message is cut between characters") {
  // The first 7000 bytes end within a character, as the last 2000 begin within one.
  const std::string begin(6999, 'a'), end(1999, 'c');
  CHECK(printable_message(begin + "€" + std::string(1000, 'b') + "€" + end) == begin + " … " + end);
}

TEST_CASE("display width: columns of a terminal") {
  CHECK(display_width("") == 0);
  CHECK(display_width("plain") == 5);
  CHECK(display_width("naïve") == 5);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("日本語") == 6);
  CHECK(display_width("한글") == 4);
  CHECK(display_width("😀") == 2);
  CHECK(display_width("\u200d") == 0);
  CHECK(display_width("a\xff\xe2"
                      "b") == 4);  // bytes that are no UTF-8 take a column each
  CHECK(display_width("ſ\u0300\u036f\u0370") == 2);
}

// Widths are those of Python's wcwidth, ends of clusters those of Unicode's GraphemeBreakTest.txt.
TEST_CASE("display width: what is drawn as one character is measured as one") {
  CHECK(display_width("\U0001F468\u200D\U0001F469\u200D\U0001F467") == 2);
  CHECK(display_width("\U0001F44D\U0001F3FD") == 2);
  CHECK(display_width("\u2764\uFE0F") == 2);
  CHECK(display_width("1\uFE0F\u20E3") == 2);
  CHECK(display_width("\U0001F1E9\U0001F1EA\U0001F1EB\U0001F1F7") == 4);
  CHECK(display_width("\u0915\u0941\u0932") == 2);
  CHECK(grapheme_end("e\u0301x", 0) == 3);
  CHECK(grapheme_end("e\u0301x", 3) == 4);
  CHECK(grapheme_end("\U0001F1E9\U0001F1EA\U0001F1EB", 0) == 8);
  CHECK(grapheme_end("\r\n", 0) == 2);
  CHECK(grapheme_end("a\xff\u0301", 0) == 1);
  CHECK(grapheme_end("a\xff\u0301", 1) == 2);
}

TEST_CASE("values in tables show three significant digits at least, and never zero for what is not") {
  const std::pair<double, const char*> examples[] = {
      {0, "0.0000"},          {0.5, "0.5000"},        {1, "1.0000"},          {12.34567, "12.3457"},
      {0.012345, "0.0123"},   {0.00123, "0.00123"},   {-0.00123, "-0.00123"}, {0.0000123, "0.0000123"},
      {1.234e-7, "1.23e-07"}, {-2e-300, "-2.00e-300"}};
  for (const auto& [value, text] : examples) CHECK(format_fixed(value, 4) == text);
  CHECK(format_fixed(98, 1) == "98.0");
  CHECK(format_fixed(0, 2) == "0.00");
  CHECK(format_fixed(0, 0) == "0");
  CHECK(format_fixed(0.004, 2) == "0.00400");
}

TEST_CASE("base64: RFC 4648's examples, any bytes there and back") {
  const std::pair<const char*, const char*> examples[] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                                          {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"any+", "YW55Kw=="}};
  for (const auto& [bytes, text] : examples) {
    CHECK(to_base64(bytes) == text);
    CHECK(from_base64(text) == bytes);
  }
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  CHECK(from_base64(to_base64(every)) == every);
  CHECK_FALSE(from_base64("Zm9v!").has_value());
}

TEST_CASE("settings: what is as by default is left out of the text, whatever kind it is, and the rest is read again") {
  const auto read = [](Settings& settings) {
    const double number = settings.number("number", 0.5);
    const Index index = settings.index("index", 3, 0, 9);
    const bool flag = settings.flag("flag", true);
    const std::string word = settings.word("word", "usual", {"usual", "other", "a,b"});
    settings.refuse_others();
    return std::tuple(number, index, flag, word);
  };
  const auto shortest = [&](const std::string& text) {
    Settings settings(text);
    const auto values = read(settings);
    const std::string result = settings.without_fallbacks();
    Settings again(result);
    CHECK(read(again) == values);
    return result;
  };
  CHECK(shortest("name") == "name");
  CHECK(shortest("name:number=0.5,index=3,flag=1,word=usual") == "name");
  CHECK(shortest("name:number=0.25,index=3,flag=0,word=usual") == "name:flag=0,number=0.25");
  CHECK(shortest("name:number=0.50,index=4,word=other") == "name:index=4,word=other");
  for (const std::string word : {"usual", "other", "a,b"}) {
    CHECK(shortest("name:word=" + escape_element(word)) ==
          (word == "usual" ? "name" : "name:word=" + escape_element(word)));
  }
}
