// Values as text, the way flags, the environment and INI files write them. Reading what format() wrote gives the same
// value, to the last bit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle {

// All of them throw UsageError ("'abc' is not a whole number") unless the whole text is such a value.
bool parse_bool(std::string_view text);  // true, yes, on, 1; false, no, off, 0
Index parse_index(std::string_view text);
double parse_number(std::string_view text);

// Seconds in a length of time: units, 45s, 90m, 1d12h, 1h30m; or as Slurm writes it: minutes, 90; minutes:seconds;
// 11:30:00; days-hours, 1-12, optionally followed by :minutes and :seconds. It must be more than 0.
double parse_duration(std::string_view text);
// The same length of time in its largest unit: 90m, 36h, 0.5s.
std::string format_duration(double seconds);

std::string format(bool value);
std::string format(Index value);
std::string format(double value);

// For tables: with so many decimals, or more where fewer than three digits of the value would show: 0.5000, 0.00123,
// 1.20e-07. Reading it back does not give the value.
std::string format_fixed(double value, int decimals);

// The elements of a list: "a,b" is two, "" none. A comma inside an element is written "\,"; a backslash elsewhere is
// itself. Throws UsageError for an empty element.
std::vector<std::string> split_list(std::string_view text);

// One element as split_list() reads it.
std::string escape_element(std::string_view element);

}  // namespace heddle
