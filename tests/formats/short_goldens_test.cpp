// The ids that Hugging Face's library gives to our texts with published tokenizers, cut to the pieces that these texts
// need (goldens/README.md).
#include <doctest/doctest.h>

#include "formats/golden.hpp"
#include "formats/heddle/tokenizer_file.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"
#include "libcore/data/framing.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;
using nlohmann::json;

namespace {

using Ids = std::vector<TokenId>;

std::string folder_of(const std::string& name) {
  return HEDDLE_GOLDENS "/" + name;
}

struct ShortGolden {
  explicit ShortGolden(const std::string& name) {
    const json file = json::parse(read_bytes(folder_of(name) + "/golden.json"));
    published = file["published"].get<Ids>();
    pair = file["pair"];
    cases = file["cases"];
    REQUIRE(cases.size() >= 15);
  }
  // With the numbers that the published vocabulary gives to the pieces.
  Ids renumbered(Ids ids) const {
    for (TokenId& id : ids) id = published.at(static_cast<std::size_t>(id));
    return ids;
  }

  Ids published;  // by the ids of the cut tokenizer
  json pair, cases;
};

void check_ids(const std::string& name, const text::TokenizerModel& model) {
  CAPTURE(name);
  const ShortGolden golden(name);
  const text::Tokenizer tokenizer(model);
  REQUIRE(tokenizer.vocab_size() == static_cast<Index>(golden.published.size()));
  for (const json& one : golden.cases) {
    CAPTURE(one["text"].dump());
    const Ids ids = tokenizer.encode(one["text"].get<std::string>());
    CHECK(golden.renumbered(ids) == one["ids"].get<Ids>());
    CHECK(golden.renumbered(framed(tokenizer, ids)) == one["framed"].get<Ids>());
  }
}

const std::vector<std::string> names{"gpt2",  "bert-base-uncased", "bert-base-cased", "roberta-base",
                                     "phi-2", "phi-3-mini",        "falcon",          "t5-small"};

}  // namespace

TEST_CASE("short goldens: tokenizer.json of eight published tokenizers") {
  for (const std::string& name : names) check_ids(name, read_tokenizer_json(folder_of(name)));
}

TEST_CASE("short goldens: the formats that came before tokenizer.json give the same models") {
  CHECK(read_gpt2_vocabulary(folder_of("gpt2")) == read_tokenizer_json(folder_of("gpt2")));
  for (const std::string name : {"bert-base-uncased", "bert-base-cased"}) {
    CAPTURE(name);
    CHECK(read_wordpiece_vocabulary(folder_of(name) + "/vocab.txt") == read_tokenizer_json(folder_of(name)));
  }
}

TEST_CASE("short goldens: special tokens have their roles") {
  // The published ids; -1 where there is none.
  struct Roles {
    std::string name;
    Index classification, separator, pair_separators, padding, mask, end_of_text, unknown;
  };
  for (const Roles& roles : std::vector<Roles>{{"gpt2", -1, -1, 1, -1, -1, 50256, -1},
                                               {"bert-base-uncased", 101, 102, 1, 0, 103, -1, 100},
                                               {"roberta-base", 0, 2, 2, 1, 50264, 2, -1},
                                               {"t5-small", -1, 1, 1, 0, -1, 1, 2}}) {
    CAPTURE(roles.name);
    const ShortGolden golden(roles.name);
    const text::TokenizerModel model = read_tokenizer_json(folder_of(roles.name));
    const auto published = [&](Index id) { return id < 0 ? -1 : golden.published.at(static_cast<std::size_t>(id)); };
    CHECK(published(model.classification) == roles.classification);
    CHECK(published(model.separator) == roles.separator);
    CHECK(model.pair_separators == roles.pair_separators);
    CHECK(published(model.padding) == roles.padding);
    CHECK(published(model.mask) == roles.mask);
    CHECK(published(model.end_of_text) == roles.end_of_text);
    CHECK(published(model.unknown) == roles.unknown);
  }
}

TEST_CASE("short goldens: two texts in one sequence") {
  for (const auto& [name, has_segments] :
       {std::pair("bert-base-uncased", true), {"bert-base-cased", true}, {"roberta-base", false}}) {
    CAPTURE(name);
    const ShortGolden golden(name);
    const text::Tokenizer tokenizer(read_tokenizer_json(folder_of(name)));
    const data::Framing framing(tokenizer, 64, has_segments);
    const auto ids = [&](int which) { return tokenizer.encode(golden.pair["texts"][which].get<std::string>()); };
    const auto sequences = framing(ids(0), ids(1), data::Overlong::error);
    REQUIRE(sequences.size() == 1);
    CHECK(golden.renumbered(sequences[0].ids) == golden.pair["ids"].get<Ids>());
  }
}

TEST_CASE("short goldens: a tokenizer that was written, as JSON and as HDF5, is the one that was read") {
  const TemporaryFolder folder;
  const std::string copy = folder.file("tokenizer.json"), own = folder.file("tokenizer.h5");
  for (const std::string& name : names) {
    const text::TokenizerModel model = read_tokenizer_json(folder_of(name));
    write_tokenizer_json(copy, model);
    CHECK(read_tokenizer_json(copy) == model);
    save_tokenizer(own, model, start_provenance("test"));
    CHECK(load_tokenizer(own).model() == model);
  }
}

TEST_CASE("short goldens: decoded texts") {
  for (const std::string& name : names) {
    CAPTURE(name);
    const ShortGolden golden(name);
    const text::Tokenizer tokenizer(read_tokenizer_json(folder_of(name)));
    for (const json& one : golden.cases) {
      const std::string text = one["text"];
      CAPTURE(text);
      CHECK(tokenizer.decode(tokenizer.encode(text)) == one["decoded"].get<std::string>());
    }
  }
}
