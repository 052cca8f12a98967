#include "formats/huggingface/foreign_tokenizer.hpp"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "formats/files/atomic_file.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/gpt2_vocabulary.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "formats/huggingface/side_files.hpp"
#include "formats/huggingface/tokenizer_json.hpp"
#include "formats/huggingface/wordpiece_vocabulary.hpp"

namespace heddle::formats {

namespace {

using Json = nlohmann::ordered_json;
using text::TokenizerKind;
using text::TokenizerModel;

// The tokenizer class of transformers; the fast one reads only tokenizer.json, the others also have files of their own.
enum class Class { fast, gpt2, roberta, bert };

Class class_of(const TokenizerModel& tokenizer) {
  const bool own_letters = tokenizer.european_accents || tokenizer.final_sigma;
  const bool own_steps = !tokenizer.normalisers.empty() || !tokenizer.cuts.empty();
  if (tokenizer.kind == TokenizerKind::wordpiece) return own_letters || own_steps ? Class::fast : Class::bert;
  if (tokenizer.kind != TokenizerKind::bpe || own_steps || tokenizer.whole_words) return Class::fast;
  return tokenizer.classification >= 0 ? Class::roberta : Class::gpt2;
}

Json tokenizer_config(const TokenizerModel& tokenizer) {
  static const std::map<Class, const char*> names{{Class::fast, "PreTrainedTokenizerFast"},
                                                  {Class::gpt2, "GPT2Tokenizer"},
                                                  {Class::roberta, "RobertaTokenizer"},
                                                  {Class::bert, "BertTokenizer"}};
  const Class kind = class_of(tokenizer);
  Json json{{"tokenizer_class", names.at(kind)}};
  // A class adds default tokens for token_roles that are not set to the vocabulary.
  for (const auto& [name, id] : token_roles) {
    json[name] = tokenizer.*id < 0 ? Json() : Json(tokenizer.pieces[static_cast<std::size_t>(tokenizer.*id)]);
  }
  json["bos_token"] = kind == Class::roberta ? json["cls_token"] : json["eos_token"];
  if (kind == Class::gpt2 && json["unk_token"].is_null()) json["unk_token"] = json["eos_token"];
  // By default texts come with segment ids, which models without segments refuse or treat as tokens.
  if (kind == Class::fast && tokenizer.classification < 0) {
    json["model_input_names"] = Json::array({"input_ids", "attention_mask"});
  }
  if (kind != Class::bert) return json;
  json["do_lower_case"] = tokenizer.lowercase;
  json["strip_accents"] = tokenizer.strip_accents;
  return json;
}

}  // namespace

DirectoryTokenizers read_directory_tokenizers(const std::string& directory) {
  const std::filesystem::path folder(directory);
  const ForeignVocabulary* const format = find_foreign_vocabulary(directory);
  const auto refuse_if = [&](const char* name, const char* problem) {
    std::error_code ignored;
    const bool alone = format == nullptr && std::filesystem::exists(folder / name, ignored);
    check<DataError>(!alone, (folder / name).string(), ": ", problem);
  };
  refuse_if("source.spm", "heddle reads it beside target.spm and vocab.json, one of which is missing");
  refuse_if("sentencepiece.bpe.model",
            "has other ids than the model; put the tokenizer.json that Hugging Face's library makes of it into the "
            "directory");
  DirectoryTokenizers tokenizers{load_tokenizer(directory).model(), std::nullopt};
  if (format != nullptr && format->read_source != nullptr) {
    TokenizerModel source = load_tokenizer(directory, Side::source).model();
    if (source != tokenizers.target) tokenizers.source = std::move(source);
  }
  return tokenizers;
}

void write_directory_tokenizer(const std::string& directory, const TokenizerModel& tokenizer) {
  const std::filesystem::path folder(directory);
  write_tokenizer_json((folder / "tokenizer.json").string(), tokenizer);
  const Class kind = class_of(tokenizer);
  if (kind == Class::bert) write_wordpiece_vocabulary(directory, tokenizer);
  if (kind == Class::gpt2 || kind == Class::roberta) write_gpt2_vocabulary(directory, tokenizer);
  AtomicFile file((folder / "tokenizer_config.json").string());
  file.write(tokenizer_config(tokenizer).dump(2) + "\n");
  file.commit();
}

}  // namespace heddle::formats
