// Unicode's normal forms.
#pragma once

#include <utf8proc.h>

#include <vector>

namespace heddle::text {

// Appends the full decomposition, canonical or compatible.
void append_decomposed(std::vector<utf8proc_int32_t>& codes, char32_t code, bool compatible);

// Marks of decomposed characters in the order of their classes, then if wanted in one character with the letter where
// there is one. In time that is linear but for sorting.
void order_marks(std::vector<utf8proc_int32_t>& codes, bool compose);

// Whether nothing before the character changes what it becomes in any of the forms.
bool begins_normal_form(char32_t code);

}  // namespace heddle::text
