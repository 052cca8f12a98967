// The parts of tokenizer.json around the model.
#include <algorithm>
#include <functional>

#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats::tokenizer_json {

namespace {

constexpr std::size_t most_steps = 100;

// Calls take(step, type) for the step, or for each member if it is a Sequence.
void for_each_step(const JsonNode& node, const char* members,
                   const std::function<void(const JsonNode&, std::string_view)>& take) {
  if (node.is_null()) return;
  const std::string_view type = node["type"].text();
  if (type != "Sequence") return take(node, type);
  node.expect_only({"type", members});
  const JsonNode steps = node[members];
  if (steps.list(); steps.size() > most_steps) steps.refuse("has more steps than any tokenizer");
  for (const JsonNode& step : steps.list()) take(step, step["type"].text());
}

const std::string& mark() {
  static const std::string text(text::space_mark);
  return text;
}

// U+2581 for spaces, or a pattern that heddle writes.
void read_replacement(const JsonNode& node, TextSteps& steps) {
  const JsonNode pattern = node.expect_only({"type", "pattern", "content"})["pattern"];
  pattern.expect_any_of({{{"String", " "}}, {{"Regex", european_accents_pattern}}, {{"Regex", final_sigma_pattern}}});
  if (pattern["Regex"].is_null()) {
    node["content"].expect(mark());
    steps.normalisers.push_back("replace");
  } else if (pattern["Regex"].text() == european_accents_pattern) {
    node["content"].expect("");
    steps.normalisers.push_back("european-accents");
  } else {
    node["content"].expect(final_sigma);
    steps.normalisers.push_back("final-sigma");
  }
}

void read_normaliser(const JsonNode& node, std::string_view type, TextSteps& steps) {
  if (type == "BertNormalizer") {
    node.expect_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
    node["clean_text"].expect(true);
    node["handle_chinese_chars"].expect(true);
    steps.lowercase = node["lowercase"].flag();
    steps.strip_accents = node["strip_accents"].flag_or(steps.lowercase);
    steps.normalisers.push_back("bert");
  } else if (type == "Precompiled") {
    steps.charsmap = node.expect_only({"type", "precompiled_charsmap"})["precompiled_charsmap"].text();
    steps.normalisers.push_back("charsmap");
  } else if (type == "Prepend") {
    node.expect_only({"type", "prepend"})["prepend"].expect(mark());
    steps.normalisers.push_back("prepend");
  } else if (type == "Replace") {
    read_replacement(node, steps);
  } else if (type == "NFD" || type == "NFC" || type == "Lowercase") {
    node.expect_only({"type"});
    steps.normalisers.push_back(type == "Lowercase" ? "lowercase" : type == "NFD" ? "nfd" : "nfc");
  } else {
    node.refuse(concatenate("is of type ", text::quoted(type), ", which heddle does not support"));
  }
}

void read_byte_level(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  node["add_prefix_space"].expect(false);
  if (node["use_regex"].flag_or(true)) steps.pretokenisers.push_back("gpt2");
  steps.pretokenisers.push_back("byte-level");
}

void read_metaspace(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"});
  node["replacement"].expect(mark());
  node["str_rep"].expect_any_of({mark(), nullptr});
  node["add_prefix_space"].expect_any_of({true, nullptr});
  node["prepend_scheme"].expect_any_of({"always", nullptr});
  node["split"].expect_any_of({true, nullptr});
  steps.pretokenisers.push_back("metaspace");
}

void read_split(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "pattern", "behavior", "invert"});
  node["pattern"].expect_any_of({{{"Regex", gpt2_pattern}}, {{"Regex", digit_triples_pattern}}});
  node["behavior"].expect("Isolated");
  node["invert"].expect(false);
  const bool digits = node["pattern"]["Regex"].text() == digit_triples_pattern;
  steps.pretokenisers.push_back(digits ? "digit-triples" : "gpt2");
}

void read_digits(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "individual_digits"})["individual_digits"].expect(false);
  const auto& before = steps.pretokenisers;
  if (std::ranges::find(before, "byte-level") == before.end()) node.refuse("must follow ByteLevel");
  steps.pretokenisers.push_back("byte-digits");
}

void read_pretokeniser(const JsonNode& node, std::string_view type, TextSteps& steps) {
  if (type == "ByteLevel") {
    read_byte_level(node, steps);
  } else if (type == "Metaspace") {
    read_metaspace(node, steps);
  } else if (type == "Split") {
    read_split(node, steps);
  } else if (type == "Digits") {
    read_digits(node, steps);
  } else if (type == "Punctuation") {
    node.expect_only({"type", "behavior"})["behavior"].expect("Contiguous");
    steps.pretokenisers.push_back("punctuation");
  } else if (type == "BertPreTokenizer" || type == "WhitespaceSplit") {
    node.expect_only({"type"});
    steps.pretokenisers.push_back(type == "WhitespaceSplit" ? "white-space" : "bert");
  } else {
    node.refuse(concatenate("is of type ", text::quoted(type), ", which heddle does not support"));
  }
}

constexpr Index first_text = -2, second_text = -3;

std::vector<Index> read_template(const JsonNode& list, const JsonNode& special_tokens) {
  std::vector<Index> parts;
  if (list.list(); list.size() > most_steps) list.refuse("has more parts than any tokenizer");
  for (const JsonNode& part : list.list()) {
    part.expect_only({"SpecialToken", "Sequence"});
    if (const JsonNode text = part["Sequence"]; !text.is_null()) {
      text["id"].expect_any_of({"A", "B"});
      parts.push_back(text["id"].text() == "A" ? first_text : second_text);
      continue;
    }
    const JsonNode ids = special_tokens[part["SpecialToken"]["id"].text()]["ids"];
    if (ids.list(); ids.size() != 1) part.refuse("must stand for one token");
    parts.push_back((*ids.list().begin()).number());
  }
  return parts;
}

void append_token(std::vector<Index>& parts, Index token, Index times = 1) {
  if (token >= 0) parts.insert(parts.end(), static_cast<std::size_t>(times), token);
}

// The tokens before, between and after texts, if a frame can express them.
Frame read_template_frame(const JsonNode& node, OtherFrames others) {
  node.expect_only({"type", "single", "pair", "special_tokens"});
  const std::vector<Index> single = read_template(node["single"], node["special_tokens"]);
  const std::vector<Index> pair = read_template(node["pair"], node["special_tokens"]);
  Frame frame;
  if (!single.empty() && single.front() >= 0) frame.classification = single.front();
  if (!single.empty() && single.back() >= 0) frame.separator = single.back();
  for (frame.pair_separators = 1; frame.pair_separators <= 2; ++frame.pair_separators) {
    std::vector<Index> one, two;
    append_token(one, frame.classification);
    one.push_back(first_text);
    two = one;
    append_token(one, frame.separator);
    append_token(two, frame.separator, frame.pair_separators);
    two.push_back(second_text);
    append_token(two, frame.separator);
    if (single == one && (pair == two || others == OtherFrames::ignored)) return frame;
  }
  if (others == OtherFrames::ignored) return {};
  node.refuse("adds tokens in another way than one before, one after each text and optionally one more between texts");
}

}  // namespace

TextSteps read_text_steps(const JsonNode& document) {
  TextSteps steps;
  for_each_step(document["normalizer"], "normalizers",
                [&](const JsonNode& node, std::string_view type) { read_normaliser(node, type, steps); });
  for_each_step(document["pre_tokenizer"], "pretokenizers",
                [&](const JsonNode& node, std::string_view type) { read_pretokeniser(node, type, steps); });
  return steps;
}

Frame read_frame(const JsonNode& post_processor, OtherFrames others) {
  Frame frame;
  for_each_step(post_processor, "processors", [&](const JsonNode& node, std::string_view type) {
    if (type == "ByteLevel") return;
    if (type == "TemplateProcessing") {
      frame = read_template_frame(node, others);
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      const auto token = [&](const char* name) {
        const JsonNode pair = node[name];
        if (pair.list(); pair.size() != 2) pair.refuse("must be a token and its id");
        return (*++pair.list().begin()).number();
      };
      frame = {token("cls"), token("sep"), type == "RobertaProcessing" ? 2 : 1};
    } else {
      node.refuse(concatenate("is of type ", text::quoted(type), ", which heddle does not support"));
    }
  });
  return frame;
}

}  // namespace heddle::formats::tokenizer_json
