#include "formats/huggingface/marian_vocabulary.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "formats/huggingface/piece_list.hpp"
#include "formats/huggingface/side_files.hpp"
#include "formats/sentencepiece/sentencepiece_reader.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

namespace {

constexpr const char* target_ids = "target_vocab.json";

std::string in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

text::TokenizerModel read_side(const std::string& segmentation, const std::string& vocabulary) {
  text::TokenizerModel model = read_segmentation(segmentation);
  model.pieces = read_piece_list(vocabulary);
  for (std::size_t id = 0; id < model.pieces.size(); ++id) {
    std::string& piece = model.pieces[id];
    const auto number = static_cast<Index>(id);
    const std::pair<const char*, Index*> roles[] = {
        {"</s>", &model.end_of_text}, {"<unk>", &model.unknown}, {"<pad>", &model.padding}};
    const auto role = std::ranges::find_if(roles, [&](const auto& one) { return piece == one.first; });
    if (role != std::end(roles)) *role->second = number;
    if (role != std::end(roles) || (piece.starts_with(">>") && piece.ends_with("<<"))) {
      model.special_tokens.push_back(number);
    } else {
      piece = spelling_of_piece(model.kind, piece);
    }
  }
  check<DataError>(model.unknown >= 0 && model.end_of_text >= 0, vocabulary, ": lacks ",
                   model.unknown < 0 ? "<unk>" : "</s>", ", which Marian's vocabularies have");
  return model;
}

}  // namespace

namespace {

// The files, of which those of ids are as many as tokenizer_config.json says.
std::vector<std::string> checked_files(const std::string& directory) {
  std::vector<std::string> files = marian_vocabulary_files(directory);
  check<DataError>(!files.empty(), directory, ": lacks source.spm, target.spm or vocab.json");
  const bool has_own = files.size() > 3;
  if (const auto config = open_side_file(directory, "tokenizer_config.json")) {
    const JsonNode separate = JsonNode(*config)["separate_vocabs"];
    if (separate.flag_or(has_own) != has_own) {
      separate.refuse(has_own ? concatenate("is false, but there is a ", target_ids)
                              : concatenate("is true, but there is no ", target_ids, " with the ids of targets"));
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> marian_vocabulary_files(const std::string& directory) {
  std::vector<std::string> files{in(directory, "source.spm"), in(directory, "target.spm"), in(directory, "vocab.json")};
  if (!std::ranges::all_of(files, is_file)) return {};
  if (is_file(in(directory, target_ids))) files.push_back(in(directory, target_ids));
  return files;
}

text::TokenizerModel read_marian_vocabulary(const std::string& directory) {
  const std::vector<std::string> files = checked_files(directory);
  return read_side(files[1], files.back());
}

text::TokenizerModel read_marian_source(const std::string& directory) {
  const std::vector<std::string> files = checked_files(directory);
  return read_side(files[0], files[2]);
}

}  // namespace heddle::formats
