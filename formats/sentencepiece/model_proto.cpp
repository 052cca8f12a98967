#include "formats/sentencepiece/model_proto.hpp"

#include <cmath>
#include <optional>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

constexpr std::uint32_t pieces_field = 1, trainer_field = 2, normaliser_field = 3, denormaliser_field = 5;

ModelProto::Piece read_piece(const Message& message, const Message::Field& outer) {
  Single<std::string_view> text;
  Single<float> score;
  Single<std::int32_t> type;
  message.for_each([&](const Message::Field& field) {
    if (field.number() == 1) text.set(field, field.text());
    if (field.number() == 2) score.set(field, field.real());
    if (field.number() == 3) type.set(field, field.int32());
  });
  const std::int32_t kind = type.value_or(1);
  if (kind < 1 || kind > 6) outer.refuse(concatenate("a piece of the unknown type ", kind));
  const ModelProto::Piece piece{outer, text.value_or({}), static_cast<double>(score.value_or(0)),
                                static_cast<ModelProto::PieceType>(kind)};
  if (piece.text.empty()) outer.refuse("a piece without text");
  if (!std::isfinite(piece.score)) outer.refuse("a piece whose score is not finite");
  return piece;
}

}  // namespace

ModelProto::ModelProto(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(&file) {
  Single<bool> trainer, normaliser, denormaliser;
  read_trainer({{}, file});
  read_normaliser({{}, file});
  denormalises = false;
  Message(bytes, file).for_each([&](const Message::Field& field) {
    if (field.number() == pieces_field) {
      read_piece(field.message(), field);
      ++pieces;
    } else if (field.number() == trainer_field) {
      trainer.set(field, true);
      read_trainer(field.message());
    } else if (field.number() == normaliser_field) {
      normaliser.set(field, true);
      read_normaliser(field.message());
    } else if (field.number() == denormaliser_field) {
      denormaliser.set(field, true);
      field.message().for_each([&](const Message::Field& inner) {
        if (inner.number() == 2) denormalises = denormalises || !inner.bytes().empty();
      });
    }
  });
  check<DataError>(pieces > 0, file, ": not a model of SentencePiece: it has no pieces");
}

void ModelProto::read_trainer(const Message& message) {
  Single<std::int32_t> type, eos, pad;
  Single<bool> suffix;
  message.for_each([&](const Message::Field& field) {
    if (field.number() == 3) type.set(field, field.int32());
    if (field.number() == 24) suffix.set(field, field.flag());
    if (field.number() == 42) eos.set(field, field.int32());
    if (field.number() == 43) pad.set(field, field.int32());
  });
  const std::int32_t kind = type.value_or(1);
  check<DataError>(kind >= 1 && kind <= 4, *file_, ": trainer_spec.model_type: is ", kind,
                   "; SentencePiece has unigram (1), bpe (2), word (3) and char (4)");
  algorithm = static_cast<Algorithm>(kind);
  end_of_text = eos.value_or(2);
  padding = pad.value_or(-1);
  spaces_at_ends = suffix.value_or(false);
}

void ModelProto::read_normaliser(const Message& message) {
  Single<std::string_view> name, map;
  Single<bool> first_space, remove, mark;
  message.for_each([&](const Message::Field& field) {
    if (field.number() == 1) name.set(field, field.text());
    if (field.number() == 2) map.set(field, field.bytes());
    if (field.number() == 3) first_space.set(field, field.flag());
    if (field.number() == 4) remove.set(field, field.flag());
    if (field.number() == 5) mark.set(field, field.flag());
  });
  normalisation = name.value_or({});
  charsmap = map.value_or({});
  add_first_space = first_space.value_or(true);
  remove_spaces = remove.value_or(true);
  mark_spaces = mark.value_or(true);
}

void ModelProto::for_each_piece(const std::function<void(const Piece&)>& take) const {
  Message(bytes_, *file_).for_each([&](const Message::Field& field) {
    if (field.number() == pieces_field) take(read_piece(field.message(), field));
  });
}

bool begins_like_sentencepiece(std::string_view first_bytes) {
  constexpr char piece = 0x0A, text = 0x0A;
  return first_bytes.size() > 4 && first_bytes[0] == piece && first_bytes[2] == text &&
         static_cast<unsigned char>(first_bytes[3]) + 2 <= static_cast<unsigned char>(first_bytes[1]) &&
         first_bytes[1] > 0;
}

}  // namespace heddle::formats
