#include "libcore/text/normal_forms.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "libcore/text/normaliser.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

int combining_class(utf8proc_int32_t code) {
  return utf8proc_get_property(code)->combining_class;
}

class NormalForm : public NormaliserStep {
 public:
  NormalForm(bool compatible, bool composed) : compatible_(compatible), composed_(composed) {}

  // Character by character, each with what it may combine with.
  void apply(NormalText& text) const override {
    Rewriting rewriting(text);
    const std::string_view old = rewriting.old();
    std::vector<utf8proc_int32_t> codes, before;
    std::string image;
    for (std::size_t begin = 0, end = 0; begin < old.size(); begin = end) {
      codes.clear();
      do {
        const Character character = decode(old, end);
        end += character.length;
        if (character.code == invalid_character) break;
        append_decomposed(codes, character.code, compatible_);
      } while (end < old.size() && !begins_normal_form(decode(old, end).code));
      if (codes.empty() || (end - begin == 1 && codes.size() == 1)) {
        rewriting.keep(begin, end);
        continue;
      }
      order_marks(codes, composed_);
      image.clear();
      for (const utf8proc_int32_t code : codes) append_utf8(image, static_cast<char32_t>(code));
      image == old.substr(begin, end - begin) ? rewriting.keep(begin, end) : rewriting.put(image, begin, end);
    }
    rewriting.finish();
  }

  bool leaves(char32_t code) const override {
    if (code < 0x80) return true;
    if (!begins_normal_form(code)) return false;
    std::vector<utf8proc_int32_t> codes;
    append_decomposed(codes, code, compatible_);
    order_marks(codes, composed_);
    return codes == std::vector<utf8proc_int32_t>{static_cast<utf8proc_int32_t>(code)};
  }

 private:
  bool compatible_, composed_;
};

}  // namespace

void append_decomposed(std::vector<utf8proc_int32_t>& codes, char32_t code, bool compatible) {
  std::array<utf8proc_int32_t, 32> parts{};
  int last_class = 0;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE | (compatible ? UTF8PROC_COMPAT : 0));
  const utf8proc_ssize_t count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                              static_cast<utf8proc_ssize_t>(parts.size()), options, &last_class);
  codes.insert(codes.end(), parts.begin(), parts.begin() + std::max<utf8proc_ssize_t>(count, 0));
}

void order_marks(std::vector<utf8proc_int32_t>& codes, bool compose) {
  for (auto begin = codes.begin(); begin != codes.end();) {
    const auto end = std::find_if(begin, codes.end(), [](utf8proc_int32_t code) { return combining_class(code) == 0; });
    std::stable_sort(begin, end, [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end == codes.end() ? end : end + 1;
  }
  if (!compose) return;
  const utf8proc_ssize_t size =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE));
  codes.resize(static_cast<std::size_t>(std::max<utf8proc_ssize_t>(size, 0)));
}

bool begins_normal_form(char32_t code) {
  if (code < 0x300 || code == invalid_character) return true;
  std::vector<utf8proc_int32_t> codes;
  append_decomposed(codes, code, true);
  const utf8proc_int32_t first = codes.empty() ? static_cast<utf8proc_int32_t>(code) : codes.front();
  const bool is_later_jamo = first >= 0x1160 && first <= 0x11FF;
  const utf8proc_category_t category = utf8proc_category(first);
  const bool is_mark =
      category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC || category == UTF8PROC_CATEGORY_ME;
  return !is_mark && !is_later_jamo;
}

std::unique_ptr<const NormaliserStep> make_normal_form(std::string_view name) {
  if (name == "nfc" || name == "nfd") return std::make_unique<NormalForm>(false, name == "nfc");
  if (name == "nfkc" || name == "nfkd") return std::make_unique<NormalForm>(true, name == "nfkc");
  return nullptr;
}

}  // namespace heddle::text
