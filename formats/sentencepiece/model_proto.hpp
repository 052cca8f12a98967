// A SentencePiece model file: a ModelProto of protocol buffers; only these fields are read. Source: SentencePiece's
// sentencepiece_model.proto, for the field numbers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "formats/sentencepiece/message.hpp"
#include "libcore/base/real.hpp"

namespace heddle::formats {

class ModelProto {
 public:
  enum class Algorithm : std::uint8_t { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class PieceType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

  struct Piece {
    Message::Field field;   // for messages of errors
    std::string_view text;  // UTF-8, not empty; U+2581 stands for spaces
    double score;           // finite
    PieceType type;
  };

  Algorithm algorithm;
  Index end_of_text, padding;  // ids, or -1
  bool spaces_at_ends;         // spaces at ends of words, not at their beginnings
  std::string_view normalisation, charsmap;
  bool add_first_space, remove_spaces, mark_spaces, denormalises;
  Index pieces = 0;

  // Reads and checks everything once. The bytes and the name of their file must outlive this object. Throws DataError
  // that names the file and the byte.
  ModelProto(std::string_view bytes, const std::string& file);

  // Calls take(piece) for each piece in the order of ids.
  void for_each_piece(const std::function<void(const Piece&)>& take) const;

  const std::string& file() const { return *file_; }

 private:
  void read_trainer(const Message& message);
  void read_normaliser(const Message& message);

  std::string_view bytes_;
  const std::string* file_;
};

// Whether a file begins as SentencePiece's models do: with a message of a piece.
bool begins_like_sentencepiece(std::string_view first_bytes);

}  // namespace heddle::formats
