#include "libcore/data/masking.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <set>

#include "libcore/data/masked_batches.hpp"
#include "libcore/text/spelling.hpp"

using namespace heddle;
using namespace heddle::data;

namespace {

// Tokens 0 to 995 in a random order; 996 begins sequences, 997 ends them, 998 is the mask, 999 padding.
const MaskVocabulary plain_masking{Index{1000}};

TokensInMemory random_tokens(Index size) {
  std::vector<TokenId> tokens;
  const RandomStream stream(4, 4);
  for (Index i = 0; i < size; ++i)
    tokens.push_back(static_cast<TokenId>(stream.below(static_cast<std::uint64_t>(i), 996)));
  return {tokens, 1000};
}

text::TokenizerModel wordpiece() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::wordpiece;
  model.pieces = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "##s", "##ing", "sat", "mat"};
  model.special_tokens = {0, 1, 2, 3, 4};
  model.padding = 0, model.unknown = 1, model.classification = 2, model.separator = 3, model.mask = 4;
  return model;
}

std::set<Index> set_of(const std::vector<Index>& list) {
  return {list.begin(), list.end()};
}

}  // namespace

TEST_CASE("masking: of a million tokens 30 % are chosen; 80 % of them masked, 10 % replaced, 10 % left (SPEC 4.3)") {
  const auto text = random_tokens(1000000);
  const MaskedWindows windows(text, plain_masking, {.time = 102});
  double chosen = 0, masked = 0, kept = 0, maskable = 0;
  for (Index window = 0; window < windows.windows_per_epoch(); ++window) {
    const MaskedBatch one = windows.in_order(window, 1);
    std::vector<TokenId> original(100);
    text.read(window * 100, original);
    maskable += 100;
    chosen += static_cast<double>(one.rows.size());
    std::size_t next = 0;
    for (Index position = 0; position < 102; ++position) {
      const TokenId token = one.ids[static_cast<std::size_t>(position)];
      const bool special = position == 0 || position == 101;
      const TokenId before = special ? token : original[static_cast<std::size_t>(position - 1)];
      if (next < one.rows.size() && one.rows[next] == position) {
        REQUIRE(one.targets[next++] == before);
        masked += token == 998 ? 1 : 0;
        kept += token == before ? 1 : 0;
        REQUIRE((token == 998 || token < 996));
      } else {
        REQUIRE(token == before);
      }
    }
    REQUIRE(next == one.rows.size());
    REQUIRE(one.ids.front() == 996);
    REQUIRE(one.ids.back() == 997);
  }
  CHECK(maskable == 1e6);
  CHECK(std::abs(chosen / maskable - 0.3) < 0.0011);
  CHECK(std::abs(masked / chosen - 0.8) < 0.0031);
  CHECK(std::abs(kept / chosen - 0.1 - 0.1 / 996) < 0.0024);
}

TEST_CASE("masking: static masks are the same in every epoch; dynamic ones overlap as chance has it (SPEC 4.3)") {
  const auto text = random_tokens(100000);
  for (const MaskingKind kind : {MaskingKind::unchanging, MaskingKind::dynamic}) {
    const MaskedWindows windows(text, plain_masking, {.time = 102, .masking = {.masking = kind}, .seed = 3});
    const Index count = windows.windows_per_epoch();
    std::map<std::vector<TokenId>, MaskedBatch> first;  // by the text, found under the masks
    const auto text_of = [](const MaskedBatch& batch) {
      std::vector<TokenId> ids = batch.ids;
      for (std::size_t i = 0; i < batch.rows.size(); ++i)
        ids[static_cast<std::size_t>(batch.rows[i])] = batch.targets[i];
      return ids;
    };
    for (Index sample = 0; sample < count; ++sample) {
      const MaskedBatch one = windows.batch(sample, 1);
      first[text_of(one)] = one;
    }
    CHECK(static_cast<Index>(first.size()) == count);
    double both = 0, all = 0;
    bool equal = true;
    double same_place = 0;
    for (Index sample = 0; sample < count; ++sample) {
      const MaskedBatch again = windows.batch(count + sample, 1);
      const MaskedBatch& before = first.at(text_of(again));
      const std::set<Index> rows = set_of(before.rows);
      for (const Index row : again.rows) both += static_cast<double>(rows.count(row));
      all += static_cast<double>(again.rows.size());
      equal = equal && again.ids == before.ids && again.rows == before.rows;
      same_place += text_of(again) == text_of(windows.batch(sample, 1)) ? 1 : 0;
    }
    CHECK(same_place <= 5);  // two random orders of 1,000 agree in one place on average, in more than five rarely
    CHECK(equal == (kind == MaskingKind::unchanging));
    if (kind == MaskingKind::dynamic) CHECK(std::abs(both / all - 0.3) < 0.012);
  }
}

TEST_CASE("masking: the number of pieces is 15 % of those that are not special, rounded, and one at least") {
  const std::vector<std::pair<Index, std::size_t>> numbers{
      {1, 1},  {3, 1},  {4, 1},  {9, 1},  {10, 2},  {16, 2},   {17, 3},   {20, 3},   {23, 3},
      {24, 4}, {50, 8}, {62, 9}, {63, 9}, {64, 10}, {100, 15}, {128, 19}, {510, 77}, {512, 77}};
  for (const auto& [length, expected] : numbers) {
    CAPTURE(length);
    for (std::uint64_t step = 0; step < 20; ++step) {
      std::vector<TokenId> tokens(static_cast<std::size_t>(length) + 3, 5);
      tokens.front() = 996;
      tokens.back() = tokens[tokens.size() / 2] = 997;
      CHECK(mask_tokens(tokens, plain_masking, {.probability = 0.15}, RandomStream(1, 2, step)).positions.size() ==
            expected);
    }
  }
  for (const auto& [probability, expected] : std::vector<std::pair<double, std::size_t>>{{0.34, 3}, {0.36, 4}}) {
    std::vector<TokenId> ten(10, 5);
    CHECK(mask_tokens(ten, plain_masking, {.probability = probability}, RandomStream(1, 2)).positions.size() ==
          expected);
  }
}

TEST_CASE("masking: at least one piece, and none where all are special") {
  std::vector<TokenId> tokens{996, 5, 997};
  const Masked one = mask_tokens(tokens, plain_masking, {.probability = 0.01}, RandomStream(1, 2));
  CHECK(one.positions == std::vector<Index>{1});
  CHECK(one.targets == std::vector<TokenId>{5});
  std::vector<TokenId> special{996, 997, 998, 999};
  CHECK(mask_tokens(special, plain_masking, {}, RandomStream(1, 2)).positions.empty());
  CHECK(special == std::vector<TokenId>{996, 997, 998, 999});
  std::vector<TokenId> all{1, 2, 3};
  CHECK(mask_tokens(all, plain_masking, {.probability = 1}, RandomStream(1, 2)).positions ==
        std::vector<Index>{0, 1, 2});
}

TEST_CASE("masking: whole words are chosen whole") {
  const text::Tokenizer tokenizer(wordpiece());
  const MaskVocabulary vocabulary(tokenizer, "test");
  // [CLS] the cat ##s ##ing sat mat ##s [SEP] ##s the
  const std::vector<TokenId> text{2, 5, 6, 7, 8, 9, 10, 7, 3, 7, 5};
  const std::vector<std::set<Index>> words{{1}, {2, 3, 4}, {5}, {6, 7}, {9}, {10}};
  std::set<Index> seen;
  bool parts = false;
  for (std::uint64_t step = 0; step < 200; ++step) {
    for (const bool whole : {true, false}) {
      std::vector<TokenId> tokens = text;
      const MaskingOptions options{.probability = 0.4, .whole_words = whole};
      const std::set<Index> chosen =
          set_of(mask_tokens(tokens, vocabulary, options, RandomStream(1, 2, step)).positions);
      CHECK(chosen.size() <= 4);
      for (const auto& word : words) {
        std::size_t inside = 0;
        for (const Index position : word) inside += chosen.count(position);
        if (whole) CHECK((inside == 0 || inside == word.size()));
        parts = parts || (!whole && inside > 0 && inside < word.size());
      }
      seen.insert(chosen.begin(), chosen.end());
    }
  }
  CHECK(parts);
  CHECK(seen == std::set<Index>{1, 2, 3, 4, 5, 6, 7, 9, 10});
}

TEST_CASE("masking: a word that exceeds the number is passed over, and others make it up") {
  const text::Tokenizer tokenizer(wordpiece());
  // [CLS] cat ##s ##ing sat mat the sat mat the [SEP]: a word of three and six of one, of which four tokens are chosen.
  const std::vector<TokenId> text{2, 6, 7, 8, 9, 10, 5, 9, 10, 5, 3};
  Index with_long = 0;
  for (std::uint64_t step = 0; step < 200; ++step) {
    std::vector<TokenId> tokens = text;
    const MaskingOptions options{.probability = 0.44, .whole_words = true};
    const std::set<Index> chosen =
        set_of(mask_tokens(tokens, MaskVocabulary(tokenizer, "test"), options, RandomStream(1, 2, step)).positions);
    CHECK(chosen.size() == 4);
    with_long += chosen.contains(1) ? 1 : 0;
  }
  // It is chosen where it comes first or second of seven.
  CHECK(std::abs(static_cast<double>(with_long) - 200 * 2.0 / 7) < 26);
}

TEST_CASE("masking: what replaces a token is any ordinary one, each as probable") {
  std::vector<double> quarters(4, 0);
  double all = 0;
  for (std::uint64_t step = 0; step < 500; ++step) {
    std::vector<TokenId> tokens(100, 5);
    mask_tokens(tokens, plain_masking, {.probability = 1}, RandomStream(1, 2, step));
    for (const TokenId token : tokens) {
      if (token == 998 || token == 5) continue;
      REQUIRE(token < 996);
      quarters[static_cast<std::size_t>(token / 249)] += 1;
      all += 1;
    }
  }
  CHECK(std::abs(all - 5000) < 280);
  for (const double quarter : quarters) CHECK(std::abs(quarter / all - 0.25) < 0.025);  // four standard deviations
}

TEST_CASE("masking: in byte-level pieces words begin and end at white space") {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::byte;
  for (int byte = 0; byte < 256; ++byte) {
    const char letter = static_cast<char>(byte);
    model.pieces.push_back(text::spell(model.kind, {&letter, 1}));
  }
  for (const char* special : {"<s>", "</s>", "<mask>"}) {
    model.special_tokens.push_back(static_cast<Index>(model.pieces.size()));
    model.pieces.emplace_back(special);
  }
  model.classification = 256, model.separator = 257, model.mask = 258;
  const text::Tokenizer tokenizer(model);
  const MaskVocabulary vocabulary(tokenizer, "test");
  CHECK(vocabulary.begins_word[' ']);
  CHECK_FALSE(vocabulary.ends_word[' ']);  // it is a part of the next word
  CHECK(vocabulary.ends_word['\n']);
  CHECK_FALSE(vocabulary.begins_word['a']);
  CHECK_FALSE(vocabulary.ends_word['a']);
  CHECK(vocabulary.is_special[258]);
  for (const char white : {' ', '\n', '\t', '\r'}) CHECK(vocabulary.is_blank[static_cast<std::size_t>(white)]);
  CHECK_FALSE(vocabulary.is_blank['a']);
  CHECK(vocabulary.ordinary.size() == 256);
}

TEST_CASE("masking: a tokenizer without the special tokens is refused with advice") {
  text::TokenizerModel model = wordpiece();
  model.mask = -1;
  const text::Tokenizer tokenizer(model);
  CHECK_THROWS_WITH_AS(
      MaskVocabulary(tokenizer, "train.h5"),
      "train.h5: its tokenizer lacks the special tokens of an encoder; train one of the kind wordpiece, "
      "or with `special_tokens` = '[PAD],[CLS],[SEP],[MASK]'",
      DataError);
}

TEST_CASE("masked windows: together they are the stream; the last one is shorter and padded in a batch") {
  const auto text = random_tokens(45);
  const MaskedWindows windows(text, plain_masking, {.time = 22});
  REQUIRE(windows.windows_per_epoch() == 3);
  const MaskedBatch all = windows.in_order(0, 3);
  CHECK(all.time == 22);
  CHECK(all.lengths == std::vector<Index>{22, 22, 7});
  CHECK(all.tokens == 51);
  CHECK(all.segments.empty());
  std::vector<TokenId> ids = all.ids, stream;
  for (std::size_t i = 0; i < all.rows.size(); ++i) ids[static_cast<std::size_t>(all.rows[i])] = all.targets[i];
  for (Index row = 0; row < 3; ++row) {
    const auto begin = ids.begin() + row * 22;
    const Index length = all.lengths[static_cast<std::size_t>(row)];
    CHECK(begin[0] == 996);
    CHECK(begin[length - 1] == 997);
    CHECK(std::count(begin + length, begin + 22, 999) == 22 - length);
    stream.insert(stream.end(), begin + 1, begin + length - 1);
  }
  std::vector<TokenId> expected(45);
  text.read(0, expected);
  CHECK(stream == expected);
  CHECK(windows.in_order(0, 2).lengths.empty());
}

TEST_CASE("masked windows: two tokens at the end are a window of their own, one is not") {
  const auto two = random_tokens(42), one = random_tokens(41);
  const MaskedWindows windows(two, plain_masking, {.time = 22});
  REQUIRE(windows.windows_per_epoch() == 3);
  CHECK(windows.in_order(0, 3).lengths == std::vector<Index>{22, 22, 4});
  CHECK(MaskedWindows(one, plain_masking, {.time = 22}).windows_per_epoch() == 2);
}

TEST_CASE("masked windows: pairs have two segments, of which half belong together") {
  const auto text = random_tokens(40000);
  std::vector<TokenId> all(40000);
  text.read(0, all);
  const MaskedWindows windows(text, plain_masking, {.time = 23, .unrelated_pairs = true, .seed = 5});
  double unrelated = 0;
  for (Index window = 0; window < 2000; ++window) {
    const MaskedBatch one = windows.in_order(window, 1);
    std::vector<TokenId> ids = one.ids;
    for (std::size_t i = 0; i < one.rows.size(); ++i) ids[static_cast<std::size_t>(one.rows[i])] = one.targets[i];
    REQUIRE(std::count(ids.begin(), ids.end(), 997) == 2);
    const auto middle = std::find(ids.begin(), ids.end(), 997);
    const auto first = middle - ids.begin() + 1;
    REQUIRE(std::count(one.segments.begin(), one.segments.begin() + first, 0) == first);
    REQUIRE(std::count(one.segments.begin() + first, one.segments.end(), 1) == 23 - first);
    std::vector<TokenId> body(ids.begin() + 1, middle);
    body.insert(body.end(), middle + 1, ids.end() - 1);
    const bool follows = std::equal(body.begin(), body.end(), all.begin() + window * 20);
    REQUIRE(one.unrelated.at(0) == (follows ? 0 : 1));
    unrelated += one.unrelated[0];
  }
  CHECK(std::abs(unrelated / 2000 - 0.5) < 0.045);  // four standard deviations
  const MaskedBatch related =
      MaskedWindows(text, plain_masking, {.time = 23, .masking = {.segment_pairs = true}}).in_order(0, 50);
  CHECK(std::count(related.unrelated.begin(), related.unrelated.end(), 0) == 50);
}

TEST_CASE("masked windows: pairs are cut anywhere, and a second segment from elsewhere is from anywhere") {
  // Each token once, so that it says where it is from.
  constexpr Index size = 5000, time = 23, body = 20;
  std::vector<TokenId> numbers(size);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<TokenId>(i);
  const TokensInMemory text(numbers, size + 4);
  const MaskVocabulary special{size + 4};
  std::map<Index, int> lengths;
  double unrelated = 0, places = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const MaskedWindows windows(text, special, {.time = time, .unrelated_pairs = true, .seed = seed});
    for (Index window = 0; window < size / body; ++window) {
      const MaskedBatch one = windows.in_order(window, 1);
      std::vector<TokenId> ids = one.ids;
      for (std::size_t i = 0; i < one.rows.size(); ++i) ids[static_cast<std::size_t>(one.rows[i])] = one.targets[i];
      const Index first = std::find(ids.begin(), ids.end(), special.separator) - ids.begin() - 1;
      ++lengths[first];
      const TokenId begin = ids.at(static_cast<std::size_t>(first) + 2);
      for (Index i = 0; i < body - first; ++i) REQUIRE(ids[static_cast<std::size_t>(first + 2 + i)] == begin + i);
      if (one.unrelated.at(0) == 0) continue;
      unrelated += 1;
      places += static_cast<double>(begin) / static_cast<double>(size - (body - first));
    }
  }
  CHECK(lengths.size() == body - 1);  // a token on either side at least
  for (const auto& [length, count] : lengths) CHECK(std::abs(count - 2000 / 19) < 45);
  CHECK(std::abs(places / unrelated - 0.5) < 0.04);  // four standard deviations
}

TEST_CASE("masked windows: pairs for models without segments have two separators in the middle and no segments") {
  const auto text = random_tokens(2000);
  std::vector<TokenId> all(2000);
  text.read(0, all);
  const MaskedWindows windows(text, plain_masking,
                              {.time = 24, .masking = {.segment_pairs = true}, .has_segments = false});
  CHECK(windows.tokens_per_window() == 20);
  for (Index window = 0; window < 100; ++window) {
    const MaskedBatch one = windows.in_order(window, 1);
    CHECK(one.segments.empty());
    std::vector<TokenId> ids = one.ids;
    for (std::size_t i = 0; i < one.rows.size(); ++i) ids[static_cast<std::size_t>(one.rows[i])] = one.targets[i];
    const auto middle = std::find(ids.begin(), ids.end(), 997);
    REQUIRE(ids.end() - middle >= 4);
    CHECK(ids.size() == 24);
    CHECK(middle[1] == 997);
    CHECK(ids.back() == 997);
    std::vector<TokenId> body(ids.begin() + 1, middle);
    body.insert(body.end(), middle + 2, ids.end() - 1);
    CHECK(std::equal(body.begin(), body.end(), all.begin() + window * 20, all.begin() + window * 20 + 20));
  }
}

TEST_CASE("masked windows: too little text or room is refused, and so is text without pieces") {
  const auto text = random_tokens(50), nothing = random_tokens(1);
  CHECK_THROWS_AS(MaskedWindows(text, plain_masking, {.time = 3}), UsageError);
  CHECK_THROWS_AS(MaskedWindows(nothing, plain_masking, {.time = 30}), DataError);
  const TokensInMemory special(std::vector<TokenId>(20, 997), 1000);
  CHECK_THROWS_AS(MaskedWindows(special, plain_masking, {.time = 12}).batch(0, 2), DataError);
}
