// Characters and pre-tokens according to another engine of regular expressions; make_expected.py wrote the files.
#pragma once

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "libcore/text/unicode.hpp"

namespace heddle::text::facts {

// The class of each code point that Unicode 15 knows. Throws where the file cannot be read.
inline const std::map<char32_t, CharacterClass>& classes() {
  static const std::map<char32_t, CharacterClass> all = [] {
    const std::map<char, CharacterClass> by_letter{{'L', CharacterClass::letter},
                                                   {'N', CharacterClass::number},
                                                   {'S', CharacterClass::space},
                                                   {'O', CharacterClass::other}};
    std::map<char32_t, CharacterClass> result;
    std::ifstream file(HEDDLE_UNICODE_FACTS "/classes.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream fields(line.substr(1));
      for (std::string range; fields >> range;) {
        const std::size_t dash = range.find('-');
        const std::string end = dash == range.npos ? range : range.substr(dash + 1);
        const auto first = static_cast<char32_t>(std::stoul(range, nullptr, 16));
        const auto last = static_cast<char32_t>(std::stoul(end, nullptr, 16));
        for (char32_t code = first; code <= last; ++code) result[code] = by_letter.at(line[0]);
      }
    }
    return result;
  }();
  return all;
}

// Texts as their pre-tokens.
inline std::vector<std::vector<std::string>> pretokens() {
  std::vector<std::vector<std::string>> texts;
  std::ifstream file(HEDDLE_UNICODE_FACTS "/pretokens.txt");
  for (std::string line; std::getline(file, line);) {
    texts.emplace_back();
    std::istringstream fields(line);
    for (std::string digits; fields >> digits;) {
      std::string token;
      for (std::size_t i = 0; i < digits.size(); i += 2) {
        token += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
      }
      texts.back().push_back(token);
    }
  }
  return texts;
}

}  // namespace heddle::text::facts
