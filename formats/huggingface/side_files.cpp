#include "formats/huggingface/side_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "formats/huggingface/foreign_architecture.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

namespace fs = std::filesystem;
using text::TokenizerKind;
using text::TokenizerModel;

struct SideFile {
  std::string name;
  bool of_tokenizer;
  std::vector<std::string_view> carried_out;
  std::vector<FixedField> fixed;  // fields that change meaning, with the only value that heddle supports
};

constexpr const char *added_file = "added_tokens.json", *special_file = "special_tokens_map.json",
                     *tokenizer_file = "tokenizer_config.json", *generation = "generation_config.json",
                     *sentences = "sentence_bert_config.json", *pooling = "1_Pooling/config.json",
                     *prompts = "config_sentence_transformers.json", *model_config = "config.json";

const std::vector<SideFile>& side_files() {
  static const std::vector<SideFile> list{
      // Every member is a token and its id.
      {added_file, true, {}, {}},
      {special_file,
       true,
       {"unk_token", "eos_token", "cls_token", "sep_token", "mask_token", "pad_token", "additional_special_tokens",
        "extra_special_tokens"},
       {}},
      {tokenizer_file,
       true,
       {"unk_token", "eos_token", "cls_token", "sep_token", "mask_token", "pad_token", "additional_special_tokens",
        "extra_special_tokens", "added_tokens_decoder", "tokenizer_class", "do_lower_case", "strip_accents",
        "tokenize_chinese_chars", "add_prefix_space", "extra_ids", "separate_vocabs"},
       {{"word_tokenizer_type", "basic"},
        {"subword_tokenizer_type", "wordpiece"},
        {"do_word_tokenize", true},
        {"do_subword_tokenize", true},
        {"do_basic_tokenize", true},
        {"never_split", nlohmann::json::array()},
        {"mecab_kwargs", nullptr},
        {"sudachi_kwargs", nullptr},
        {"jumanpp_kwargs", nullptr},
        {"normalization", false},
        {"split_special_tokens", false},
        {"sp_model_kwargs", nlohmann::json::object()},
        {"auto_map", nullptr}}},
      {generation, false, {"eos_token_id", "decoder_start_token_id", "forced_bos_token_id"}, {}},
      {model_config,
       false,
       {},
       {{"auto_map", nullptr},
        {"quantization_config", nullptr},
        {"pruned_heads", nlohmann::json::object()},
        {"rope_scaling", nullptr},
        {"sliding_window", nullptr},
        {"cross_attention_hidden_size", nullptr},
        {"tie_encoder_decoder", false}}},
      {sentences, false, {"do_lower_case"}, {}},
      {pooling,
       false,
       {},
       {{"pooling_mode_max_tokens", false},
        {"pooling_mode_mean_sqrt_len_tokens", false},
        {"pooling_mode_weightedmean_tokens", false}}},
      {"modules.json", false, {}, {}},
      {prompts, false, {}, {{"default_prompt_name", nullptr}}},
      // Target modules and layers are those that have tensors; the matrices of tensors do not depend on fan_in_fan_out.
      {"adapter_config.json",
       false,
       {"peft_type", "r", "lora_alpha", "use_rslora", "lora_dropout", "init_lora_weights", "base_model_name_or_path",
        "target_modules", "exclude_modules", "layers_to_transform", "layers_pattern", "fan_in_fan_out", "task_type",
        "inference_mode"},
       {{"use_dora", false},
        {"bias", "none"},
        {"lora_bias", false},
        {"modules_to_save", nlohmann::json::array()},
        {"rank_pattern", nlohmann::json::object()},
        {"alpha_pattern", nlohmann::json::object()},
        {"layer_replication", nullptr},
        {"trainable_token_indices", nullptr},
        {"target_parameters", nlohmann::json::array()},
        {"use_qalora", false},
        {"use_bdlora", nullptr},
        {"arrow_config", nullptr},
        {"alora_invocation_tokens", nullptr}}},
      {"preprocessor_config.json", false, {}, {}},
  };
  return list;
}

const SideFile& listed(std::string_view name) {
  return *std::ranges::find(side_files(), name, &SideFile::name);
}

// Folder of a path's side files; none if the path is a single file.
std::optional<fs::path> folder_of(const std::string& path) {
  std::error_code ignored;
  const fs::path given(path);
  if (fs::is_directory(given, ignored)) return given;
  return given.extension() == ".txt" ? std::optional(given.parent_path()) : std::nullopt;
}

std::vector<std::string> files_of(const std::string& path, const std::function<bool(const SideFile&)>& wanted) {
  std::vector<std::string> files;
  const std::optional<fs::path> folder = folder_of(path);
  if (!folder) return files;
  for (const SideFile& file : side_files()) {
    std::error_code ignored;
    const fs::path name = *folder / file.name;
    if (wanted(file) && fs::is_regular_file(name, ignored)) files.push_back(name.string());
  }
  return files;
}

using Document = std::unique_ptr<const JsonDocument>;

// A token is its text, or an object that holds it.
std::string_view text_of_token(const JsonNode& token) {
  return token.is_object() ? token["content"].text() : token.text();
}

// Special tokens that have no role, as a list or as an object that names them.
std::vector<JsonNode> special_without_role(const JsonNode& config) {
  std::vector<JsonNode> tokens;
  for (const char* name : {"additional_special_tokens", "extra_special_tokens"}) {
    const JsonNode field = config[name];
    if (field.is_null()) continue;
    for (const JsonNode& token : field.is_object() ? field.members() : field.list()) tokens.push_back(token);
  }
  return tokens;
}

void note_once(std::vector<Index>& list, Index id) {
  if (std::ranges::count(list, id) == 0) list.push_back(id);
}

// Writes what BERT's settings do to a text as steps, between which tokens can be found.
void use_steps(TokenizerModel& tokenizer, bool spaces_chinese = true) {
  if (tokenizer.kind != TokenizerKind::wordpiece || !tokenizer.cuts.empty()) return;
  tokenizer_json::TextSteps steps;
  steps.spaces_chinese = spaces_chinese;
  steps.lowercase = std::exchange(tokenizer.lowercase, false);
  steps.strip_accents = std::exchange(tokenizer.strip_accents, false);
  tokenizer.normalisers = tokenizer_json::bert_normalisers(steps);
  tokenizer.cuts = tokenizer_json::bert_cuts();
}

bool lowers_case(const TokenizerModel& tokenizer) {
  return tokenizer.lowercase || std::ranges::count(tokenizer.normalisers, "lowercase") > 0;
}

// The tokens that side files add to a vocabulary, and what its tokens are for.
class TokenizerPatch {
 public:
  TokenizerPatch(TokenizerModel& tokenizer, bool describes_itself)
      : tokenizer_(tokenizer), describes_itself_(describes_itself) {
    ids_.reserve(tokenizer.pieces.size());
    for (std::size_t id = 0; id < tokenizer.pieces.size(); ++id) {
      ids_.emplace(tokenizer.pieces[id], static_cast<Index>(id));
    }
  }

  void note_special(const JsonNode& config);
  void note_added(const JsonNode& token, std::string_view content, Index id);
  void add_tokens();
  void give_roles(const JsonNode& config);

 private:
  struct Added {
    std::string content;
    JsonNode where;
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };

  Index id_of(const JsonNode& token) const {
    const auto found = ids_.find(text_of_token(token));
    if (found == ids_.end()) {
      token.refuse(concatenate("names ", text::quoted(text_of_token(token)), ", which is not a token"));
    }
    return found->second;
  }
  bool is_special(Index id) const { return std::ranges::count(tokenizer_.special_tokens, id) > 0; }
  void make_special(Index id) {
    std::erase(tokenizer_.added_tokens, id);
    if (!is_special(id)) tokenizer_.special_tokens.push_back(id);
  }
  void strip(const JsonNode& token, Index id) const;
  void add(Index id, const Added& added);

  TokenizerModel& tokenizer_;
  bool describes_itself_;
  std::unordered_map<std::string, Index, Hash, std::equal_to<>> ids_;
  std::map<Index, Added> added_;
  std::vector<std::string> special_;
};

void TokenizerPatch::note_special(const JsonNode& config) {
  for (const TokenRole& role : token_roles) {
    if (const JsonNode token = config[role.name]; !token.is_null()) special_.emplace_back(text_of_token(token));
  }
  for (const JsonNode& token : special_without_role(config)) special_.emplace_back(text_of_token(token));
}

void TokenizerPatch::note_added(const JsonNode& token, std::string_view content, Index id) {
  const auto [found, is_new] = added_.emplace(id, Added{std::string(content), token});
  if (!is_new && found->second.content != content) {
    token.refuse(concatenate("is ", text::quoted(content), ", but another file beside it has ",
                             text::quoted(found->second.content), " for this id"));
  }
  if (token.is_object()) found->second.where = token;
}

void TokenizerPatch::strip(const JsonNode& token, Index id) const {
  if (!token.is_object()) return;
  const auto note = [&](const char* side, std::vector<Index>& list) {
    if (token[side].flag_or(false)) note_once(list, id);
  };
  note("lstrip", tokenizer_.strip_left);
  note("rstrip", tokenizer_.strip_right);
}

void TokenizerPatch::add(Index id, const Added& added) {
  const auto& [content, where] = added;
  const auto size = static_cast<Index>(tokenizer_.pieces.size());
  if (id == size && !ids_.contains(content)) {
    if (tokenizer_.scores.size() == tokenizer_.pieces.size() && !tokenizer_.scores.empty()) {
      tokenizer_.scores.push_back(0);
    }
    tokenizer_.pieces.push_back(content);
    ids_.emplace(content, id);
  } else if (const auto found = ids_.find(content); found == ids_.end() || found->second != id) {
    where.refuse(concatenate("gives ", text::quoted(content), " the id ", id,
                             ", which is not its id and not the next of ", size, " pieces"));
  }
  bool special = std::ranges::count(special_, content) > 0, normalised = !special;
  if (where.is_object()) {
    if (where["single_word"].flag_or(false)) note_once(tokenizer_.single_words, id);
    special = special || where["special"].flag_or(false);
    normalised = where["normalized"].flag_or(!special);
  }
  if (special) make_special(id);
  if (is_special(id)) return strip(where, id);
  if (normalised && (tokenizer_.lowercase || !tokenizer_.normalisers.empty())) {
    use_steps(tokenizer_);
    note_once(tokenizer_.normalised_tokens, id);
  }
  if (std::ranges::count(tokenizer_.added_tokens, id) == 0) tokenizer_.added_tokens.push_back(id);
  strip(where, id);
}

void TokenizerPatch::add_tokens() {
  for (const auto& [id, added] : added_) add(id, added);
}

void TokenizerPatch::give_roles(const JsonNode& config) {
  for (const TokenRole& role : token_roles) {
    const JsonNode token = config[role.name];
    if (token.is_null()) continue;
    const bool frames = role.id == &TokenizerModel::classification || role.id == &TokenizerModel::separator;
    const bool unknown = role.id == &TokenizerModel::unknown, pads = role.id == &TokenizerModel::padding;
    // tokenizer.json has these itself; bytes are never unknown.
    if ((frames || unknown) && describes_itself_) continue;
    if (unknown && tokenizer_.kind == TokenizerKind::bpe) continue;
    if (pads && !ids_.contains(text_of_token(token))) continue;  // is never in a text
    const Index id = id_of(token);
    if (pads && id == tokenizer_.end_of_text) continue;
    make_special(id);
    tokenizer_.*role.id = id;
    strip(token, id);
  }
  for (const JsonNode& token : special_without_role(config)) {
    make_special(id_of(token));
    strip(token, id_of(token));
  }
}

void check_class(const JsonNode& config, const std::vector<std::string_view>& classes) {
  const JsonNode field = config["tokenizer_class"];
  if (field.is_null() || classes.empty()) return;
  std::string_view name = field.text();
  constexpr std::string_view fast = "Fast";
  if (name.ends_with(fast)) name.remove_suffix(fast.size());
  if (name == "PreTrainedTokenizer" || name == "TokenizersBackend") return;  // says nothing of the vocabulary
  if (std::ranges::find(classes, name) == classes.end()) {
    field.refuse(concatenate("is ", text::quoted(field.text()), "; heddle reads this vocabulary as ",
                             join(std::vector<std::string>(classes.begin(), classes.end())),
                             "; put the tokenizer.json that Hugging Face's library makes of it into the directory"));
  }
}

void read_case(const JsonNode& config, bool describes_itself, TokenizerModel& tokenizer) {
  const JsonNode lower = config["do_lower_case"];
  if (tokenizer.kind == TokenizerKind::wordpiece) {
    if (!tokenizer.cuts.empty()) {
      const bool spaces_chinese = std::ranges::count(tokenizer.normalisers, "space-chinese") > 0;
      return expect_fixed(config,
                          {{"do_lower_case", lowers_case(tokenizer)}, {"tokenize_chinese_chars", spaces_chinese}});
    }
    if (!lower.is_null() || !config["strip_accents"].is_null()) {
      tokenizer.lowercase = lower.flag_or(tokenizer.lowercase);
      tokenizer.strip_accents = config["strip_accents"].flag_or(tokenizer.lowercase);
    }
    if (!config["tokenize_chinese_chars"].flag_or(true)) use_steps(tokenizer, false);
  } else if (!describes_itself) {
    expect_fixed(config, {{"do_lower_case", false}, {"strip_accents", false}});
  }
}

// `spaced`: the tokenizer begins each text with a space.
void check_prefix_space(const JsonNode& config, const TokenizerModel& tokenizer) {
  if (tokenizer.kind == TokenizerKind::wordpiece) return;
  const bool of_steps = std::ranges::count(tokenizer.cuts, "prefix-space") > 0;
  expect_fixed(config, {{"add_prefix_space", tokenizer.prefix_space || tokenizer.spaced_words || of_steps}});
}

// added_tokens_decoder has ids as keys.
Index id_of_key(const JsonNode& token) {
  const std::string_view key = token.key();
  Index id = 0;
  const auto [stop, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc() || stop != key.data() + key.size() || id < 0) token.refuse("must have an id as its name");
  return id;
}

// The id that a field of config.json or generation_config.json names must be the one that heddle has for it. Ids
// outside the vocabulary are defaults of other vocabularies.
void expect_token(const JsonNode& config, const char* name, Index id, const TokenizerModel& tokenizer) {
  const JsonNode field = config[name];
  const auto differs = [&](const JsonNode& one) {
    return one.is_count() && one.number() != id && one.number() < static_cast<Index>(tokenizer.pieces.size());
  };
  bool good = !differs(field);
  if (field.is_list()) {
    for (const JsonNode& one : field.list()) good = good && !differs(one);
  }
  if (good) return;
  field.refuse(concatenate("is ", field.shown(), "; heddle has ",
                           id < 0 ? std::string("no such token here") : concatenate("one such token, ", id)));
}

void check_modules(const fs::path& folder) {
  const Document document = open_side_file(folder, "modules.json");
  if (!document) return;
  for (const JsonNode& module : JsonNode(*document).list()) {
    const std::string_view type = module["type"].text();
    const bool known = type.ends_with(".Transformer") || type.ends_with(".Pooling") || type.ends_with(".Normalize");
    if (!known) {
      module["type"].refuse(
          concatenate("is ", text::quoted(type), "; heddle has a transformer, pooling and normalization"));
    }
  }
}

std::vector<std::string> fields_without_use(const JsonNode& document, const std::vector<std::string_view>& used) {
  std::vector<std::string> unused;
  if (!document.is_object()) return unused;
  for (const JsonNode& field : document.members()) {
    if (std::ranges::find(used, field.key()) == used.end()) unused.emplace_back(field.key());
  }
  return unused;
}

std::vector<std::string_view> used_fields(const SideFile& file, const JsonNode& document) {
  std::vector<std::string_view> used = file.carried_out;
  for (const FixedField& field : file.fixed) used.emplace_back(field.name);
  if (file.name == model_config && document.is_object() && document["model_type"].is_text()) {
    used.emplace_back("model_type");
    for (const ForeignArchitecture& architecture : foreign_architectures()) {
      if (architecture.model_type != document["model_type"].text()) continue;
      used.insert(used.end(), architecture.fields.begin(), architecture.fields.end());
    }
  }
  return used;
}

}  // namespace

std::unique_ptr<const JsonDocument> open_side_file(const std::filesystem::path& folder, const char* name) {
  const fs::path file = folder / name;
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return nullptr;
  Document document(new JsonDocument(read_json(file.string())));
  expect_fixed(JsonNode(*document), listed(name).fixed);
  return document;
}

std::vector<std::string> side_files_of(const std::string& path) {
  return files_of(path, [](const SideFile&) { return true; });
}

std::vector<std::string> tokenizer_side_files(const std::string& path) {
  return files_of(path, std::mem_fn(&SideFile::of_tokenizer));
}

void apply_side_files(const std::string& path, const std::vector<std::string_view>& classes,
                      TokenizerModel& tokenizer) {
  const std::optional<fs::path> folder = folder_of(path);
  if (!folder) return;
  const Document config = open_side_file(*folder, tokenizer_file), map = open_side_file(*folder, special_file),
                 added = open_side_file(*folder, added_file);
  if (!config && !map && !added) return;
  const bool describes_itself = classes.empty();
  if (config) {
    check_class(JsonNode(*config), classes);
    read_case(JsonNode(*config), describes_itself, tokenizer);
    check_prefix_space(JsonNode(*config), tokenizer);
  }
  TokenizerPatch patch(tokenizer, describes_itself);
  for (const Document* document : {&map, &config}) {
    if (*document) patch.note_special(JsonNode(**document));
  }
  if (added) {
    for (const JsonNode& token : JsonNode(*added).members()) patch.note_added(token, token.key(), token.number());
  }
  if (config) {
    const JsonNode tokens = JsonNode(*config)["added_tokens_decoder"];
    if (!tokens.is_null()) {
      for (const JsonNode& token : tokens.members()) {
        patch.note_added(token, token["content"].text(), id_of_key(token));
      }
    }
  }
  patch.add_tokens();
  for (const Document* document : {&map, &config}) {
    if (*document) patch.give_roles(JsonNode(**document));
  }
}

void check_side_files(const std::string& directory, const JsonNode& config, const ModelTokens& tokens) {
  const fs::path folder(directory);
  expect_fixed(config, listed(model_config).fixed);
  const Document generated = open_side_file(folder, generation);
  for (const JsonNode& node : {config, generated ? JsonNode(*generated) : config}) {
    expect_token(node, "forced_bos_token_id", tokens.tokenizer.classification, tokens.tokenizer);
    if (tokens.end >= 0) expect_token(node, "eos_token_id", tokens.end, tokens.tokenizer);
    if (tokens.start >= 0) expect_token(node, "decoder_start_token_id", tokens.start, tokens.tokenizer);
  }
  if (const Document framing = open_side_file(folder, tokenizer_file)) {
    expect_fixed(JsonNode(*framing), {{"add_bos_token", false}, {"add_eos_token", false}});
  }
  if (const Document sentence = open_side_file(folder, sentences); sentence && !lowers_case(tokens.tokenizer)) {
    expect_fixed(JsonNode(*sentence), {{"do_lower_case", false}});
  }
  open_side_file(folder, pooling);
  open_side_file(folder, prompts);
  check_modules(folder);
}

std::vector<std::string> unused_fields(const std::string& path) {
  std::vector<std::string> lines;
  const std::optional<fs::path> folder = folder_of(path);
  if (!folder) return lines;
  for (const SideFile& file : side_files()) {
    const fs::path name = *folder / file.name;
    std::error_code ignored;
    if (file.name == added_file || !fs::is_regular_file(name, ignored)) continue;
    const JsonDocument document = read_json(name.string());
    const std::vector<std::string> unused =
        fields_without_use(JsonNode(document), used_fields(file, JsonNode(document)));
    if (!unused.empty()) lines.push_back(concatenate(name.string(), ": not used: ", join(unused)));
  }
  return lines;
}

}  // namespace heddle::formats
