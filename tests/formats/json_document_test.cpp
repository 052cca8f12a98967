// JSON of strangers: what is taken, what is refused and where, and names of places.
#include "formats/files.hpp"
#include "formats/json/members.hpp"
#include "formats/json/node.hpp"

using namespace heddle;
using namespace heddle::formats;
using heddle::tests::contains;
using heddle::tests::message_of;

namespace {

std::string refusal(const std::string& text) {
  return message_of([&] { JsonDocument(text, "x.json"); });
}

}  // namespace

TEST_CASE("JSON: members are those of the object, whatever stands before its brace") {
  const std::vector<std::string> keys{"b"};
  const std::string object = R"({ "a": "x\"}", "b": [1, {"c": 2}] , "d" :null})";
  for (const std::string before : {"", " \t", "\xEF\xBB\xBF", "\xEF\xBB\xBF "}) {
    CHECK(members_except(before + object + " ", keys) == R"("a": "x\"}","d" :null)");
    CHECK(members_except(before + "{}", keys).empty());
  }
}

// As an object in a list, which begins at the eleventh byte of the seventh line.
TEST_CASE("JSON: places in a document that does not begin its line") {
  const auto refusal_at = [](const std::string& text) {
    return message_of([&] { JsonDocument(text, "x.json", 7, 11); });
  };
  CHECK(refusal_at("{\"a\" 1}") == "x.json:7: not valid JSON, at byte 16 of the line");
  CHECK(refusal_at("{\"a\":\n 1 2}") == "x.json:8: not valid JSON, at byte 4 of the line");
}

TEST_CASE("JSON: values of every kind") {
  const JsonDocument document(
      R"( {"a": [1, -2.5e1, true, false, null, "t"], "b": {}, "c": [], "é": {"d": 18446744073709551615}} )", "x.json");
  const JsonNode root(document);
  CHECK(root.size() == 4);
  const JsonNode a = root["a"];
  REQUIRE(a.size() == 6);
  auto part = a.list().begin();
  CHECK((*part).number() == 1);
  CHECK((*++part).real() == -25);
  CHECK((*++part).flag());
  CHECK_FALSE((*++part).flag());
  CHECK((*++part).is_null());
  CHECK((*++part).text() == "t");
  CHECK(root["b"].size() == 0);
  CHECK_FALSE(root["b"].members().begin() != root["b"].members().end());
  CHECK(root["c"].size() == 0);
  CHECK(root["é"]["d"].is_count());
  CHECK(root["é"]["d"].real() == doctest::Approx(1.8446744073709552e19));
  std::string keys;
  for (const JsonNode& member : root.members()) keys += std::string(member.key()) + " ";
  CHECK(keys == "a b c é ");
}

TEST_CASE("JSON: escapes stand for characters") {
  const auto text_of = [](const std::string& content) {
    const JsonDocument document(content, "x");
    return std::string(JsonNode(document).text());
  };
  CHECK(text_of(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(text_of(R"("a\u00e9\u20AC\ud83d\ude00z")") == "aé€😀z");
  CHECK(text_of(R"("\u0000")") == std::string(1, '\0'));
  for (const char* bad : {R"("\x41")", R"("\u12")", R"("\u12g4")", R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\u0041")",
                          R"("\udc00")", "\"\\", "\"a", "\"a\nb\"", "\"\xff\"", "\"\xc0\x80\""}) {
    CAPTURE(bad);
    CHECK(refusal(bad).starts_with("x.json:1: not valid JSON, at byte "));
  }
}

TEST_CASE("JSON: what is no JSON is refused with its place") {
  CHECK(refusal("{\"a\": NaN}") ==
        "x.json:1: not valid JSON, at byte 7 of the line: JSON has no NaN; null can stand for it");
  CHECK(contains(refusal("[-Infinity]"), "at byte 2 of the line: JSON has no -Infinity"));
  for (const std::string cut : {R"(["\ud83d"])", R"(["\ud83d x"])", R"(["\ude00"])", R"(["\ud83d\ud83d"])"}) {
    CHECK(contains(refusal(cut), "half of a surrogate pair"));
  }
  CHECK(refusal("[1,\n 2,\n 3 4]") == "x.json:3: not valid JSON, at byte 4 of the line");
  CHECK(refusal("{\"a\\n\": 1,\n x}") == "x.json:2: not valid JSON, at byte 2 of the line");
  for (const char* bad :
       {"",   " ",  "[",  "]", "{",   "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}",    "01",  "1.",
        ".5", "1e", "+1", "-", "tru", "nul",  "1 2",  "[1]x",    "'a'",      "NaN",        "Infinity", "0x10"}) {
    CAPTURE(bad);
    CHECK(refusal(bad).starts_with("x.json:1: not valid JSON, at byte "));
  }
  CHECK(refusal(std::string("[1\0]", 4)).starts_with("x.json:1: not valid JSON"));
  CHECK(refusal("[1e999]") == "x.json:1: a number is too large");
  CHECK(refusal("[1e-999]") == "");
  CHECK(refusal("\xEF\xBB\xBF[1]") == "");
  const std::string deep(128, '['), deeper(129, '[');
  CHECK(refusal(deep + std::string(128, ']')) == "");
  CHECK(refusal("[\"\\\"" + std::string(200, '[') + "\"]") == "");  // in a string, after a quote in it
  CHECK(refusal(deeper + std::string(129, ']')).find("more than 128 levels") != std::string::npos);
}

TEST_CASE("JSON: a key that comes twice is refused, however it is written and wherever it stands") {
  const char* const message = "x.json:1: the object that ends in this line repeats the key 'a'";
  CHECK(refusal(R"({"a": 1, "b": 2, "a": 1})") == message);
  CHECK(refusal(R"({"a": 1, "\u0061": 1})") == message);
  CHECK(refusal(R"([{"x": {"a": [], "b": {"a": 1}, "a": 0}}])") == message);
  CHECK(refusal(R"({"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]})") == "");
}

TEST_CASE("JSON: errors name the place of a value") {
  const JsonDocument document(R"({"model": {"vocab": [[], {"a b": 5}, 7]}, "x.y": {"z": "t"}})", "x.json");
  const JsonNode root(document);
  const auto third = [&] { return *++ ++root["model"]["vocab"].list().begin(); };
  CHECK(message_of([&] { third().text(); }) == "x.json: model.vocab[2]: must be text, not 7");
  CHECK(message_of([&] { (*++root["model"]["vocab"].list().begin())["a b"].text(); }) ==
        "x.json: model.vocab[1].'a\\sb': must be text, not 5");
  CHECK(message_of([&] { root["x.y"]["z"].number(9); }) ==
        "x.json: 'x.y'.z: must be a whole number from 0 to 9, not \"t\"");
  CHECK(message_of([&] { root["none"].text(); }) == "x.json: none: must be text, not null");
  CHECK(message_of([&] { root["none"]["deeper"]; }) == "x.json: none: must be an object, not null");
  CHECK(message_of([&] { root["model"]["none"].flag(); }) == "x.json: model.none: must be true or false, not null");
  CHECK(message_of([&] { root.text(); }) ==
        "x.json: must be text, not {\"model\":{\"vocab\":[[],{\"a b\":5},7]},\"x.y\":{\"z\":\"t\"}}");
}

TEST_CASE("JSON: of a long value, errors show the beginning") {
  std::string list = "[10";
  for (int i = 11; i < 90; ++i) list += "," + std::to_string(i);
  const JsonDocument document(list + "]", "x.json");
  CHECK(message_of([&] { JsonNode(document).text(); }) == "x.json: must be text, not " + list.substr(0, 60) + "…");
}

TEST_CASE("JSON: numbers are counts, or not") {
  const auto number = [](const std::string& content) {
    const JsonDocument document(content, "x");
    return JsonNode(document).number();
  };
  CHECK(number("0") == 0);
  CHECK(number("2147483647") == 2147483647);
  for (const char* bad : {"2147483648", "99999999999999999999", "-1", "-0", "1.0", "1e3"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(number(bad), DataError);
  }
}

TEST_CASE("JSON: members by name among many that begin alike, in any order; a repeated key wherever it comes again") {
  std::vector<std::string> names{"", "\xc3\xa9"};
  for (int i = 0; i < 60; ++i)
    names.push_back(std::string(static_cast<std::size_t>(i * 7 % 5), 'a') + std::to_string(i * 37 % 60));
  std::string text = "{";
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "\"" : ",\"") + names[i] + "\":" + std::to_string(i);
  }
  const JsonDocument document(text + "}", "x.json");
  const JsonNode root(document);
  REQUIRE(root.size() == names.size());
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(root[names[i]].number() == static_cast<Index>(i));
  for (const std::string& name : names) {
    CHECK(contains(refusal(text + ",\"" + name + "\":[{}]}"), "repeats the key"));
    CHECK(refusal(text + ",\"other\":{\"" + name + "\":1}}").empty());
  }
}
