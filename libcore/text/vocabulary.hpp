// A tokenizer model that has been checked: every id is a different byte string.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "heddle/base/real.hpp"
#include "heddle/text/string_table.hpp"
#include "heddle/text/tokenizer_model.hpp"

namespace heddle::text {

inline constexpr TokenId no_token = -1;

class Vocabulary {
 public:
  // Throws DataError where the model makes no sense.
  explicit Vocabulary(TokenizerModel model);

  const TokenizerModel& model() const { return model_; }
  Index size() const { return static_cast<Index>(bytes_.size()); }
  bool contains(Index id) const { return id >= 0 && id < size(); }

  // The bytes that a token stands for; of a special token, its text. Precondition: contains(id).
  std::string_view bytes(Index id) const { return bytes_[static_cast<std::size_t>(id)]; }
  bool is_special(Index id) const { return special_[static_cast<std::size_t>(id)]; }

  // The ordinary (not special) token of these bytes, or no_token.
  TokenId find(std::string_view bytes) const;
  TokenId byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  bool has_all_bytes() const;

  std::optional<TokenId> id_of(std::string_view spelling) const;

 private:
  void add_piece(std::size_t id);
  void check_special_tokens();
  void check_merges() const;
  void check_pieces() const;

  TokenizerModel model_;
  std::vector<bool> special_;
  StringTable bytes_;
  std::array<TokenId, 256> byte_tokens_{};
};

}  // namespace heddle::text
