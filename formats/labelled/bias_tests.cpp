#include "formats/labelled/bias_tests.hpp"

#include <algorithm>
#include <map>

#include "formats/files/lines.hpp"
#include "formats/labelled/labelled_line.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::formats {

namespace {

using data::PlacedText;

void check_text(std::string_view line, const Place& place) {
  check<DataError>(printable_lines(line) == line, place, ": is not UTF-8 text, or has control characters");
}

void check_slot(const PlacedText& text, const std::string& slot, std::string_view file) {
  const std::size_t first = text.text.find(slot);
  check<DataError>(first != std::string::npos && text.text.find(slot, first + 1) == std::string::npos,
                   Place{file, text.line}, ": '", text.text, "' must have ", slot, " in one place");
}

constexpr std::string_view headings = "[templates NAME], [pairs NAME] and [weat NAME]";

// A section while it is read: its lists by key.
struct Section {
  std::string kind, name;
  Index line = 0;
  std::map<std::string, std::vector<PlacedText>> lists;
};

const std::map<std::string, std::vector<std::string>>& keys_of_kinds() {
  static const std::map<std::string, std::vector<std::string>> keys{
      {"templates", {"template", "target", "attribute", "neutral"}},
      {"pairs", {"first", "second"}},
      {"weat", {"x", "y", "a", "b", "context"}}};
  return keys;
}

Section parse_heading(std::string_view line, const Place& place) {
  Section section;
  section.line = place.line;
  const std::string_view inner = trimmed(line.ends_with(']') ? line.substr(1, line.size() - 2) : "", blanks);
  section.kind = inner.substr(0, inner.find(' '));
  section.name = trimmed(inner.substr(section.kind.size()), blanks);
  check<DataError>(keys_of_kinds().contains(section.kind), place, ": '", line, "' does not begin a section; there are ",
                   headings);
  return section;
}

void parse_entry(std::string_view line, const Place& place, Section& section, Room& room) {
  const std::size_t equals = line.find('=');
  check<DataError>(equals != std::string_view::npos, place, ": '", line, "' is not KEY = VALUE");
  const std::string key(trimmed(line.substr(0, equals), blanks));
  const std::vector<std::string>& keys = keys_of_kinds().at(section.kind);
  check<DataError>(std::ranges::find(keys, key) != keys.end(), place, ": '", key, "' is not a key of a section ",
                   section.kind, ", which has ", join(keys));
  const std::string value(trimmed(line.substr(equals + 1), blanks));
  const bool whole = section.kind == "pairs" || key == "template" || key == "context";
  constexpr std::size_t growth = 3;
  room.take((static_cast<std::size_t>(std::ranges::count(value, ',')) + 1) *
            (sizeof(std::string) + growth * sizeof(PlacedText)));
  for (const std::string& part : whole ? std::vector{value} : split(value, ',')) {
    const std::string text(trimmed(part, blanks));
    check<DataError>(!text.empty(), place, ": ", key, " has an empty text");
    section.lists[key].push_back({text, place.line});
  }
}

class Builder {
 public:
  explicit Builder(std::string_view file) : file_(file) {}

  void add(Section section) {
    const auto [known, is_new] = lines_.emplace(section.kind + " " + section.name, section.line);
    check<DataError>(is_new, Place{file_, section.line}, ": there is a section [", known->first, "] in line ",
                     known->second, " already");
    if (section.kind == "templates") {
      tests_.templates.push_back(template_test(section));
    } else if (section.kind == "pairs") {
      tests_.pairs.push_back(pair_test(section));
    } else {
      tests_.words.push_back(word_test(section));
    }
  }
  data::BiasTests take() {
    check<DataError>(!tests_.templates.empty() || !tests_.pairs.empty() || !tests_.words.empty(), file_,
                     ": has no section; there are ", headings);
    return std::move(tests_);
  }

 private:
  // A word that occurs twice, or on both sides, would bias the result.
  void check_distinct(std::initializer_list<const std::vector<PlacedText>*> lists) const {
    std::map<std::string, Index> lines;
    for (const auto* texts : lists) {
      for (const PlacedText& text : *texts) {
        const auto [known, is_new] = lines.emplace(text.text, text.line);
        check<DataError>(is_new, Place{file_, text.line}, ": '", text.text, "' is already in line ", known->second,
                         "; each text counts once");
      }
    }
  }

  std::vector<PlacedText> list(Section& section, const std::string& key, std::size_t least) const {
    std::vector<PlacedText>& texts = section.lists[key];
    check<DataError>(texts.size() >= least, Place{file_, section.line}, ": the section ", section.kind, " ",
                     section.name, " has ", texts.size(), " for ", key, ", and needs at least ", least);
    return std::move(texts);
  }

  data::TemplateTest template_test(Section& section) const {
    data::TemplateTest test{section.name,
                            section.line,
                            list(section, "template", 1),
                            list(section, "target", 2),
                            list(section, "attribute", 1),
                            list(section, "neutral", 0)};
    check<DataError>(test.targets.size() == 2, Place{file_, test.targets.back().line}, ": there are ",
                     test.targets.size(), " targets, but exactly two are compared");
    for (const auto* texts : {&test.templates, &test.targets, &test.attributes, &test.neutral}) check_distinct({texts});
    for (const PlacedText& text : test.templates) {
      check_slot(text, data::target_slot, file_);
      check_slot(text, data::attribute_slot, file_);
    }
    return test;
  }

  data::PairTest pair_test(Section& section) const {
    data::PairTest test{section.name, section.line, list(section, "first", 1), list(section, "second", 1)};
    check<DataError>(test.first.size() == test.second.size(), Place{file_, section.line}, ": the section pairs ",
                     section.name, " has ", test.first.size(), " for first and ", test.second.size(),
                     " for second, and needs as many");
    return test;
  }

  data::WordTest word_test(Section& section) const {
    data::WordTest test{section.name,          section.line,          list(section, "x", 2),      list(section, "y", 2),
                        list(section, "a", 1), list(section, "b", 1), list(section, "context", 0)};
    for (const PlacedText& text : test.contexts) check_slot(text, data::word_slot, file_);
    check_distinct({&test.x, &test.y});
    check_distinct({&test.a, &test.b});
    check_distinct({&test.contexts});
    return test;
  }

  std::string_view file_;
  std::map<std::string, Index> lines_;  // lines of the sections
  data::BiasTests tests_;
};

}  // namespace

data::BiasTests read_bias_tests(std::string_view content, std::string_view file) {
  Builder builder(file);
  Room room(content, file);
  Section section;
  for_each_line(content, file, [&](std::string_view raw, const Place& place) {
    check_text(raw, place);
    const std::string_view line = text::stripped(raw);
    if (line.empty() || line.front() == '#') return;
    const bool begins = line.front() == '[' && line.find('=') == std::string_view::npos;
    check<DataError>(begins || !section.kind.empty(), place, ": '", line,
                     "' stands before the first section; there are ", headings);
    if (!begins) return parse_entry(line, place, section, room);
    if (!section.kind.empty()) builder.add(std::move(section));
    section = parse_heading(line, place);
  });
  if (!section.kind.empty()) builder.add(std::move(section));
  return builder.take();
}

}  // namespace heddle::formats
