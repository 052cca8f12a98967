// A tokenizer model that has been checked: every piece, every special token and every added token is a different byte
// string. A piece may have the bytes of an added token, or of a byte that others fall back to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/string_table.hpp"
#include "libcore/text/tokenizer_model.hpp"

namespace heddle::text {

inline constexpr TokenId no_token = -1;

class Vocabulary {
 public:
  // Throws DataError for an inconsistent model.
  explicit Vocabulary(TokenizerModel model);

  const TokenizerModel& model() const { return model_; }
  Index size() const { return static_cast<Index>(bytes_.size()); }
  bool contains(Index id) const { return id >= 0 && id < size(); }

  // The bytes that a token stands for; of a special token, its text. Precondition: contains(id).
  std::string_view bytes(Index id) const { return bytes_[static_cast<std::size_t>(id)]; }
  bool is_special(Index id) const { return role(id) == Role::special; }
  bool is_piece(Index id) const { return role(id) == Role::piece; }

  // The piece (not special, added or what bytes fall back to) of these bytes, or no_token.
  TokenId find(std::string_view bytes) const;
  // The token of a byte that falls back to it, or else its piece.
  TokenId byte_token(unsigned char byte) const { return byte_tokens_[byte]; }
  bool has_all_bytes() const;

  // The id of a piece, a special or an added token.
  std::optional<TokenId> id_of(std::string_view spelling) const;

 private:
  enum class Role : std::uint8_t { piece, special, added, byte };

  Role role(Index id) const { return roles_[static_cast<std::size_t>(id)]; }
  void give_role(const std::vector<Index>& ids, Role role, std::string_view name);
  void check_named_tokens() const;
  void add_piece(std::size_t id);
  void find_byte_tokens();
  void check_merges() const;
  void check_pieces() const;
  void check_scores() const;
  void check_text_fields() const;

  TokenizerModel model_;
  std::vector<Role> roles_;
  std::vector<std::string> bytes_;
  StringTable pieces_;
  std::vector<TokenId> piece_ids_;                    // ids of the strings in pieces_
  std::unordered_map<std::string, TokenId> by_name_;  // special, added and byte tokens
  std::array<TokenId, 256> byte_tokens_{};
};

}  // namespace heddle::text
