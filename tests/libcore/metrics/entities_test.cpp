#include "libcore/metrics/entities.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "formats/files.hpp"
#include "libcore/base/random.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

using Tags = std::vector<std::string>;

// Word by word, with the state of both sides, as conlleval counts.
Matches counted_word_by_word(const Tags& gold, const Tags& predicted) {
  struct Tag {
    char mark;
    std::string type;
  };
  const auto tag_at = [](const Tags& tags, std::size_t i) {
    return i < tags.size() && tags[i] != "O" ? Tag{tags[i][0], tags[i].substr(2)} : Tag{'O', ""};
  };
  const auto ends = [](const Tag& before, const Tag& now) {
    return before.mark != 'O' && (now.mark == 'B' || now.mark == 'O' || now.type != before.type);
  };
  const auto begins = [](const Tag& before, const Tag& now) {
    return now.mark != 'O' && (now.mark == 'B' || before.mark == 'O' || now.type != before.type);
  };
  Matches counts;
  bool agree = false;
  Tag gold_before{'O', ""}, predicted_before{'O', ""};
  for (std::size_t i = 0; i <= gold.size(); ++i) {
    const Tag g = tag_at(gold, i), p = tag_at(predicted, i);
    const bool gold_ends = ends(gold_before, g), predicted_ends = ends(predicted_before, p);
    if (agree && gold_ends && predicted_ends) {
      ++counts.correct;
      agree = false;
    } else if (agree && (gold_ends != predicted_ends || g.type != p.type)) {
      agree = false;
    }
    const bool gold_begins = begins(gold_before, g), predicted_begins = begins(predicted_before, p);
    counts.gold += gold_begins;
    counts.predicted += predicted_begins;
    if (gold_begins && predicted_begins && g.type == p.type) agree = true;
    gold_before = g;
    predicted_before = p;
  }
  return counts;
}

}  // namespace

TEST_CASE("entities: where they begin and end") {
  const Tags tags = {"B-loc", "I-loc", "B-loc", "O", "I-per", "I-per", "I-loc", "B-per", "I-loc"};
  const std::vector<Entity> expected = {{"loc", 0, 2}, {"loc", 2, 3}, {"per", 4, 6},
                                        {"loc", 6, 7}, {"per", 7, 8}, {"loc", 8, 9}};
  CHECK(entities(tags) == expected);
  CHECK(entities(Tags{"O", "NOUN", "O"}).empty());
  CHECK(entities({}).empty());
  CHECK(entities(Tags{"B-a-b", "I-a-b"}) == std::vector<Entity>{{"a-b", 0, 2}});
}

TEST_CASE("entities: which names are tags of entities, and where their marks are") {
  for (const Tags& names : std::vector<Tags>{{"O", "B-loc", "I-loc"},
                                             {"B-MISC", "E-MISC", "O", "S-LOC"},
                                             {"B-x", "I-x", "L-x", "U-x", "O"},
                                             {"B_x", "M_x", "E_x", "W_x"},
                                             {"B", "I", "O"},
                                             {"I", "O"},
                                             {"B", "M", "E", "S"}}) {
    CAPTURE(join(names));
    CHECK(mark_of_entities(names) == Mark::first);
  }
  CHECK(mark_of_entities(Tags{"O", "PER-B", "PER-I", "LOC_S"}) == Mark::last);
  for (const Tags& names : std::vector<Tags>{{"O"},
                                             {"NOUN", "B-loc"},
                                             {},
                                             {"B-loc", "PER-B"},
                                             {"S", "O"},
                                             {"I", "E"},
                                             {"b-x", "O"},
                                             {"B-", "O"},
                                             {"X-loc", "O"}}) {
    CAPTURE(join(names));
    CHECK_FALSE(mark_of_entities(names).has_value());
  }
}

// The entities that seqeval's get_entities() gives of these tags.
TEST_CASE("entities: of other marks, of tags without types, and of marks at the end") {
  using Found = std::vector<Entity>;
  CHECK(entities(Tags{"B-x", "E-x", "B-x", "I-x", "E-x", "S-y", "O"}) == Found{{"x", 0, 2}, {"x", 2, 5}, {"y", 5, 6}});
  CHECK(entities(Tags{"B-x", "L-x", "U-x", "U-x"}) == Found{{"x", 0, 2}, {"x", 2, 3}, {"x", 3, 4}});
  CHECK(entities(Tags{"E-x", "E-x", "I-x", "S-x", "I-x"}) ==
        Found{{"x", 0, 1}, {"x", 1, 2}, {"x", 2, 3}, {"x", 3, 4}, {"x", 4, 5}});
  CHECK(entities(Tags{"B", "I", "O", "I", "B"}) == Found{{"entity", 0, 2}, {"entity", 3, 4}, {"entity", 4, 5}});
  CHECK(entities(Tags{"B", "M", "E", "S"}) == Found{{"entity", 0, 3}, {"entity", 3, 4}});
  CHECK(entities(Tags{"PER-B", "PER-I", "O", "a_b_S"}, Mark::last) == Found{{"PER", 0, 2}, {"a_b", 3, 4}});
  CHECK(entities(Tags{"PER-B"}).empty());
}

TEST_CASE("entities: scores worked by hand") {
  EntityMatches matches;
  // Right; too long; of the wrong type; missed.
  add_entities(Tags{"B-per", "I-per", "O", "B-loc", "O"}, Tags{"B-per", "I-per", "O", "B-loc", "I-loc"}, matches);
  add_entities(Tags{"B-per", "O", "B-loc"}, Tags{"B-loc", "O", "O"}, matches);
  const EntityReport result = report(matches);
  CHECK(result.all.support == 4);
  CHECK(result.all.precision == doctest::Approx(1.0 / 3));
  CHECK(result.all.recall == doctest::Approx(1.0 / 4));
  CHECK(result.all.f1 == doctest::Approx(2.0 / 7));
  REQUIRE(result.types.entries.size() == 2);
  CHECK(result.types.entries[0].first == "loc");
  CHECK(result.types.entries[0].second.f1 == 0);
  CHECK(result.types.entries[1].second.f1 == doctest::Approx(2.0 / 3));
  CHECK_THROWS_AS(add_entities(Tags{"O"}, Tags{"O", "O"}, matches), UsageError);
}

TEST_CASE("entities: the counts of random tags are those of a walk word by word") {
  const Tags names = {"O", "B-x", "I-x", "B-y", "I-y"};
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    const RandomStream random(seed, 2);
    Tags gold, predicted;
    const std::uint64_t length = random.below(0, 12);
    for (std::uint64_t i = 0; i < length; ++i) {
      gold.push_back(names[random.below(3 * i + 1, names.size())]);
      const bool right = random.below(3 * i + 2, 3) > 0;
      predicted.push_back(right ? gold.back() : names[random.below(3 * i + 3, names.size())]);
    }
    EntityMatches matches;
    add_entities(gold, predicted, matches);
    const Matches expected = counted_word_by_word(gold, predicted), all = total(matches);
    CAPTURE(join(gold));
    CAPTURE(join(predicted));
    CHECK(all.gold == expected.gold);
    CHECK(all.predicted == expected.predicted);
    CHECK(all.correct == expected.correct);
  }
}

TEST_CASE("entities: WNUT-17 has as many as its authors count") {
  const auto count = [](const std::string& name) {
    std::istringstream lines(tests::shared_content("wnut17/" + name));
    Index found = 0;
    Tags sentence;
    for (std::string line; std::getline(lines, line);) {
      const std::size_t tab = line.find('\t');
      if (tab != 0 && tab != line.npos) {
        sentence.push_back(line.substr(tab + 1));
      } else {
        found += static_cast<Index>(entities(sentence).size());
        sentence.clear();
      }
    }
    return found + static_cast<Index>(entities(sentence).size());
  };
  const Index train = count("wnut17train.conll");
  if (train == 0) return;
  CHECK(train == 1975);
  CHECK(count("emerging.dev.conll") == 836);
  CHECK(count("emerging.test.annotated") == 1079);
}
