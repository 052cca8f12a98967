// Every pair of steps, one after the other, against each step spelled out for bytes that know where they come from.
#include "libcore/text/normaliser.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "libcore/text/samples.hpp"

using namespace heddle;
using namespace heddle::text;

namespace {

// A character and the bytes of the first text that it stands for.
struct Traced {
  std::string character;
  std::size_t begin, end;
};

using TracedText = std::vector<Traced>;

struct StepRule {
  std::string name;
  std::function<TracedText(const TracedText&)> apply;
};

bool is_blank(const Traced& one) {
  return one.character == " " || one.character == "\t" || one.character == "\u2003";
}

// The images of single characters; the others stay.
StepRule by_character(const std::string& name,
                      const std::vector<std::pair<std::string, std::vector<std::string>>>& map) {
  return {name, [map](const TracedText& text) {
            TracedText result;
            for (const Traced& one : text) {
              const auto found = std::ranges::find(map, one.character, [](const auto& entry) { return entry.first; });
              if (found == map.end()) result.push_back(one);
              if (found == map.end()) continue;
              for (const std::string& image : found->second) result.push_back({image, one.begin, one.end});
            }
            return result;
          }};
}

TracedText without_blanks(TracedText text, bool left) {
  while (!text.empty() && is_blank(left ? text.front() : text.back())) text.erase(left ? text.begin() : text.end() - 1);
  return text;
}

TracedText with_prefix(TracedText text) {
  if (!text.empty()) text.insert(text.begin(), {"-", text.front().begin, text.front().begin});
  return text;
}

// Runs of a and b become one sign, or nothing.
TracedText with_runs_replaced(const TracedText& text, const std::string& by) {
  TracedText result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && (text[end].character == "a" || text[end].character == "b")) ++end;
    if (end == i) {
      result.push_back(text[i++]);
      continue;
    }
    if (!by.empty()) result.push_back({by, text[i].begin, text[end - 1].end});
    i = end;
  }
  return result;
}

std::vector<StepRule> rules() {
  const auto replacing = [](const std::string& by) {
    return StepRule{"replace\t[ab]+\t" + by, [by](const TracedText& text) { return with_runs_replaced(text, by); }};
  };
  return {by_character("lowercase", {{"B", {"b"}}, {"\u00c9", {"\u00e9"}}}),
          by_character("strip-marks", {{"\u0301", {}}}),
          by_character("strip-accents", {{"\u0301", {}}}),
          by_character("clean", {{"\x01", {}}, {"\t", {" "}}, {"\u2003", {" "}}}),
          by_character("space-chinese", {{"\u4e2d", {" ", "\u4e2d", " "}}}),
          {"strip-left", [](const TracedText& text) { return without_blanks(text, true); }},
          {"strip-right", [](const TracedText& text) { return without_blanks(text, false); }},
          {"prepend\t-", with_prefix},
          replacing("y"),
          replacing("")};
}

TracedText traced(const std::vector<std::string>& characters) {
  TracedText text;
  std::size_t at = 0;
  for (const std::string& character : characters) {
    text.push_back({character, at, at + character.size()});
    at += character.size();
  }
  return text;
}

std::string joined(const TracedText& text) {
  std::string all;
  for (const Traced& one : text) all += one.character;
  return all;
}

// The bytes of a character come from all that it stands for, or, where nothing looked at it, from one byte each.
bool comes_from(const NormalText& text, const TracedText& expected) {
  std::size_t at = 0;
  for (const Traced& one : expected) {
    if (text.origins.at(at).begin != one.begin || text.origins.at(at + one.character.size() - 1).end != one.end) {
      return false;
    }
    at += one.character.size();
  }
  return at == text.origins.size();
}

}  // namespace

TEST_CASE("normaliser: characters that a normal form leaves keep their own places, as many marks as they have") {
  for (const std::string name : {"nfd", "nfkd", "nfc", "nfkc"}) {
    const bool composed = name.ends_with('c');
    const std::string letter = composed ? "\u00e9" : "e\u0301", kept = "x" + letter + "\u05d0\u05b8";
    const NormalText same = Normaliser({name}).apply(kept, true);
    CAPTURE(name);
    CHECK(same.text == kept);
    REQUIRE(same.origins.size() == kept.size());
    for (std::size_t at = 0; at < kept.size(); ++at) {
      CHECK(same.origins[at].begin == at);
      CHECK(same.origins[at].end == at + 1);
    }
    // The other form of the letter: all its bytes come from all of these.
    const std::string other = composed ? "xe\u0301y" : "x\u00e9y";
    const NormalText changed = Normaliser({name}).apply(other, true);
    CHECK(changed.text == "x" + letter + "y");
    for (std::size_t at = 1; at + 1 < changed.text.size(); ++at) {
      CHECK(changed.origins[at].begin == 1);
      CHECK(changed.origins[at].end == other.size() - 1);
    }
  }
}

TEST_CASE("normaliser: every two steps, one after the other, and where what is left comes from") {
  const std::vector<std::string> alphabet{"a", "b", "B", "\u00c9", "\u0301", "\u4e2d", " ", "\t", "\u2003", "\x01"};
  std::vector<std::vector<std::string>> texts{{},         {" "},           {"\t", " ", "\u2003"},
                                              {" ", "a"}, {"b", "\u2003"}, {"\u0301"}};
  Draws draws(1);
  for (int i = 0; i < 12; ++i) {
    std::vector<std::string>& text = texts.emplace_back();
    for (std::size_t left = 1 + draws.below(8); left > 0; --left)
      text.push_back(alphabet[draws.below(alphabet.size())]);
  }
  for (const StepRule& first : rules()) {
    for (const StepRule& second : rules()) {
      const Normaliser normaliser({first.name, second.name});
      for (const std::vector<std::string>& characters : texts) {
        const TracedText text = traced(characters), expected = second.apply(first.apply(text));
        const NormalText found = normaliser.apply(joined(text), true);
        CAPTURE(first.name);
        CAPTURE(second.name);
        CAPTURE(joined(text));
        REQUIRE(found.text == joined(expected));
        REQUIRE(comes_from(found, expected));
        REQUIRE(normaliser.apply(joined(text)).text == found.text);
      }
    }
  }
}
