#include "heddle/formats/gpt2_vocabulary.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heddle/base/error.hpp"
#include "heddle/formats/atomic_file.hpp"
#include "heddle/formats/descriptor.hpp"
#include "heddle/text/spelling.hpp"

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

using Ids = std::unordered_map<std::string, Index>;

// Takes a flat object of numbers. Unlike a parsed document it notices a second key that is equal to an earlier one.
class PiecesHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  Ids ids;
  std::string piece;   // the last key
  bool twice = false;  // it had come before
  bool is_json = true;
  std::size_t byte = 0;  // from 1, where the text is not JSON

  bool start_object(std::size_t) override { return !std::exchange(open_, true); }
  bool end_object() override { return true; }
  bool key(string_t& text) override {
    piece = text;
    return open_;
  }
  bool number_unsigned(number_unsigned_t id) override {
    if (!open_ || id > max_id) return false;
    twice = !ids.emplace(piece, static_cast<Index>(id)).second;
    return !twice;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) override {
    is_json = false;
    byte = position;
    return false;
  }
  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_integer(number_integer_t) override { return false; }
  bool number_float(number_float_t, const string_t&) override { return false; }
  bool string(string_t&) override { return false; }
  bool binary(binary_t&) override { return false; }
  bool start_array(std::size_t) override { return false; }
  bool end_array() override { return false; }

 private:
  static constexpr number_unsigned_t max_id = 0x7FFFFFFF;
  bool open_ = false;
};

Ids read_ids(const std::string& path) {
  const std::string text = read_text(path);
  PiecesHandler handler;
  const bool good = nlohmann::json::sax_parse(text, &handler);
  const std::string_view before = std::string_view(text).substr(0, handler.byte);
  check<DataError>(handler.is_json, path, ":", std::ranges::count(before, '\n') + 1, ": not valid JSON");
  check<DataError>(!handler.twice, path, ": has the piece ", text::quoted(handler.piece), " twice");
  check<DataError>(good && !handler.ids.empty(), path, ": is not a JSON object from pieces to ids, after the key ",
                   text::quoted(handler.piece));
  return std::move(handler.ids);
}

std::vector<std::string> pieces_in_order(const Ids& ids, const std::string& path) {
  std::vector<std::string> pieces(ids.size());
  for (const auto& [piece, id] : ids) {
    check<DataError>(id < static_cast<Index>(pieces.size()), path, ": the id ", id, " of ", text::quoted(piece),
                     " is outside its ", pieces.size(), " pieces");
    std::string& place = pieces[static_cast<std::size_t>(id)];
    check<DataError>(place.empty() && !piece.empty(), path, ": the pieces ", text::quoted(place), " and ",
                     text::quoted(piece), " have the id ", id);
    place = piece;
  }
  return pieces;
}

std::vector<Index> read_merges(const std::string& path, const Ids& ids) {
  std::vector<Index> merges;
  const std::string text = read_text(path);
  std::string_view rest = text;
  for (Index line_number = 1; !rest.empty(); ++line_number) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (line_number == 1 && line.starts_with("#version"))) continue;
    const std::size_t space = line.find(' ');
    check<DataError>(space != line.npos, path, ":", line_number, ": ", text::quoted(line),
                     " is no merge, which is two pieces and a space between them");
    for (const std::string_view side : {line.substr(0, space), line.substr(space + 1)}) {
      const auto piece = ids.find(std::string(side));
      check<DataError>(piece != ids.end(), path, ":", line_number, ": ", text::quoted(side),
                       " is no piece of the vocabulary");
      merges.push_back(piece->second);
    }
  }
  return merges;
}

// GPT-2 has one special token. RoBERTa, whose files are the same, has others, and GPT-2's as text.
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
                   ": no GPT-2 vocabulary; it needs vocab.json and merges.txt, or encoder.json and vocab.bpe");
  const Ids ids = read_ids(files->pieces);
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::bpe;
  model.pieces = pieces_in_order(ids, files->pieces);
  model.merges = read_merges(files->merges, ids);
  give_roles(model, ids);
  return model;
}

void write_gpt2_vocabulary(const std::string& directory, const text::TokenizerModel& model) {
  nlohmann::ordered_json ids = nlohmann::ordered_json::object();
  for (std::size_t id = 0; id < model.pieces.size(); ++id) ids[model.pieces[id]] = id;
  std::string merges = "#version: 0.2\n";
  for (std::size_t i = 0; i + 1 < model.merges.size(); i += 2) {
    const auto piece = [&](std::size_t at) { return model.pieces[static_cast<std::size_t>(model.merges[at])]; };
    merges += piece(i) + ' ' + piece(i + 1) + '\n';
  }
  const std::filesystem::path folder(directory);
  AtomicFile pieces_file((folder / "vocab.json").string()), merges_file((folder / "merges.txt").string());
  pieces_file.write(ids.dump());
  merges_file.write(merges);
  pieces_file.commit();
  merges_file.commit();
}

}  // namespace heddle::formats
