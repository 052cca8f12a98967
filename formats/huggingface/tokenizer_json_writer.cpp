#include <algorithm>
#include <set>
#include <string_view>

#include "formats/files/atomic_file.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "formats/json/ordered_object.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spaced_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/vocabulary.hpp"

namespace heddle::formats {

namespace {

using Json = nlohmann::ordered_json;
using text::TokenizerKind;
using text::TokenizerModel;

const std::string space_mark_text(text::space_mark);

Json of_type(const char* type, Json members = Json::object()) {
  Json object{{"type", type}};
  object.update(members);
  return object;
}

Json sequence(const char* name, Json steps) {
  return steps.size() == 1 ? steps[0] : of_type("Sequence", {{name, std::move(steps)}});
}

Json byte_level(bool use_regex) {
  return of_type("ByteLevel", {{"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", use_regex}});
}

Json split_step(const char* pattern) {
  return of_type("Split", {{"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}});
}

Json metaspace() {
  return of_type("Metaspace",
                 {{"replacement", space_mark_text}, {"add_prefix_space", true}, {"prepend_scheme", "always"}});
}

Json replacement(const char* pattern, const char* content) {
  return of_type("Replace", {{"pattern", {{"Regex", pattern}}}, {"content", content}});
}

class Writer {
 public:
  explicit Writer(const TokenizerModel& model) : model_(model), vocabulary_(model) {
    const TokenizerKind kind = model.kind;
    check<DataError>(kind == TokenizerKind::bpe || kind == TokenizerKind::wordpiece || kind == TokenizerKind::unigram ||
                         kind == TokenizerKind::char_bpe,
                     "a ", to_text(kind),
                     " tokenizer cannot be written as tokenizer.json; bpe, wordpiece and unigram can");
    const auto refuse_if = [](bool has, const char* property) {
      check<DataError>(!has, "a tokenizer ", property,
                       ", of SentencePiece's files, cannot be written as tokenizer.json");
    };
    refuse_if(!model.segments.empty(), "whose pieces are not those that text is cut into");
    refuse_if(kind == TokenizerKind::char_bpe && !model.scores.empty(), "whose pairs are merged by scores");
    refuse_if(model.only_spaces && !text::SpacedWords(model).maps_all_white_space(),
              "in which not all white space separates words");
  }

  Json write() const {
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", added_tokens()},
            {"normalizer", normaliser()},
            {"pre_tokenizer", pretokeniser()},
            {"post_processor", post_processor()},
            {"decoder", decoder()},
            {"model", model()}};
  }

 private:
  Json added_tokens() const;
  Json words_normaliser() const;
  Json steps_normaliser() const;
  Json normaliser() const;
  Json pretokeniser() const;
  Json cut_steps() const;
  Json post_processor() const;
  Json decoder() const;
  Json model() const;
  Json ids() const;
  Json merges() const;
  std::string spelling(Index id) const;

  const std::string& piece(Index id) const { return model_.pieces[static_cast<std::size_t>(id)]; }
  Json piece_or_null(Index id) const { return id < 0 ? Json(nullptr) : Json(piece(id)); }

  const TokenizerModel& model_;
  text::Vocabulary vocabulary_;
};

Json Writer::added_tokens() const {
  std::vector<Index> ids = model_.special_tokens;
  ids.insert(ids.end(), model_.added_tokens.begin(), model_.added_tokens.end());
  std::ranges::sort(ids);
  const auto set_of = [](const std::vector<Index>& list) { return std::set<Index>(list.begin(), list.end()); };
  const std::set<Index> left = set_of(model_.strip_left), right = set_of(model_.strip_right),
                        special = set_of(model_.special_tokens), single = set_of(model_.single_words),
                        normalised = set_of(model_.normalised_tokens);
  Json tokens = Json::array();
  for (const Index id : ids) {
    tokens.push_back({{"id", id},
                      {"content", piece(id)},
                      {"single_word", single.contains(id)},
                      {"lstrip", left.contains(id)},
                      {"rstrip", right.contains(id)},
                      {"normalized", normalised.contains(id)},
                      {"special", special.contains(id)}});
  }
  return tokens;
}

Json bert_normaliser(bool cleans, bool spaces_chinese, bool strips, bool lowercases) {
  return of_type("BertNormalizer", {{"clean_text", cleans},
                                    {"handle_chinese_chars", spaces_chinese},
                                    {"strip_accents", strips},
                                    {"lowercase", lowercases}});
}

Json Writer::words_normaliser() const {
  const bool bert_strips = model_.strip_accents && !model_.european_accents;
  Json steps = Json::array();
  steps.push_back(bert_normaliser(true, true, bert_strips, model_.lowercase && !model_.final_sigma));
  if (model_.strip_accents && model_.european_accents) {
    steps.push_back(of_type("NFD"));
    steps.push_back(replacement(tokenizer_json::european_accents_pattern, ""));
    steps.push_back(of_type("NFC"));
  }
  if (model_.lowercase && model_.final_sigma) {
    steps.push_back(replacement(tokenizer_json::final_sigma_pattern, tokenizer_json::final_sigma));
    steps.push_back(of_type("Lowercase"));
  }
  return sequence("normalizers", steps);
}

// The type of a step without settings, or null.
template <std::size_t count>
const char* plain_type(const tokenizer_json::PlainStep (&list)[count], const std::string& step) {
  for (const auto& one : list) {
    if (step == one.step) return one.type;
  }
  return nullptr;
}

Json normaliser_step(const std::string& step) {
  if (const char* type = plain_type(tokenizer_json::plain_normalisers, step)) return of_type(type);
  if (step == "strip-left" || step == "strip-right") {
    return of_type("Strip", {{"strip_left", step == "strip-left"}, {"strip_right", step == "strip-right"}});
  }
  const std::vector<std::string> parts = split(step, '\t');
  if (parts[0] == "prepend") return of_type("Prepend", {{"prepend", parts[1]}});
  check<DataError>(parts[0] == "replace", "normalising text by ", step, " cannot be written as tokenizer.json");
  return replacement(parts[1].c_str(), parts[2].c_str());
}

// Steps side by side that BertNormalizer has are one.
Json Writer::steps_normaliser() const {
  const std::vector<std::string>& steps = model_.normalisers;
  std::size_t at = 0;
  const auto take = [&](std::initializer_list<const char*> names) {
    const bool has = steps.size() - at >= names.size() &&
                     std::equal(names.begin(), names.end(), steps.begin() + static_cast<std::ptrdiff_t>(at));
    if (has) at += names.size();
    return has;
  };
  Json list = Json::array();
  while (at < steps.size()) {
    const bool cleans = take({"clean"}), spaces = take({"space-chinese"}), strips = take({"nfd", "strip-accents"});
    if (cleans || spaces || strips) {
      list.push_back(bert_normaliser(cleans, spaces, strips, take({"lowercase"})));
    } else {
      list.push_back(normaliser_step(steps[at++]));
    }
  }
  return sequence("normalizers", list);
}

Json Writer::normaliser() const {
  if (!model_.normalisers.empty()) return steps_normaliser();
  if (model_.kind == TokenizerKind::wordpiece && model_.cuts.empty()) return words_normaliser();
  if (!model_.charsmap.empty()) return of_type("Precompiled", {{"precompiled_charsmap", join(model_.charsmap, "")}});
  if (model_.kind != TokenizerKind::char_bpe) return nullptr;
  Json steps = Json::array();
  if (model_.prefix_space) steps.push_back(of_type("Prepend", {{"prepend", space_mark_text}}));
  steps.push_back(of_type("Replace", {{"pattern", {{"String", " "}}}, {"content", space_mark_text}}));
  return sequence("normalizers", steps);
}

Json cut_step(const std::string& cut) {
  if (const char* type = plain_type(tokenizer_json::plain_pretokenisers, cut)) return of_type(type);
  if (cut == "gpt2") return split_step(tokenizer_json::gpt2_pattern);
  if (cut == "gpt2-marks") return split_step(tokenizer_json::gpt2_marks_pattern);
  if (cut == "punctuation") return of_type("Punctuation", {{"behavior", "Contiguous"}});
  if (cut == "punctuation-marks") return of_type("Punctuation", {{"behavior", "Isolated"}});
  if (cut == "digits" || cut == "digit-runs") return of_type("Digits", {{"individual_digits", cut == "digits"}});
  if (cut == "digit-triples") return split_step(tokenizer_json::digit_triples_pattern);
  const std::vector<std::string> parts = split(cut, '\t');
  check<DataError>(parts[0] == "split", "splitting text by ", cut, " here cannot be written as tokenizer.json");
  Json step = split_step(parts[1].c_str());
  for (const auto& [name, word] : tokenizer_json::split_behaviours) {
    if (parts[2] == word) step["behavior"] = name;
  }
  step["invert"] = parts.size() == 4;
  return step;
}

// Splitting as GPT-2 does is ByteLevel in byte-level models, and its pattern in others.
Json Writer::cut_steps() const {
  const bool of_bytes = model_.kind == TokenizerKind::bpe;
  bool is_byte_level = false, prefix_space = false;
  Json steps = Json::array();
  const auto add_byte_level = [&](bool splits) {
    steps.push_back(byte_level(splits));
    steps.back()["add_prefix_space"] = prefix_space;
    is_byte_level = true;
  };
  for (const std::string& cut : model_.cuts.empty() ? std::vector<std::string>{"gpt2"} : model_.cuts) {
    const bool of_spelling = cut == "byte-digits";
    if (of_spelling && of_bytes && !is_byte_level) add_byte_level(false);
    if (cut == "prefix-space" && of_bytes && !is_byte_level) {
      prefix_space = true;
    } else if (cut == "gpt2" && of_bytes && !is_byte_level) {
      add_byte_level(true);
    } else if (of_spelling && of_bytes) {
      steps.push_back(of_type("Digits", {{"individual_digits", false}}));
    } else if (cut != "whole") {
      check<DataError>(!prefix_space || is_byte_level, "splitting text by ", cut,
                       " after prefix-space cannot be written as tokenizer.json");
      steps.push_back(cut_step(cut));
    }
  }
  if (of_bytes && !is_byte_level) add_byte_level(false);
  return steps.empty() ? Json(nullptr) : sequence("pretokenizers", steps);
}

Json Writer::pretokeniser() const {
  if (model_.kind == TokenizerKind::char_bpe) return nullptr;
  if (model_.kind == TokenizerKind::wordpiece && model_.cuts.empty()) return of_type("BertPreTokenizer");
  if (!model_.spaced_words) return cut_steps();
  return sequence("pretokenizers", {of_type("WhitespaceSplit"), metaspace()});
}

Json Writer::post_processor() const {
  if (model_.classification < 0 && model_.separator < 0) return nullptr;
  Json tokens = Json::object();
  const auto add_token = [&](Json& list, Index id, int type) {
    if (id < 0) return;
    list.push_back({{"SpecialToken", {{"id", piece(id)}, {"type_id", type}}}});
    tokens[piece(id)] = {{"id", piece(id)}, {"ids", Json::array({id})}, {"tokens", Json::array({piece(id)})}};
  };
  const auto add_text = [](Json& list, const char* name, int type) {
    list.push_back({{"Sequence", {{"id", name}, {"type_id", type}}}});
  };
  Json single = Json::array();
  add_token(single, model_.classification, 0);
  add_text(single, "A", 0);
  Json pair = single;
  add_token(single, model_.separator, 0);
  for (Index i = 0; i < model_.pair_separators; ++i) add_token(pair, model_.separator, 0);
  // As BERT's second texts; RoBERTa's and T5's are in the first segment.
  const int second = model_.classification >= 0 && model_.pair_separators == 1 ? 1 : 0;
  add_text(pair, "B", second);
  add_token(pair, model_.separator, second);
  return of_type("TemplateProcessing", {{"single", single}, {"pair", pair}, {"special_tokens", tokens}});
}

Json Writer::decoder() const {
  if (model_.kind == TokenizerKind::bpe) return byte_level(true);
  if (model_.kind == TokenizerKind::wordpiece) {
    return of_type("WordPiece", {{"prefix", text::continuation_mark}, {"cleanup", false}});
  }
  if (model_.spaced_words) return metaspace();
  Json steps = Json::array();
  if (model_.kind == TokenizerKind::char_bpe) {
    steps.push_back(of_type("Replace", {{"pattern", {{"String", space_mark_text}}}, {"content", " "}}));
  }
  steps.push_back(of_type("ByteFallback"));
  steps.push_back(of_type("Fuse"));
  if (model_.prefix_space) steps.push_back(of_type("Strip", {{"content", " "}, {"start", 1}, {"stop", 0}}));
  return sequence("decoders", steps);
}

// The spelling in the file: if words have a space put before them, the marks of spaces stand for spaces, else spaces
// do.
std::string Writer::spelling(Index id) const {
  const bool of_characters = model_.kind == TokenizerKind::unigram || model_.kind == TokenizerKind::char_bpe;
  if (!of_characters || !vocabulary_.is_piece(id)) return piece(id);
  const std::string bytes(vocabulary_.bytes(id));
  check<DataError>(is_utf8(bytes), "piece ", id, " of the tokenizer, ", text::quoted(bytes),
                   ", cannot be written as tokenizer.json: it is not UTF-8");
  const bool has_marks = model_.spaced_words || model_.kind == TokenizerKind::char_bpe;
  return has_marks ? replaced(bytes, " ", space_mark_text) : bytes;
}

Json Writer::ids() const {
  std::vector<std::pair<std::string, Index>> entries;
  for (Index id = 0; id < vocabulary_.size(); ++id) entries.emplace_back(spelling(id), id);
  auto sorted = entries;
  std::ranges::sort(sorted);
  const auto twin = std::ranges::adjacent_find(sorted, {}, &std::pair<std::string, Index>::first);
  check<DataError>(twin == sorted.end(), "the tokenizer cannot be written as tokenizer.json: two of its tokens are ",
                   twin == sorted.end() ? text::quoted("") : text::quoted(twin->first));
  return ordered_object(entries);
}

Json Writer::merges() const {
  Json merges = Json::array();
  for (std::size_t at = 0; at < model_.merges.size(); at += 2) {
    merges.push_back(concatenate(spelling(model_.merges[at]), " ", spelling(model_.merges[at + 1])));
  }
  return merges;
}

Json Writer::model() const {
  if (model_.kind == TokenizerKind::wordpiece) {
    return of_type("WordPiece", {{"unk_token", piece_or_null(model_.unknown)},
                                 {"continuing_subword_prefix", text::continuation_mark},
                                 {"max_input_chars_per_word", 100},
                                 {"vocab", ids()}});
  }
  if (model_.kind == TokenizerKind::unigram) {
    Json pieces = Json::array();
    for (Index id = 0; id < vocabulary_.size(); ++id) {
      pieces.push_back(Json::array({spelling(id), model_.scores[static_cast<std::size_t>(id)]}));
    }
    return of_type("Unigram", {{"unk_id", model_.unknown < 0 ? Json(nullptr) : Json(model_.unknown)},
                               {"vocab", pieces},
                               {"byte_fallback", model_.byte_fallback}});
  }
  Json merging = of_type("BPE", {{"dropout", nullptr},
                                 {"unk_token", piece_or_null(model_.unknown)},
                                 {"continuing_subword_prefix", nullptr},
                                 {"end_of_word_suffix", nullptr},
                                 {"fuse_unk", model_.kind == TokenizerKind::char_bpe},
                                 {"byte_fallback", model_.byte_fallback},
                                 {"vocab", ids()},
                                 {"merges", merges()}});
  if (model_.whole_words) merging["ignore_merges"] = true;
  return merging;
}

}  // namespace

nlohmann::ordered_json to_tokenizer_json(const TokenizerModel& model) {
  return Writer(model).write();
}

void write_tokenizer_json(const std::string& path, const TokenizerModel& model) {
  AtomicFile target(path);
  target.write(to_tokenizer_json(model).dump(1) + "\n");
  target.commit();
}

}  // namespace heddle::formats
