#include "formats/huggingface/wordpiece_vocabulary.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "formats/files/atomic_file.hpp"
#include "formats/files/descriptor.hpp"
#include "formats/files/lines.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/letter_case.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr std::string_view file_name = "vocab.txt";

using Ids = std::unordered_map<std::string_view, Index>;

// The keys are views of the file's text.
Ids read_pieces(std::string_view text, const std::string& path, std::vector<std::string>& pieces) {
  constexpr auto hint = "; the file was read as BERT's vocab.txt, one piece per line: is it plain text?";
  constexpr Index most_blank = 100;
  Ids ids;
  Index blank = 0;
  const char end = has_lone_returns(text) ? '\r' : '\n';
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, end)) + 1;
  ids.reserve(lines);
  pieces.reserve(lines);
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find(end));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto id = static_cast<Index>(pieces.size());
    // The piece, of white space perhaps, was lost in an editor, but its place is that of an id.
    if (line.empty() && ++blank <= most_blank) {
      pieces.push_back(concatenate("blank line ", id + 1));
      continue;
    }
    check<DataError>(!line.empty() && is_utf8(line), path, ":", id + 1, ": a piece must be UTF-8 text, not ",
                     text::quoted(line), hint);
    const auto [found, is_new] = ids.emplace(line, id);
    check<DataError>(is_new, path, ":", id + 1, ": the piece ", text::quoted(line), " is already in line ",
                     found->second + 1, hint);
    pieces.emplace_back(line);
  }
  return ids;
}

// Of any script.
bool has_capitals(std::string_view piece) {
  return text::in_lower_case(piece) != piece;
}

}  // namespace

std::vector<std::string> wordpiece_vocabulary_files(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given(path);
  const std::filesystem::path file = std::filesystem::is_directory(given, ignored) ? given / file_name : given;
  const bool found = file.extension() == ".txt" && std::filesystem::is_regular_file(file, ignored);
  return found ? std::vector{file.string()} : std::vector<std::string>{};
}

text::TokenizerModel read_wordpiece_vocabulary(const std::string& path) {
  const std::vector<std::string> files = wordpiece_vocabulary_files(path);
  check<DataError>(!files.empty(), path, ": not a BERT vocabulary, which is vocab.txt or another .txt file");
  const std::string& file = files[0];
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::wordpiece;
  const std::string text = read_text(file);
  const Ids ids = read_pieces(text, file, model.pieces);
  const auto special = [&](const char* piece) {
    const auto found = ids.find(piece);
    if (found == ids.end()) return Index{-1};
    model.special_tokens.push_back(found->second);
    return found->second;
  };
  model.padding = special("[PAD]");
  model.unknown = special("[UNK]");
  model.classification = special("[CLS]");
  model.separator = special("[SEP]");
  model.mask = special("[MASK]");
  check<DataError>(model.unknown >= 0, file, ": not a BERT vocabulary: it has no piece [UNK]");
  const bool cased = std::ranges::any_of(
      model.pieces, [](const std::string& piece) { return piece.front() != '[' && has_capitals(piece); });
  model.lowercase = model.strip_accents = !cased;
  return model;
}

void write_wordpiece_vocabulary(const std::string& directory, const text::TokenizerModel& model) {
  AtomicFile file((std::filesystem::path(directory) / file_name).string());
  file.write(join(model.pieces, "\n") + "\n");
  file.commit();
}

}  // namespace heddle::formats
