#include "libcore/text/accents.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "libcore/text/normal_forms.hpp"

namespace heddle::text {

namespace {

// Scripts by the property Script, with unassigned code points between the ranges; gaps of marks and other symbols,
// which nothing combines with, are left in.
constexpr std::array<std::pair<char32_t, char32_t>, 32> european{{
    {'A', 'Z'},       {'a', 'z'},         {0xAA, 0xAA},     {0xBA, 0xBA},     {0xC0, 0xD6},     {0xD8, 0xF6},
    {0xF8, 0x2B8},    {0x2E0, 0x2E4},     {0x370, 0x373},   {0x375, 0x377},   {0x37A, 0x37D},   {0x37F, 0x37F},
    {0x384, 0x384},   {0x386, 0x3E1},     {0x3F0, 0x52F},   {0x1C80, 0x1C8F}, {0x1D00, 0x1DBF}, {0x1E00, 0x1FFE},
    {0x2071, 0x209C}, {0x2126, 0x2126},   {0x212A, 0x212B}, {0x2132, 0x2132}, {0x214E, 0x214E}, {0x2160, 0x2188},
    {0x2C60, 0x2C7F}, {0xA640, 0xA69D},   {0xA722, 0xA787}, {0xA78B, 0xA7FF}, {0xAB30, 0xAB69}, {0xFB00, 0xFB06},
    {0xFF21, 0xFF5A}, {0x1DF00, 0x1DFFF},
}};

bool is_mark(utf8proc_int32_t code) {
  return utf8proc_category(code) == UTF8PROC_CATEGORY_MN;
}

}  // namespace

bool is_european(char32_t code) {
  return std::any_of(european.begin(), european.end(),
                     [&](const auto& range) { return code >= range.first && code <= range.second; });
}

bool EuropeanAccents::continues_cluster(char32_t code) {
  return !utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last_), static_cast<utf8proc_int32_t>(code),
                                           &break_state_);
}

bool EuropeanAccents::take(char32_t code, Origin origin) {
  if (codes_.empty()) break_state_ = 0;
  last_ = code;
  parts_.clear();
  append_decomposed(parts_, code, false);
  const std::size_t before = codes_.size();
  for (const utf8proc_int32_t part : parts_) {
    const bool mark = is_mark(part);
    if (mark && removes_) continue;
    removes_ = !mark && is_european(static_cast<char32_t>(part));
    codes_.push_back(part);
  }
  if (codes_.size() > before) {
    origins_.push_back(origin);
  } else if (!origins_.empty()) {
    origins_.back().end = origin.end;
  }
  return !origins_.empty();
}

void EuropeanAccents::compose() {
  if (codes_.size() > 1) order_marks(codes_, true);
}

}  // namespace heddle::text
