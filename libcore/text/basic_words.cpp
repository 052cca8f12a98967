#include "libcore/text/basic_words.hpp"

#include <utf8proc.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

#include "libcore/text/letter_case.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

using Role = BasicRole;

}  // namespace

bool is_chinese(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

BasicRole wide_role(char32_t c) {
  if (c == invalid_character || c == 0xFFFD) return Role::dropped;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
      return Role::dropped;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return Role::space;
    case UTF8PROC_CATEGORY_PC:
    case UTF8PROC_CATEGORY_PD:
    case UTF8PROC_CATEGORY_PS:
    case UTF8PROC_CATEGORY_PE:
    case UTF8PROC_CATEGORY_PI:
    case UTF8PROC_CATEGORY_PF:
    case UTF8PROC_CATEGORY_PO:
      return Role::alone;
    default:
      return Role::part;
  }
}

namespace {

// The word so far, and where words go: to take(word), or take(word, origins).
template <class Take>
class Words {
 public:
  Words(const BasicWords& options, const Take& take) : options_(options), take_(take), lower_(options.final_sigma) {}

  void add(char32_t c, Origin origin) {
    origin_ = origin;
    const Role role = basic_role(c);
    if (role == Role::dropped) return;
    if (role == Role::space) return end();
    const bool chinese = c >= 0x80 && is_chinese(c);
    if (chinese) end();
    if (options_.strip_accents && options_.european_accents) {
      if (c < 0x80) {
        accents_.pass(c, put_normal());
        origin_ = origin;
        put(c, role);
      } else if (!accents_.add(c, origin, put_normal())) {
        extend_last();
      }
    } else if (c < 0x80 || !options_.strip_accents) {
      put(c, role);
    } else {
      put_base(c);
    }
    if (chinese) end();
  }

  void end() {
    accents_.end(put_normal());
    end_word();
  }

 private:
  static constexpr bool located = std::is_invocable_v<Take, std::string_view, std::span<const Origin>>;

  auto put_normal() {
    return [this](char32_t c, Origin origin) {
      origin_ = origin;
      put(c, basic_role(c));
    };
  }

  void end_word() {
    if (word_.empty()) return;
    lower_.end(word_);
    if constexpr (located) {
      take_(word_, origins_);
      origins_.clear();
    } else {
      take_(word_);
    }
    word_.clear();
  }

  void put(char32_t c, Role role) {
    const bool alone = role == Role::alone;
    if (alone) end_word();
    if (options_.lowercase) {
      lower_.append(word_, c);
    } else {
      append_utf8(word_, c);
    }
    if constexpr (located) origins_.resize(word_.size(), origin_);
    if (alone) end_word();
  }

  void put_base(char32_t c) {
    std::array<utf8proc_int32_t, 32> parts{};
    int last_class = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                static_cast<utf8proc_ssize_t>(parts.size()), UTF8PROC_DECOMPOSE, &last_class);
    bool is_accent = true;
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      const utf8proc_int32_t part = parts[static_cast<std::size_t>(i)];
      if (utf8proc_category(part) == UTF8PROC_CATEGORY_MN) continue;
      is_accent = false;
      put(static_cast<char32_t>(part), basic_role(static_cast<char32_t>(part)));
    }
    if (is_accent) extend_last();
  }

  // The last byte comes from the character that is being added, too.
  void extend_last() {
    if constexpr (located) {
      if (!origins_.empty()) origins_.back().end = origin_.end;
    }
  }

  const BasicWords& options_;
  const Take& take_;
  EuropeanAccents accents_;
  LowerCase lower_;
  std::string word_;
  Origin origin_{};              // origin of the character being added
  std::vector<Origin> origins_;  // origin of each byte of the word, on request
};

template <class Take>
void cut_words(std::string_view text, const BasicWords& options, const Take& take) {
  Words<Take> words(options, take);
  for (std::size_t at = 0; at < text.size();) {
    const Character character = decode(text, at);
    words.add(character.code, {at, at + character.length});
    at += character.length;
  }
  words.end();
}

bool is_ascii_space(char byte) {
  return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

}  // namespace

BasicWords basic_words(const TokenizerModel& model) {
  return {.lowercase = model.lowercase,
          .strip_accents = model.strip_accents,
          .european_accents = model.european_accents,
          .final_sigma = model.final_sigma};
}

void for_each_basic_word(std::string_view text, const BasicWords& options,
                         const std::function<void(std::string_view)>& take) {
  cut_words(text, options, take);
}

void for_each_located_word(std::string_view text, const BasicWords& options,
                           const std::function<void(std::string_view, std::span<const Origin>)>& take) {
  cut_words(text, options, take);
}

bool is_basic_boundary(std::string_view text, std::size_t position) {
  return is_ascii_space(text[position]) || is_ascii_space(text[position - 1]);
}

}  // namespace heddle::text
