// The small JSON files beside a vocabulary or a model of Hugging Face's. The lists of side_files.cpp say for each file
// which fields heddle carries out and which it refuses, because they change the ids of a text or what a model computes;
// the other fields are reported by unused_fields().
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json/node.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::formats {

// The tokens that tokenizer_config.json and special_tokens_map.json name.
struct TokenRole {
  const char* name;
  Index text::TokenizerModel::*id;
};
inline constexpr std::array token_roles{TokenRole{"unk_token", &text::TokenizerModel::unknown},
                                        TokenRole{"eos_token", &text::TokenizerModel::end_of_text},
                                        TokenRole{"cls_token", &text::TokenizerModel::classification},
                                        TokenRole{"sep_token", &text::TokenizerModel::separator},
                                        TokenRole{"mask_token", &text::TokenizerModel::mask},
                                        TokenRole{"pad_token", &text::TokenizerModel::padding}};

// The side files that exist in a directory, or beside a vocab.txt, config.json among them; a path to another file
// stands for that file alone. The second: those of them that are read where a tokenizer is named.
std::vector<std::string> side_files_of(const std::string& path);
std::vector<std::string> tokenizer_side_files(const std::string& path);

// Gives the tokenizer that was read from the path the added tokens, the roles and the case that its side files say.
// `classes` are the values of tokenizer_class (without "Fast") whose vocabulary heddle reads as it did; empty for
// tokenizer.json, which describes itself. Throws DataError, "FILE: FIELD: …", for what is not carried out.
void apply_side_files(const std::string& path, const std::vector<std::string_view>& classes,
                      text::TokenizerModel& tokenizer);

// Throws DataError for fields of a model directory's files that change what the model computes and that heddle does not
// carry out. `end` is the id that ends texts, `start` the one that targets start with; -1 for none.
struct ModelTokens {
  const text::TokenizerModel& tokenizer;
  Index end, start;
};
void check_side_files(const std::string& directory, const JsonNode& config, const ModelTokens& tokens);

// The document of a side file, whose fields that change meaning are as heddle has them; null where there is none.
// Throws DataError.
std::unique_ptr<const JsonDocument> open_side_file(const std::filesystem::path& folder, const char* name);

// The fields of the side files, and of config.json, that heddle does not use: "FILE: not used: a, b".
std::vector<std::string> unused_fields(const std::string& path);

}  // namespace heddle::formats
