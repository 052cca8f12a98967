// The parts of tokenizer.json around the model.
#include <algorithm>
#include <functional>
#include <iterator>

#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/text/cuts.hpp"
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

// The text of a step's setting; steps separate theirs by tabs.
std::string setting(const JsonNode& node) {
  std::string text(node.text());
  if (text.find('\t') != text.npos || text.find('\0') != text.npos) {
    node.refuse("has a tab or a zero byte, which heddle does not support here");
  }
  return text;
}

// {"Regex": …}, or {"String": …}, which stands for itself.
std::string expression(const JsonNode& pattern) {
  pattern.expect_only({"Regex", "String"});
  const JsonNode regex = pattern["Regex"], string = pattern["String"];
  if (!regex.is_null()) return setting(regex);
  if (string.text().empty()) string.refuse("is empty");
  return text::expression_of(string.text());
}

// Tries an expression, so that an error names its place.
void check_expression(const JsonNode& node, const std::string& expression) {
  try {
    text::Pattern{expression};
  } catch (const DataError& error) {
    node.refuse(error.what());
  }
}

void read_replacement(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "pattern", "content"});
  const std::string from = expression(node["pattern"]), content = setting(node["content"]);
  if (from == european_accents_pattern && content.empty()) {
    steps.normalisers.push_back("european-accents");
  } else if (from == final_sigma_pattern && content == final_sigma) {
    steps.normalisers.push_back("final-sigma");
  } else {
    check_expression(node["pattern"], from);
    steps.normalisers.push_back(concatenate("replace\t", from, "\t", content));
  }
}

void read_bert_normaliser(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  steps.cleans = node["clean_text"].flag_or(true);
  steps.spaces_chinese = node["handle_chinese_chars"].flag_or(true);
  steps.lowercase = node["lowercase"].flag();
  steps.strip_accents = node["strip_accents"].flag_or(steps.lowercase);
  steps.normalisers.push_back("bert");
}

template <std::size_t count>
const char* plain_step(const PlainStep (&list)[count], std::string_view type) {
  const auto found = std::ranges::find(list, type, [](const PlainStep& one) { return std::string_view(one.type); });
  return found == std::end(list) ? nullptr : found->step;
}

void read_normaliser(const JsonNode& node, std::string_view type, TextSteps& steps) {
  if (const char* step = plain_step(plain_normalisers, type)) {
    node.expect_only({"type"});
    steps.normalisers.push_back(step);
  } else if (type == "BertNormalizer") {
    read_bert_normaliser(node, steps);
  } else if (type == "Precompiled") {
    steps.charsmap = node.expect_only({"type", "precompiled_charsmap"})["precompiled_charsmap"].text();
    steps.normalisers.push_back("charsmap");
  } else if (type == "Prepend") {
    steps.normalisers.push_back("prepend\t" + setting(node.expect_only({"type", "prepend"})["prepend"]));
  } else if (type == "Replace") {
    read_replacement(node, steps);
  } else if (type == "Strip") {
    node.expect_only({"type", "strip_left", "strip_right"});
    if (node["strip_left"].flag()) steps.normalisers.push_back("strip-left");
    if (node["strip_right"].flag()) steps.normalisers.push_back("strip-right");
  } else {
    node.refuse(concatenate("is of type ", text::quoted(type), ", which heddle does not support"));
  }
}

void read_byte_level(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "add_prefix_space", "trim_offsets", "use_regex"});
  if (node["add_prefix_space"].flag_or(true)) steps.pretokenisers.push_back("prefix-space");
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

// Treatment of the matches, in the names of Cuts.
std::string behaviour(const JsonNode& node) {
  for (const SplitBehaviour& one : split_behaviours) {
    if (node.text() == one.name) return one.word;
  }
  node.refuse(concatenate("is ", text::quoted(node.text()), ", which heddle does not support"));
}

void read_split(const JsonNode& node, TextSteps& steps) {
  node.expect_only({"type", "pattern", "behavior", "invert"});
  const std::string pattern = expression(node["pattern"]), matches = behaviour(node["behavior"]);
  const bool inverted = node["invert"].flag_or(false), plain = matches == "isolated" && !inverted;
  if (plain && pattern == gpt2_pattern) {
    steps.pretokenisers.push_back("gpt2");
  } else if (plain && pattern == gpt2_marks_pattern) {
    steps.pretokenisers.push_back("gpt2-marks");
  } else if (plain && pattern == digit_triples_pattern) {
    steps.pretokenisers.push_back("digit-triples");
  } else {
    check_expression(node["pattern"], pattern);
    steps.pretokenisers.push_back(concatenate("split\t", pattern, "\t", matches, inverted ? "\tinverted" : ""));
  }
}

void read_digits(const JsonNode& node, TextSteps& steps) {
  const bool single = node.expect_only({"type", "individual_digits"})["individual_digits"].flag_or(false);
  const auto& before = steps.pretokenisers;
  const bool of_bytes = std::ranges::find(before, "byte-level") != before.end();
  if (of_bytes && single) node.refuse("follows ByteLevel, where heddle does not support individual_digits");
  steps.pretokenisers.push_back(of_bytes ? "byte-digits" : single ? "digits" : "digit-runs");
}

void read_punctuation(const JsonNode& node, TextSteps& steps) {
  const JsonNode setting = node.expect_only({"type", "behavior"})["behavior"];
  const std::string matches = setting.is_null() ? "isolated" : behaviour(setting);
  if (matches == "contiguous" || matches == "isolated") {
    steps.pretokenisers.push_back(matches == "isolated" ? "punctuation-marks" : "punctuation");
  } else {
    steps.pretokenisers.push_back(concatenate("split\t", text::punctuation_expression, "\t", matches));
  }
}

void read_pretokeniser(const JsonNode& node, std::string_view type, TextSteps& steps) {
  const auto& before = steps.pretokenisers;
  const bool of_bytes = std::ranges::find(before, "byte-level") != before.end();
  const std::size_t count = before.size();
  if (const char* step = plain_step(plain_pretokenisers, type)) {
    node.expect_only({"type"});
    steps.pretokenisers.push_back(step);
  } else if (type == "ByteLevel") {
    read_byte_level(node, steps);
  } else if (type == "Metaspace") {
    read_metaspace(node, steps);
  } else if (type == "Split") {
    read_split(node, steps);
  } else if (type == "Digits") {
    read_digits(node, steps);
  } else if (type == "Punctuation") {
    read_punctuation(node, steps);
  } else if (type == "CharDelimiterSplit") {
    const std::string delimiter = text::expression_of(node.expect_only({"type", "delimiter"})["delimiter"].text());
    steps.pretokenisers.push_back(concatenate("split\t", delimiter, "\tremoved"));
  } else {
    node.refuse(concatenate("is of type ", text::quoted(type), ", which heddle does not support"));
  }
  const bool good =
      !of_bytes || (before.size() == count + 1 && (before.back() == "byte-digits" || before.back() == "digit-triples"));
  if (!good) node.refuse("follows ByteLevel, where heddle supports Digits and Split by [0-9][0-9][0-9]");
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

std::vector<std::string> bert_normalisers(const TextSteps& steps) {
  std::vector<std::string> names;
  if (steps.cleans) names.push_back("clean");
  if (steps.spaces_chinese) names.push_back("space-chinese");
  if (steps.strip_accents) names.insert(names.end(), {"nfd", "strip-accents"});
  if (steps.lowercase) names.push_back("lowercase");
  return names;
}

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
