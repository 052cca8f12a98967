#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/files/content_type.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

using text::TokenizerKind;
using text::TokenizerModel;
using tokenizer_json::TextSteps;

using Names = std::vector<std::string>;

class TokenizerJsonReader {
 public:
  explicit TokenizerJsonReader(const JsonNode& document)
      : document_(document), model_(document["model"]), steps_(tokenizer_json::read_text_steps(document)) {
    document.expect_only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer",
                          "post_processor", "decoder", "model"});
    document["truncation"].expect(nullptr);
    document["padding"].expect(nullptr);
  }

  TokenizerModel read() {
    const std::string type = type_of_model();
    if (type == "BPE") {
      read_bpe();
    } else if (type == "WordPiece") {
      read_wordpiece();
    } else if (type == "Unigram") {
      read_unigram();
    } else {
      model_["type"].refuse(concatenate("is ", text::quoted(type), "; heddle has BPE, WordPiece and Unigram"));
    }
    read_added_tokens();
    name_unknown();
    name_others();
    spell_pieces();
    return std::move(result_);
  }

 private:
  std::string type_of_model() const;
  void read_bpe();
  bool read_bert_settings();
  void read_wordpiece();
  void read_unigram();
  void read_vocabulary();
  void read_merges();
  void read_scores();
  void read_added_tokens();
  void read_added_token(const JsonNode& token);
  void name_unknown();
  void name_others();
  void spell_pieces();
  void expect_decoder(std::initializer_list<std::string_view> types) const;
  [[noreturn]] void refuse_steps() const;
  void take_steps(bool spelled_in_bytes);
  bool has_normalised_tokens() const;

  Index id_of(std::string_view piece, const JsonNode& where) const {
    const auto found = ids_.find(piece);
    if (found == ids_.end()) where.refuse(concatenate("names ", text::quoted(piece), ", which is not a piece"));
    return found->second;
  }
  std::optional<Index> special(std::initializer_list<const char*> texts) const;

  JsonNode document_, model_;
  const TextSteps steps_;
  TokenizerModel result_;
  std::unordered_map<std::string_view, Index> ids_;  // ids of texts in the document
  bool marks_are_spaces_ = false;                    // in pieces
};

// Missing in older files.
std::string TokenizerJsonReader::type_of_model() const {
  if (const JsonNode type = model_["type"]; !type.is_null()) return std::string(type.text());
  if (!model_["merges"].is_null()) return "BPE";
  return model_["vocab"].is_list() ? "Unigram" : "WordPiece";
}

void TokenizerJsonReader::refuse_steps() const {
  const auto named = [](const Names& names) { return names.empty() ? std::string("none") : join(names); };
  document_.refuse(concatenate("heddle has no tokenizer of type ", type_of_model(), " with these normalizers: ",
                               named(steps_.normalisers), "; and pre_tokenizers: ", named(steps_.pretokenisers)));
}

// The steps as lists of Normaliser and Cuts.
void TokenizerJsonReader::take_steps(bool spelled_in_bytes) {
  for (const std::string& name : steps_.normalisers) {
    if (name == "charsmap" || name == "european-accents" || name == "final-sigma") refuse_steps();
    const Names steps = name == "bert" ? tokenizer_json::bert_normalisers(steps_) : Names{name};
    result_.normalisers.insert(result_.normalisers.end(), steps.begin(), steps.end());
  }
  std::size_t byte_levels = 0;
  for (const std::string& name : steps_.pretokenisers) {
    if (name == "metaspace") refuse_steps();
    if (name == "byte-level") {
      ++byte_levels;
    } else if (name == "bert") {
      const Names steps = tokenizer_json::bert_cuts();
      result_.cuts.insert(result_.cuts.end(), steps.begin(), steps.end());
    } else {
      result_.cuts.push_back(name);
    }
  }
  if (byte_levels != (spelled_in_bytes ? 1 : 0)) refuse_steps();
  if (result_.cuts.empty()) result_.cuts.push_back("whole");
  if (result_.cuts == Names{"gpt2"} && result_.kind != TokenizerKind::wordpiece) result_.cuts.clear();
}

bool TokenizerJsonReader::has_normalised_tokens() const {
  const JsonNode tokens = document_["added_tokens"];
  if (tokens.is_null()) return false;
  for (const JsonNode& token : tokens.list()) {
    if (token["normalized"].flag_or(false)) return true;
  }
  return false;
}

void TokenizerJsonReader::read_bpe() {
  model_.expect_only({"type", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                      "byte_fallback", "ignore_merges", "vocab", "merges"});
  model_["dropout"].expect_any_of({nullptr, 0.0});
  model_["continuing_subword_prefix"].expect_any_of({nullptr, ""});
  model_["end_of_word_suffix"].expect_any_of({nullptr, ""});
  const Names& before = steps_.normalisers;
  const Names marks{tokenizer_json::mark_spaces};
  const bool of_characters =
      before == Names{tokenizer_json::prepend_mark, tokenizer_json::mark_spaces} || before == marks;
  // Gemma's files split by spaces, of which none is left when they are marks.
  const Names& cuts = steps_.pretokenisers;
  if (of_characters && (cuts.empty() || cuts == Names{"split\t \twith-previous"})) {
    model_["byte_fallback"].expect(true);
    model_["ignore_merges"].expect_any_of({nullptr, false});
    result_.kind = TokenizerKind::char_bpe;
    result_.byte_fallback = marks_are_spaces_ = true;
    result_.prefix_space = before.size() == 2;
    expect_decoder({"Replace", "ByteFallback", "Fuse", "Strip"});
  } else {
    result_.kind = TokenizerKind::bpe;
    result_.whole_words = model_["ignore_merges"].flag_or(false);
    take_steps(true);
    expect_decoder({"ByteLevel"});
  }
  read_vocabulary();
  read_merges();
}

// False where text is cut otherwise than as BERT does, for which heddle has settings of its own; steps after
// BertNormalizer may write what heddle does with letters and it does not.
bool TokenizerJsonReader::read_bert_settings() {
  Names rest = steps_.normalisers;
  const bool as_bert = !rest.empty() && rest.front() == "bert" && steps_.pretokenisers == Names{"bert"} &&
                       steps_.cleans && steps_.spaces_chinese && !has_normalised_tokens();
  if (!as_bert) return false;
  const auto take = [&rest](const Names& steps) {
    const bool has = rest.size() > steps.size() && std::equal(steps.begin(), steps.end(), rest.begin() + 1);
    if (has) rest.erase(rest.begin() + 1, rest.begin() + 1 + static_cast<std::ptrdiff_t>(steps.size()));
    return has;
  };
  const bool european_accents = !steps_.strip_accents && take({"nfd", "european-accents", "nfc"});
  const bool final_sigma = !steps_.lowercase && take({"final-sigma", "lowercase"});
  if (rest.size() > 1) return false;
  result_.european_accents = european_accents;
  result_.final_sigma = final_sigma;
  result_.strip_accents = steps_.strip_accents || european_accents;
  result_.lowercase = steps_.lowercase || final_sigma;
  return true;
}

void TokenizerJsonReader::read_wordpiece() {
  model_.expect_only({"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
  model_["continuing_subword_prefix"].expect(std::string(text::continuation_mark));
  model_["max_input_chars_per_word"].expect(100);
  result_.kind = TokenizerKind::wordpiece;
  if (!read_bert_settings()) take_steps(false);
  expect_decoder({"WordPiece"});
  read_vocabulary();
}

void TokenizerJsonReader::read_unigram() {
  model_.expect_only({"type", "unk_id", "byte_fallback", "vocab"});
  result_.kind = TokenizerKind::unigram;
  result_.byte_fallback = model_["byte_fallback"].flag_or(false);
  if (steps_.pretokenisers == Names{"white-space", "metaspace"}) {
    if (!steps_.normalisers.empty() && steps_.normalisers != Names{"charsmap"}) refuse_steps();
    result_.spaced_words = marks_are_spaces_ = true;
    if (!steps_.charsmap.empty()) result_.charsmap = {steps_.charsmap};
    expect_decoder({"Metaspace"});
  } else {
    take_steps(false);
    expect_decoder({"ByteFallback", "Fuse"});
  }
  read_scores();
}

void TokenizerJsonReader::expect_decoder(std::initializer_list<std::string_view> types) const {
  const JsonNode decoder = document_["decoder"];
  if (decoder.is_null()) return;
  const auto expect_step = [&](const JsonNode& step) {
    if (std::ranges::find(types, step["type"].text()) == types.end()) {
      step.refuse(
          concatenate("is of type ", text::quoted(step["type"].text()), ", which heddle does not support here"));
    }
  };
  if (decoder["type"].text() != "Sequence") return expect_step(decoder);
  const JsonNode steps = decoder["decoders"];
  for (const JsonNode& step : steps.list()) expect_step(step);
}

void TokenizerJsonReader::read_vocabulary() {
  const JsonNode vocabulary = model_["vocab"];
  if (!vocabulary.is_object()) vocabulary.refuse("must be an object from pieces to ids");
  result_.pieces.resize(vocabulary.size());
  std::vector<bool> taken(vocabulary.size());
  ids_.reserve(vocabulary.size());
  for (const JsonNode& member : vocabulary.members()) {
    const Index number = member.number();
    const auto id = static_cast<std::size_t>(number);
    if (id >= result_.pieces.size()) {
      member.refuse(concatenate("has the id ", id, ", outside the ", result_.pieces.size(), " pieces"));
    }
    if (taken[id]) member.refuse(concatenate("has the id of ", text::quoted(result_.pieces[id])));
    taken[id] = true;
    result_.pieces[id] = member.key();
    ids_.emplace(member.key(), number);
  }
}

// "LEFT RIGHT" in older files, [LEFT, RIGHT] in newer ones.
void TokenizerJsonReader::read_merges() {
  const JsonNode merges = model_["merges"];
  const JsonNodes list = merges.list();
  result_.merges.reserve(2 * merges.size());
  for (const JsonNode& merge : list) {
    if (merge.is_text()) {
      const std::string_view sides = merge.text();
      const std::size_t space = sides.find(' ');
      if (space == sides.npos) merge.refuse("is not a merge, which is two pieces");
      for (const std::string_view side : {sides.substr(0, space), sides.substr(space + 1)}) {
        result_.merges.push_back(id_of(side, merge));
      }
    } else {
      if (!merge.is_list() || merge.size() != 2) merge.refuse("is not a merge, which is two pieces");
      for (const JsonNode& side : merge.list()) result_.merges.push_back(id_of(side.text(), side));
    }
  }
}

void TokenizerJsonReader::read_scores() {
  const JsonNode vocabulary = model_["vocab"];
  if (!vocabulary.is_list()) vocabulary.refuse("must be a list of pieces and scores");
  result_.pieces.reserve(vocabulary.size());
  result_.scores.reserve(vocabulary.size());
  ids_.reserve(vocabulary.size());
  for (const JsonNode& entry : vocabulary.list()) {
    if (!entry.is_list() || entry.size() != 2) entry.refuse("is not a piece and its score");
    auto part = entry.list().begin();
    const std::string_view piece = (*part).text();
    if (!ids_.emplace(piece, static_cast<Index>(result_.pieces.size())).second) {
      entry.refuse(concatenate("has the piece ", text::quoted(piece), " again"));
    }
    result_.pieces.emplace_back(piece);
    result_.scores.push_back((*++part).real());
  }
}

void TokenizerJsonReader::read_added_tokens() {
  const JsonNode tokens = document_["added_tokens"];
  if (tokens.is_null()) return;
  std::vector<std::pair<Index, JsonNodes::Iterator>> by_id;
  const JsonNodes list = tokens.list();
  by_id.reserve(tokens.size());
  for (auto token = list.begin(); token != list.end(); ++token) by_id.emplace_back((*token)["id"].number(), token);
  std::ranges::stable_sort(by_id, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [id, token] : by_id) read_added_token(*token);
  // If nothing is normalised and no token comes first, both are equal.
  const bool all = result_.normalised_tokens.size() == by_id.size();
  if (all && result_.normalisers.empty()) result_.normalised_tokens.clear();
}

void TokenizerJsonReader::read_added_token(const JsonNode& token) {
  token.expect_only({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
  const Index id = token["id"].number();
  const std::string_view content = token["content"].text();
  const auto size = static_cast<Index>(result_.pieces.size());
  if (id == size && !ids_.contains(content)) {
    result_.pieces.emplace_back(content);
    if (result_.kind == TokenizerKind::unigram) result_.scores.push_back(0);
    ids_.emplace(content, id);
  } else if (id >= size || result_.pieces[static_cast<std::size_t>(id)] != content) {
    token.refuse(concatenate("has the id ", id, ", which is not that of ", text::quoted(content),
                             " and not the next of ", size, " pieces"));
  }
  if (token["normalized"].flag_or(false)) {
    if (result_.normalisers.empty() && !steps_.normalisers.empty()) token["normalized"].expect(false);
    result_.normalised_tokens.push_back(id);
  }
  if (token["single_word"].flag_or(false)) result_.single_words.push_back(id);
  (token["special"].flag_or(false) ? result_.special_tokens : result_.added_tokens).push_back(id);
  if (token["lstrip"].flag_or(false)) result_.strip_left.push_back(id);
  if (token["rstrip"].flag_or(false)) result_.strip_right.push_back(id);
}

void TokenizerJsonReader::name_unknown() {
  if (result_.kind == TokenizerKind::unigram) {
    if (const JsonNode id = model_["unk_id"]; !id.is_null()) {
      result_.unknown = id.number();
      if (result_.unknown >= static_cast<Index>(result_.pieces.size())) id.refuse("is outside the pieces");
    }
  } else if (const JsonNode token = model_["unk_token"];
             !token.is_null() && result_.kind != TokenizerKind::bpe) {  // bpe has a piece for every byte
    result_.unknown = id_of(token.text(), token);
  }
  if (result_.unknown < 0) return;
  std::erase(result_.added_tokens, result_.unknown);
  if (std::ranges::find(result_.special_tokens, result_.unknown) == result_.special_tokens.end()) {
    result_.special_tokens.push_back(result_.unknown);
  }
}

std::optional<Index> TokenizerJsonReader::special(std::initializer_list<const char*> texts) const {
  for (const char* text : texts) {
    const auto found = ids_.find(text);
    if (found == ids_.end()) continue;
    const auto& special = result_.special_tokens;
    if (std::ranges::find(special, found->second) != special.end()) return found->second;
  }
  return std::nullopt;
}

void TokenizerJsonReader::name_others() {
  result_.mask = special({"[MASK]", "<mask>"}).value_or(-1);
  const JsonNode post_processor = document_["post_processor"];
  const tokenizer_json::Frame frame = tokenizer_json::read_frame(
      post_processor, result_.mask < 0 ? tokenizer_json::OtherFrames::ignored : tokenizer_json::OtherFrames::refused);
  result_.classification = frame.classification;
  result_.separator = frame.separator;
  result_.pair_separators = frame.pair_separators;
  for (const Index id : {frame.classification, frame.separator}) {
    const auto& special = result_.special_tokens;
    if (id >= 0 && std::ranges::find(special, id) == special.end()) {
      post_processor.refuse(concatenate("sets the token ", id, ", which is not a special token of the file"));
    }
  }
  if (post_processor.is_null()) {
    result_.classification = special({"[CLS]"}).value_or(-1);
    result_.separator = special({"[SEP]"}).value_or(-1);
  }
  result_.padding = special({"[PAD]", "<pad>"}).value_or(-1);
  result_.end_of_text = special({"<|endoftext|>", "</s>"}).value_or(-1);
}

// Pieces of bytes and of wordpiece have the same spelling in heddle.
void TokenizerJsonReader::spell_pieces() {
  if (result_.kind != TokenizerKind::unigram && result_.kind != TokenizerKind::char_bpe) return;
  std::vector<bool> as_is(result_.pieces.size());
  for (const Index id : result_.special_tokens) as_is[static_cast<std::size_t>(id)] = true;
  for (const Index id : result_.added_tokens) as_is[static_cast<std::size_t>(id)] = true;
  for (std::size_t id = 0; id < result_.pieces.size(); ++id) {
    if (as_is[id]) continue;
    const std::string& piece = result_.pieces[id];
    result_.pieces[id] = text::spell(result_.kind, marks_are_spaces_ ? replaced(piece, text::space_mark, " ") : piece);
  }
}

// As vocab.json of GPT-2 is.
bool is_list_of_ids(const JsonNode& object) {
  for (const JsonNode& member : object.members()) {
    if (!member.is_number()) return false;
  }
  return object.size() > 0;
}

}  // namespace

std::vector<std::string> tokenizer_json_files(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given(path);
  const std::filesystem::path file = std::filesystem::is_directory(given, ignored) ? given / "tokenizer.json" : given;
  const bool found = std::filesystem::is_regular_file(file, ignored) &&
                     (file.extension() == ".json" || looks_like_json(Descriptor::open_for_reading(file.string())));
  return found ? std::vector{file.string()} : std::vector<std::string>{};
}

TokenizerModel read_tokenizer_json(const std::string& path) {
  const std::vector<std::string> files = tokenizer_json_files(path);
  check<DataError>(!files.empty(), path, ": no tokenizer.json");
  const JsonDocument document = read_json(files[0]);
  const JsonNode root(document);
  check<DataError>(!root.is_object() || !is_list_of_ids(root), path,
                   ": is a list of pieces and ids, not a tokenizer; name the directory that has it with merges.txt "
                   "(of GPT-2) or source.spm (of Marian)");
  return TokenizerJsonReader(root).read();
}

}  // namespace heddle::formats
