#include "formats/huggingface/gpt2_vocabulary.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/files/atomic_file.hpp"
#include "formats/files/descriptor.hpp"
#include "formats/files/lines.hpp"
#include "formats/huggingface/piece_list.hpp"
#include "formats/json/ordered_object.hpp"
#include "libcore/base/error.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

struct Files {
  std::string pieces, merges;
};

std::optional<Files> find_files(const std::string& directory) {
  constexpr std::array<std::pair<const char*, const char*>, 2> namings = {
      {{"vocab.json", "merges.txt"}, {"encoder.json", "vocab.bpe"}}};
  for (const auto& [pieces, merges] : namings) {
    const std::filesystem::path folder(directory);
    Files files{(folder / pieces).string(), (folder / merges).string()};
    std::error_code ignored;
    if (std::filesystem::is_regular_file(files.pieces, ignored) &&
        std::filesystem::is_regular_file(files.merges, ignored)) {
      return files;
    }
  }
  return std::nullopt;
}

using Ids = std::unordered_map<std::string_view, Index>;

Ids ids_of(const std::vector<std::string>& pieces) {
  Ids ids;
  ids.reserve(pieces.size());
  for (const std::string& piece : pieces) ids.emplace(piece, static_cast<Index>(ids.size()));
  return ids;
}

std::vector<Index> read_merges(const std::string& path, const Ids& ids) {
  std::vector<Index> merges;
  const std::string text = read_text(path);
  std::string_view rest = text;
  const char end = has_lone_returns(text) ? '\r' : '\n';
  merges.reserve(2 * static_cast<std::size_t>(std::ranges::count(text, end) + 1));
  for (Index line_number = 1; !rest.empty(); ++line_number) {
    std::string_view line = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    check<DataError>(space != line.npos, path, ":", line_number, ": ", text::quoted(line),
                     " is not a merge, which is two pieces separated by a space");
    for (const std::string_view side : {line.substr(0, space), line.substr(space + 1)}) {
      const auto piece = ids.find(side);
      check<DataError>(piece != ids.end(), path, ":", line_number, ": ", text::quoted(side),
                       " is not a piece of the vocabulary");
      merges.push_back(piece->second);
    }
  }
  return merges;
}

// GPT-2 has one special token. RoBERTa, whose files have the same format, has others and treats GPT-2's as text.
void give_roles(text::TokenizerModel& model, const Ids& ids) {
  const auto special = [&](const char* piece) {
    const auto found = ids.find(piece);
    if (found == ids.end()) return Index{-1};
    model.special_tokens.push_back(found->second);
    return found->second;
  };
  if (!ids.contains("<s>") || !ids.contains("</s>") || !ids.contains("<mask>")) {
    model.end_of_text = special("<|endoftext|>");
    return;
  }
  model.classification = special("<s>");
  model.end_of_text = model.separator = special("</s>");
  model.padding = special("<pad>");
  special("<unk>");  // never needed where every byte is a piece
  model.mask = special("<mask>");
  std::ranges::sort(model.special_tokens);
  model.strip_left = {model.mask};
  model.pair_separators = 2;
}

}  // namespace

std::vector<std::string> gpt2_vocabulary_files(const std::string& directory) {
  const std::optional<Files> files = find_files(directory);
  return files ? std::vector{files->pieces, files->merges} : std::vector<std::string>{};
}

text::TokenizerModel read_gpt2_vocabulary(const std::string& directory) {
  const std::optional<Files> files = find_files(directory);
  check<DataError>(files.has_value(), directory,
                   ": not a GPT-2 vocabulary, which needs vocab.json and merges.txt, or encoder.json and vocab.bpe");
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::bpe;
  model.pieces = read_piece_list(files->pieces);
  const Ids ids = ids_of(model.pieces);
  model.merges = read_merges(files->merges, ids);
  give_roles(model, ids);
  return model;
}

void write_gpt2_vocabulary(const std::string& directory, const text::TokenizerModel& model) {
  std::vector<std::pair<std::string, std::size_t>> ids;
  for (std::size_t id = 0; id < model.pieces.size(); ++id) ids.emplace_back(model.pieces[id], id);
  std::string merges = "#version: 0.2\n";
  for (std::size_t i = 0; i + 1 < model.merges.size(); i += 2) {
    const auto piece = [&](std::size_t at) { return model.pieces[static_cast<std::size_t>(model.merges[at])]; };
    merges += piece(i) + ' ' + piece(i + 1) + '\n';
  }
  const std::filesystem::path folder(directory);
  AtomicFile pieces_file((folder / "vocab.json").string()), merges_file((folder / "merges.txt").string());
  pieces_file.write(ordered_object(ids).dump());
  merges_file.write(merges);
  pieces_file.commit();
  merges_file.commit();
}

}  // namespace heddle::formats
