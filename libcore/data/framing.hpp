// One or two texts as the sequence that a model reads.
//
//   with [CLS] and [SEP]: [CLS] A [SEP], or [CLS] A [SEP] B [SEP] with segment 1 from B on (Devlin et al. 2019); models
//     without segments have a second [SEP] before B (Liu et al. 2019)
//   without: A <end>, or A <end> B <end>, with the token that ends texts (Radford et al. 2018)
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::data {

// Handling of texts longer than the context.
enum class Overlong { error, truncate, split };

}  // namespace heddle::data

template <>
struct heddle::Names<heddle::data::Overlong> {
  static constexpr std::pair<data::Overlong, std::string_view> list[] = {
      {data::Overlong::error, "error"}, {data::Overlong::truncate, "truncate"}, {data::Overlong::split, "split"}};
};

namespace heddle::data {

// The special tokens around a single text.
struct TextFrame {
  std::optional<TokenId> begin{};
  TokenId end = 0;

  Index tokens() const { return begin ? 2 : 1; }
  std::vector<TokenId> around(std::span<const TokenId> text) const;
};
// [CLS] and [SEP], or the token that ends texts. Throws UsageError where the tokenizer has neither, "FOR needs …".
TextFrame text_frame(const text::Tokenizer& tokenizer, std::string_view user);

// ids = frame of A's tokens [first_from, first_from + first_count) and B's; first_at and second_at say where they
// begin.
struct FramedSequence {
  std::vector<TokenId> ids, segments;  // segments are empty where all are 0
  Index first_at = 0, first_from = 0, first_count = 0;
  Index second_at = 0, second_from = 0, second_count = 0;
};

class Framing {
 public:
  // Throws UsageError where the tokenizer has neither [CLS] and [SEP] nor an end of text.
  Framing(const text::Tokenizer& tokenizer, Index context, bool has_segments);
  Framing(const TextFrame& frame, Index context, bool has_segments)
      : frame_(frame), context_(context), has_segments_(has_segments) {}

  // Number of special tokens of the frame.
  Index overhead(bool pair) const;
  // One sequence, or with Overlong::split as many as needed: the longer text is split into windows that overlap by
  // half. With Overlong::truncate the end of the longer text is cut off until both fit. Throws DataError for texts that
  // do not fit, and for a context too short for any text.
  std::vector<FramedSequence> operator()(std::span<const TokenId> first, Overlong overlong) const;
  std::vector<FramedSequence> operator()(std::span<const TokenId> first, std::span<const TokenId> second,
                                         Overlong overlong) const;
  // The question followed by a window of the context, for each of the windows, overlapping by half, that cover the
  // context. A question that takes more than half of the available tokens, if both do not fit, is truncated with
  // Overlong::truncate; otherwise that is a DataError.
  std::vector<FramedSequence> question(std::span<const TokenId> question, std::span<const TokenId> context,
                                       Overlong overlong) const;

 private:
  struct Window {
    Index first_from, first_count, second_from, second_count;
  };
  Index room(bool pair) const;
  std::vector<Window> windows(Index first, Index second, Index room, Overlong overlong) const;
  FramedSequence frame(std::span<const TokenId> first, std::optional<std::span<const TokenId>> second,
                       const Window& window) const;
  std::vector<FramedSequence> cut(std::span<const TokenId> first, std::optional<std::span<const TokenId>> second,
                                  Overlong overlong) const;

  TextFrame frame_;
  Index context_;
  bool has_segments_;
};

}  // namespace heddle::data
