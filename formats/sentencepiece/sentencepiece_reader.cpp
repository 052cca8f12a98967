#include "formats/sentencepiece/sentencepiece_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "formats/files/mapped_file.hpp"
#include "formats/json/node.hpp"
#include "formats/sentencepiece/model_proto.hpp"
#include "libcore/base/base64.hpp"
#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/charsmap.hpp"
#include "libcore/text/sentinels.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

using text::TokenizerKind;
using text::TokenizerModel;
using PieceType = ModelProto::PieceType;

class SentencePieceReader {
 public:
  explicit SentencePieceReader(const std::string& file)
      : mapped_(Descriptor::open_for_reading(file)), proto_(bytes(), file) {
    read_steps();
  }

  TokenizerModel tokenizer();
  TokenizerModel segmentation();

 private:
  std::string_view bytes() const { return {reinterpret_cast<const char*>(mapped_.data()), mapped_.size()}; }
  void read_steps();
  void check_piece(const ModelProto::Piece& piece) const;
  double score_of(const ModelProto::Piece& piece) const;
  Index control_token(Index id) const;

  MappedFile mapped_;
  ModelProto proto_;
  std::optional<text::Charsmap> map_;
  TokenizerModel result_;
  bool has_space_ = false;  // a piece for a space
};

// Normalisation of text before it is cut into pieces.
void SentencePieceReader::read_steps() {
  const auto refuse = [&](const auto&... problem) { throw DataError(concatenate(proto_.file(), ": ", problem...)); };
  const bool is_bpe = proto_.algorithm == ModelProto::Algorithm::bpe;
  if (!is_bpe && proto_.algorithm != ModelProto::Algorithm::unigram) {
    refuse("trainer_spec.model_type: is ", proto_.algorithm == ModelProto::Algorithm::word ? "word" : "char",
           "; heddle reads unigram and bpe");
  }
  if (!proto_.mark_spaces) refuse("normalizer_spec.escape_whitespaces: is false; heddle supports only true");
  if (proto_.spaces_at_ends) refuse("trainer_spec.treat_whitespace_as_suffix: is true; heddle supports only false");
  if (proto_.denormalises) refuse("denormalizer_spec: has a map of characters, which heddle does not support");
  result_.kind = is_bpe ? TokenizerKind::char_bpe : TokenizerKind::unigram;
  if (proto_.remove_spaces && proto_.add_first_space) {
    result_.spaced_words = result_.only_spaces = true;
    if (proto_.charsmap.empty()) return;
    try {
      map_.emplace(proto_.charsmap);
    } catch (const DataError& error) {
      refuse("normalizer_spec.precompiled_charsmap (", text::quoted(proto_.normalisation), "): ", error.what());
    }
    result_.charsmap = {to_base64(proto_.charsmap)};
  } else if (!is_bpe || proto_.remove_spaces) {
    refuse("normalizer_spec: add_dummy_prefix and remove_extra_whitespaces must both be true in a ",
           is_bpe ? "bpe" : "unigram", " model", is_bpe ? ", or the latter false" : "");
  } else {
    if (!proto_.charsmap.empty()) {
      refuse("normalizer_spec.precompiled_charsmap: heddle supports a map of characters only with ",
             "remove_extra_whitespaces");
    }
    result_.prefix_space = proto_.add_first_space;
  }
}

std::string spelled(TokenizerKind kind, const ModelProto::Piece& piece) {
  return spelling_of_piece(kind, piece.text);
}

void SentencePieceReader::check_piece(const ModelProto::Piece& piece) const {
  const bool is_unigram = result_.kind == TokenizerKind::unigram;
  if (piece.type == PieceType::unused) piece.field.refuse("a piece of the type unused, which heddle does not support");
  if (piece.type == PieceType::user_defined) {
    if (!is_unigram) {
      piece.field.refuse(concatenate("the piece ", text::quoted(piece.text),
                                     " is of the type user_defined, which heddle supports only in unigram models"));
    }
    std::string normalised(piece.text);
    if (map_) {
      normalised.clear();
      map_->apply(piece.text, normalised);
    }
    if (spelling_of_piece(result_.kind, normalised) != spelled(result_.kind, piece)) {
      piece.field.refuse(concatenate("the user-defined piece ", text::quoted(piece.text),
                                     " has characters that other text is without; heddle does not support that"));
    }
  }
  const bool is_cut = piece.type == PieceType::normal || piece.type == PieceType::user_defined;
  if (is_cut && piece.text.find(' ') != piece.text.npos) {
    piece.field.refuse(concatenate("the piece ", text::quoted(piece.text), " has a space; in pieces they are U+2581"));
  }
  if (is_cut && result_.spaced_words && piece.text.find(text::space_mark, 1) != piece.text.npos) {
    piece.field.refuse(concatenate("the piece ", text::quoted(piece.text),
                                   " goes beyond a word; heddle supports models of pieces within words"));
  }
}

// SentencePiece prefers user-defined pieces to all others, whose scores are negative.
double SentencePieceReader::score_of(const ModelProto::Piece& piece) const {
  return piece.type == PieceType::user_defined ? -0.1 : piece.type == PieceType::normal ? piece.score : 0;
}

// The id where it is that of a control piece, else none.
Index SentencePieceReader::control_token(Index id) const {
  if (id == result_.unknown) return -1;
  return std::ranges::find(result_.special_tokens, id) != result_.special_tokens.end() ? id : -1;
}

TokenizerModel SentencePieceReader::tokenizer() {
  result_.pieces.reserve(static_cast<std::size_t>(proto_.pieces));
  result_.scores.reserve(static_cast<std::size_t>(proto_.pieces));
  proto_.for_each_piece([&](const ModelProto::Piece& piece) {
    check_piece(piece);
    const auto id = static_cast<Index>(result_.pieces.size());
    const bool is_special = piece.type == PieceType::control || piece.type == PieceType::unknown;
    if (is_special) result_.special_tokens.push_back(id);
    if (piece.type == PieceType::unknown) {
      if (result_.unknown >= 0) piece.field.refuse("a second piece of the type unknown");
      result_.unknown = id;
    }
    if (piece.type == PieceType::byte) result_.byte_fallback = true;
    has_space_ = has_space_ || (piece.type == PieceType::normal && piece.text == text::space_mark);
    const bool is_named = is_special || piece.type == PieceType::byte;
    result_.pieces.push_back(is_named ? std::string(piece.text) : spelled(result_.kind, piece));
    result_.scores.push_back(score_of(piece));
  });
  check<DataError>(has_space_, proto_.file(), ": no piece stands for a space");
  result_.end_of_text = control_token(proto_.end_of_text);
  result_.padding = control_token(proto_.padding);
  return std::move(result_);
}

TokenizerModel SentencePieceReader::segmentation() {
  proto_.for_each_piece([&](const ModelProto::Piece& piece) {
    if (piece.type == PieceType::byte) result_.byte_fallback = true;
    if (piece.type != PieceType::normal && piece.type != PieceType::user_defined) return;
    check_piece(piece);
    has_space_ = has_space_ || piece.text == text::space_mark;
    result_.segments.push_back(spelled(result_.kind, piece));
    result_.scores.push_back(score_of(piece));
  });
  check<DataError>(has_space_, proto_.file(), ": no piece stands for a space");
  return std::move(result_);
}

// T5's library adds them after the pieces, the first last.
void add_sentinels(TokenizerModel& model, Index count) {
  for (Index number = count; number-- > 0;) {
    model.special_tokens.push_back(static_cast<Index>(model.pieces.size()));
    model.pieces.push_back(text::sentinel_name(number));
    model.scores.push_back(0);
  }
}

}  // namespace

std::string spelling_of_piece(TokenizerKind kind, std::string_view piece) {
  return text::spell(kind, replaced(piece, text::space_mark, " "));
}

std::vector<std::string> sentencepiece_files(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path given(path);
  const bool is_directory = std::filesystem::is_directory(given, ignored);
  const std::filesystem::path file = is_directory ? given / "spiece.model" : given;
  if (!std::filesystem::is_regular_file(file, ignored)) return {};
  bool found = file.extension() == ".model" || file.extension() == ".spm";
  if (!found) {
    std::string first(8, '\0');
    first.resize(Descriptor::open_for_reading(file.string()).read_at(0, first.data(), first.size()));
    found = begins_like_sentencepiece(first);
  }
  return found ? std::vector{file.string()} : std::vector<std::string>{};
}

TokenizerModel read_sentencepiece(const std::string& path) {
  const std::vector<std::string> files = sentencepiece_files(path);
  check<DataError>(!files.empty(), path, ": no model of SentencePiece, which is a file .model or .spm");
  TokenizerModel model = SentencePieceReader(files[0]).tokenizer();
  const std::filesystem::path config = std::filesystem::path(path) / "tokenizer_config.json";
  if (std::filesystem::is_directory(path) && std::filesystem::exists(config)) {
    constexpr Index most = 10000;
    const JsonDocument document = read_json(config.string());
    const JsonNode sentinels = JsonNode(document)["extra_ids"];
    if (!sentinels.is_null()) add_sentinels(model, sentinels.number(most));
  }
  return model;
}

TokenizerModel read_segmentation(const std::string& file) {
  return SentencePieceReader(file).segmentation();
}

}  // namespace heddle::formats
