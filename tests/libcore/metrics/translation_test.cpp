#include "libcore/metrics/translation.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "libcore/base/error.hpp"
#include "libcore/metrics/bootstrap.hpp"

using namespace heddle;
using namespace heddle::metrics;

namespace {

using Lines = std::vector<std::string>;

std::vector<TranslationCounts> counts_of(const Lines& hypotheses, const std::vector<Lines>& references) {
  std::vector<TranslationCounts> counts;
  for (std::size_t i = 0; i < hypotheses.size(); ++i) {
    counts.push_back(count_translation(hypotheses[i], references[i]));
  }
  return counts;
}

TranslationReport report_of(const Lines& hypotheses, const Lines& references) {
  std::vector<Lines> of_lines;
  for (const std::string& reference : references) of_lines.push_back({reference});
  return report(counts_of(hypotheses, of_lines));
}

ChrfCounts chrf_counts(const std::string& hypothesis, const std::string& reference) {
  return count_translation(hypothesis, Lines{reference}).chrf;
}

}  // namespace

TEST_CASE("translation: a corpus is its own best translation") {
  const Lines lines{"The dog saw 1,000.5 cats.", "", "Der Hund sah sie nicht, oder?", "yes", "  "};
  const TranslationReport result = report_of(lines, lines);
  CHECK(result.lines == 5);
  CHECK(result.bleu == doctest::Approx(100).epsilon(1e-12));
  CHECK(result.chrf == doctest::Approx(100).epsilon(1e-12));
  CHECK(result.exact_match == 1);
  CHECK(result.brevity_penalty == 1);
  CHECK(result.precisions == std::vector<double>{100, 100, 100, 100});
}

// words       the cat sat on the mat       5 of 6 in the reference ("the" twice); "sat" is not
// 2 words     the cat, cat sat, sat on, on the, the mat                   3 of 5
// 3 words     the cat sat, cat sat on, sat on the, on the mat             1 of 4
// 4 words     the cat sat on, cat sat on the, sat on the mat              0 of 3, smoothed to 1 / (2 · 3)
// BLEU = 100 · (5/6 · 3/5 · 1/4 · 1/6)^(1/4) = 37.99
TEST_CASE("translation: BLEU of a line by hand") {
  const TranslationCounts counts = count_translation("the cat sat on the mat", Lines{"the cat is on the mat"});
  CHECK(counts.bleu.matches == std::array<Index, 4>{5, 3, 1, 0});
  CHECK(counts.bleu.ngrams == std::array<Index, 4>{6, 5, 4, 3});
  CHECK(bleu(counts.bleu) == doctest::Approx(37.99).epsilon(1e-3));
  CHECK(bleu(counts.bleu) == doctest::Approx(100 * std::pow(5. / 6 * 3 / 5 / 4 / 6, 0.25)).epsilon(1e-12));
}

// line 1, of 4 words against 6: matches 4, 3, 2, 1 of 4, 3, 2, 1
// line 2, "b b b b" against "b b c c": matches 2, 1, 0, 0 of 4, 3, 2, 1: no more than the reference has
// sums: 6/8, 4/6, 2/4, 1/2; 8 words against 10: brevity e^(1 - 10/8)
TEST_CASE("translation: BLEU sums clipped counts over the lines, and punishes brevity") {
  const TranslationReport result = report_of({"a b c d", "b b b b"}, {"a b c d e f", "b b c c"});
  CHECK(result.precisions == std::vector<double>{75, 400. / 6, 50, 50});
  CHECK(result.brevity_penalty == doctest::Approx(std::exp(-0.25)));
  CHECK(result.hypothesis_words == 8);
  CHECK(result.reference_words == 10);
  CHECK(result.bleu == doctest::Approx(100 * std::exp(-0.25) * std::pow(0.75 * 4 / 6 / 4, 0.25)).epsilon(1e-12));
  CHECK(result.exact_match == 0);
  // Longer than the references is no brevity.
  CHECK(report_of({"a b c d e f"}, {"a b c d"}).brevity_penalty == 1);
}

// 4/5, then no match of 2, 3 and 4 words: 1/(2·4), 1/(4·3), 1/(8·2).
TEST_CASE("translation: each order of BLEU without a match is smoothed by another half") {
  const TranslationReport result = report_of({"a b c d x"}, {"d c b a y"});
  CHECK(result.precisions == std::vector<double>{80, 100. / 8, 100. / 12, 100. / 16});
  CHECK(result.bleu == doctest::Approx(100 * std::pow(0.8 / 8 / 12 / 16, 0.25)).epsilon(1e-12));
}

TEST_CASE("translation: empty lines, short lines and nothing in common") {
  CHECK(report_of({""}, {"a b c d"}).bleu == 0);
  CHECK(report_of({""}, {"a b c d"}).brevity_penalty == 0);
  CHECK(report_of({""}, {"a b c d"}).chrf == 0);
  CHECK(report_of({"a b c d"}, {""}).bleu == 0);
  CHECK(report_of({"a b c d"}, {""}).chrf == 0);
  CHECK(report_of({""}, {""}).bleu == 0);
  CHECK(report_of({""}, {""}).chrf == 0);
  CHECK(report_of({""}, {""}).exact_match == 1);
  CHECK(report_of({"a b c d"}, {"w x y z"}).bleu == 0);
  CHECK(report_of({"a b c d"}, {"w x y z"}).precisions == std::vector<double>{0, 0, 0, 0});
  CHECK(report_of({"a b c d"}, {"w x y z"}).chrf == 0);
  CHECK(report_of({"a b c"}, {"a b c"}).bleu == 0);  // no 4 words in all of the corpus
  // An empty line takes nothing from the others but its reference's length.
  CHECK(report_of({"a b c d", ""}, {"a b c d", "e"}).bleu == doctest::Approx(100 * std::exp(-0.25)));
  CHECK_THROWS_AS(report(std::span<const TranslationCounts>()), DataError);
  CHECK_THROWS_AS(count_translation("a", {}), DataError);
}

// Several references: an n-gram may match as often as any one of them has it; the length is that of the nearest.
TEST_CASE("translation: several references") {
  const BleuCounts counts = count_translation("a a b c d", Lines{"a b c", "a a x x x x x x", "c d y z"}).bleu;
  CHECK(counts.matches == std::array<Index, 4>{5, 4, 1, 0});
  CHECK(counts.reference_words == 4);
  CHECK(count_translation("a b c", Lines{"a b", "a b c d"}).bleu.reference_words == 2);
  CHECK(count_translation("abc", Lines{"xyz", "abc"}).exact == 1);
  CHECK(chrf(count_translation("abc", Lines{"xyz", "abc", "abd"}).chrf) == doctest::Approx(100));
}

// "ab" against "abc": characters 2 of 2 and 2 of 3, pairs 1 of 1 and 1 of 2, no three: P = 1, R = 7/12.
// "abc" against "ab": the three characters of the hypothesis have no counterpart, so that order does not count.
TEST_CASE("translation: chrF by hand") {
  CHECK(chrf(chrf_counts("ab", "abc")) == doctest::Approx(100 * 5. * 7 / 12 / (4 + 7. / 12)).epsilon(1e-12));
  CHECK(chrf(chrf_counts("abc", "ab")) == doctest::Approx(87.5).epsilon(1e-12));
  CHECK(chrf_counts("abc", "ab").hypothesis == std::array<Index, 8>{3, 2, 0, 0, 0, 0});
  CHECK(chrf_counts("é ü\xC2\xA0x\n", "é\tü x").matches == std::array<Index, 8>{3, 2, 1, 0, 0, 0});
}

TEST_CASE("translation: the words that BLEU compares") {
  const std::pair<const char*, const char*> cases[] = {
      {"Hello, world!", "Hello , world !"},
      {"  a \t b  ", "a b"},
      {"", ""},
      {"He said &quot;no&quot; &amp; left &lt;there&gt;.", "He said \" no \" & left < there > ."},
      {"&amp;lt;", "<"},
      {"costs 1,000.5 in 1990.", "costs 1,000.5 in 1990 ."},
      {"x.5 5.x 5,5", "x . 5 5 . x 5,5"},
      {"1-2 a-b 3-d -4", "1 - 2 a-b 3 - d -4"},
      {"don't", "don't"},
      {"(a/b)[c]{d}~`^_|\\", "( a / b ) [ c ] { d } ~ ` ^ _ | \\"},
      {"$5 10% C++ x@y #1 a*b a=b a;b a:b?", "$ 5 10 % C + + x @ y # 1 a * b a = b a ; b a : b ?"},
      {"...", ". . ."},
      {"5...", "5 . . ."},
      {"Ü.Ä, 日本。", "Ü . Ä , 日本。"},
      {"„so“ – ’s…", "„so“ – ’s…"},
      {"a\xC2\xA0"
       "b\xE3\x80\x80"
       "c\x1C"
       "d",
       "a b c d"},
      {"a<skipped>b", "ab"},
      {"A.B.C.", "A . B . C ."},
  };
  for (const auto& [line, words] : cases) {
    CAPTURE(line);
    CHECK(bleu_words(BleuWords::v13a, line) == words);
  }
}

TEST_CASE("translation: scores and words are those of another implementation") {
  const auto cases = nlohmann::json::parse(std::ifstream(HEDDLE_EXPECTED));
  REQUIRE(cases.size() > 50);
  for (const auto& one : cases) {
    const auto hypotheses = one["hypotheses"].get<Lines>();
    const std::vector<TranslationCounts> lines = counts_of(hypotheses, one["references"].get<std::vector<Lines>>());
    CAPTURE(hypotheses.front());
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
      CHECK(bleu_words(BleuWords::v13a, hypotheses[i]) == one["tokenized"][i].get<std::string>());
    }
    TranslationCounts sum;
    for (const TranslationCounts& line : lines) sum += line;
    CHECK(sum.bleu.matches == one["matches"].get<std::array<Index, 4>>());
    CHECK(sum.bleu.ngrams == one["ngrams"].get<std::array<Index, 4>>());
    const TranslationReport result = report(lines);
    CHECK(result.bleu == doctest::Approx(one["bleu"].get<double>()).epsilon(1e-12));
    CHECK(result.chrf == doctest::Approx(one["chrf"].get<double>()).epsilon(1e-12));
    CHECK(result.exact_match == doctest::Approx(one["exact"].get<double>()).epsilon(1e-12));
    CHECK(result.brevity_penalty == doctest::Approx(one["brevity"].get<double>()).epsilon(1e-12));
    CHECK(std::pair(result.hypothesis_words, result.reference_words) == one["words"].get<std::pair<Index, Index>>());
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK(result.precisions[i] == doctest::Approx(one["precisions"][i].get<double>()).epsilon(1e-12));
    }
  }
}

TEST_CASE("translation: each mark of ASCII, and nothing else, is a word of chrF++ at an end of one") {
  for (int code = 0x21; code < 0x7F; ++code) {
    const char letter = static_cast<char>(code);
    const std::string mark(1, letter);
    CAPTURE(mark);
    const Index words = std::string("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~").find(letter) != std::string::npos ? 2 : 1;
    for (const std::string& word : {"xx" + mark, mark + "xx"}) {
      CHECK(count_translation(word, Lines{word}).chrf_words.matches[ChrfCounts::characters] == words);
    }
    CHECK(count_translation("x" + mark + "x", Lines{"x"}).chrf_words.hypothesis[ChrfCounts::characters] == 1);
  }
}

TEST_CASE("translation: chrF++, TER and BLEU of all words are sacrebleu's, of each line and of all") {
  const auto cases = nlohmann::json::parse(std::ifstream(HEDDLE_SACREBLEU));
  REQUIRE(cases.size() > 100);
  Index moved = 0;
  for (const auto& one : cases) {
    const auto hypotheses = one["hypotheses"].get<Lines>();
    CAPTURE(hypotheses.front());
    for (const BleuWords words : {BleuWords::v13a, BleuWords::intl, BleuWords::characters, BleuWords::zh}) {
      CAPTURE(to_text(words));
      std::vector<TranslationCounts> lines;
      const auto references = one["references"].get<std::vector<Lines>>();
      for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        lines.push_back(count_translation(hypotheses[i], references[i], words));
      }
      const TranslationReport result = report(lines);
      CHECK(result.bleu == doctest::Approx(one[std::string(to_text(words))].get<double>()).epsilon(1e-9));
      CHECK(result.chrf_words == doctest::Approx(one["chrf++"].get<double>()).epsilon(1e-9));
      CHECK(result.ter == doctest::Approx(one["ter"].get<double>()).epsilon(1e-9));
      for (std::size_t i = 0; i < hypotheses.size(); ++i) CHECK(lines[i].ter.edits == one["edits"][i].get<Index>());
    }
    moved += one["moves"].get<bool>() ? 1 : 0;
  }
  CHECK(moved > 50);
}

// "d" goes to the end, one edit; replacing words one by one takes three.
TEST_CASE("translation: TER by hand") {
  const auto edits = [](const std::string& hypothesis, const std::string& reference) {
    return count_translation(hypothesis, Lines{reference}).ter;
  };
  CHECK(edits("d a b c", "a b c d").edits == 1);
  CHECK(edits("A b  x", "a b c").edits == 1);
  CHECK(edits("", "a b c").edits == 3);
  CHECK(edits("a b", "").edits == 2);
  CHECK(edit_rate(edits("a b", "")) == 100);
  CHECK(edit_rate(edits("", "")) == 0);
  CHECK(edit_rate(edits("x y z", "a b")) == 150);
  CHECK(count_translation("a b", Lines{"a b c d", "a b"}).ter.edits == 0);
  CHECK(count_translation("a b", Lines{"a b c d", "a b"}).ter.reference_words == 3);
}

TEST_CASE("translation: bytes that are not UTF-8 are characters of their own") {
  CHECK(bleu_words(BleuWords::v13a, "a\xFF.") == "a\xFF .");
  CHECK(chrf_counts("a\xFF\xFE", "a\xFF").matches == std::array<Index, 8>{2, 1});
}

TEST_CASE("translation: lines of scripts without spaces between words are known") {
  for (const char* line : {"\u548c\u4e8c\u3002", "\u3053\u308c\u306f BERT \u3067\u3059",
                           "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35", "\u1019\u103c\u1014\u103a\u1019\u102c"}) {
    CHECK(is_unspaced(line));
  }
  for (const char* line : {"", "1 + 1", "plain", "\ud55c\uad6d\uc5b4 \ubb38\uc7a5",
                           "\u0939\u093f\u0928\u094d\u0926\u0940", "the word \u548c"}) {
    CHECK_FALSE(is_unspaced(line));
  }
}

TEST_CASE("translation: signatures") {
  CHECK(bleu_signature(1) == "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp");
  CHECK(bleu_signature(3, BleuWords::zh) == "nrefs:3|case:mixed|eff:no|tok:zh|smooth:exp");
  CHECK(chrf_signature(2) == "nrefs:2|case:mixed|eff:yes|nc:6|nw:0|space:no");
  CHECK(chrf_signature(1, true) == "nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no");
  CHECK(ter_signature(1) == "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no");
}

TEST_CASE("translation: a confidence interval of BLEU contains it") {
  Lines hypotheses, references;
  for (int i = 0; i < 200; ++i) {
    references.push_back("the dog number " + std::to_string(i) + " saw the small house");
    hypotheses.push_back(i % 3 == 0 ? "the dog saw a house" : references.back());
  }
  std::vector<Lines> of_lines;
  for (const std::string& reference : references) of_lines.push_back({reference});
  const std::vector<TranslationCounts> lines = counts_of(hypotheses, of_lines);
  const auto metric = [&](std::span<const Index> indices) { return bleu(sum_of(lines, indices).bleu); };
  const Interval interval = bootstrap_interval(200, metric, {.samples = 200});
  const double whole = report(lines).bleu;
  CHECK(interval.low < whole);
  CHECK(interval.high > whole);
  CHECK(interval.high - interval.low < 30);
}
