// The schemes by which tags mark entities, as they differ in the same entities. B begins an entity, I continues it.
//
//   words   Ann  Lee  met  Bob  in  New  York
//   iob1    I    I    O    I    O   I    I     B only where an entity of the same type has just ended
//   iob2    B    I    O    B    O   B    I
//   iobes   B    E    O    S    O   B    E     E ends an entity, S is one of a single word
//   bilou   B    L    O    U    O   B    L     the same with L and U
//   bmes    B    E    O    S    O   B    E     as iobes, with M for I
//
// Sources: Tjong Kim Sang and Veenstra 1999, "Representing text chunks", for IOB1 and IOB2 and what later became
// IOBES; Ratinov and Roth 2009, "Design challenges and misconceptions in named entity recognition", for BILOU.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/visit.hpp"
#include "libcore/metrics/entities.hpp"

namespace heddle::metrics {

enum class TagScheme { iob1, iob2, iobes, bilou, bmes };

}  // namespace heddle::metrics

template <>
struct heddle::Names<heddle::metrics::TagScheme> {
  static constexpr std::pair<metrics::TagScheme, std::string_view> list[] = {{metrics::TagScheme::iob1, "iob1"},
                                                                             {metrics::TagScheme::iob2, "iob2"},
                                                                             {metrics::TagScheme::iobes, "iobes"},
                                                                             {metrics::TagScheme::bilou, "bilou"},
                                                                             {metrics::TagScheme::bmes, "bmes"}};
};

namespace heddle::metrics {

// Spelling of tags: B-PER, PER-B, B_PER, or B alone.
struct TagStyle {
  Mark mark = Mark::first;
  char separator = '-';
  bool has_types = true;
};

// Tag scheme found in a text, and its errors. A tag is wrong if its scheme does not let it follow the one before, and
// an end of a sentence if an entity is still open there; entities() says how these are read.
struct FoundTags {
  TagScheme scheme = TagScheme::iob2;
  TagStyle style;
  Index wrong = 0;
  std::string first_wrong;             // "I-PER after O"
  std::size_t sentence = 0, word = 0;  // place of the first wrong one, from 0
};

// Letters of one scheme alone decide; with B, I and O alone it is iob2, or, if more tags are wrong in that, iob1.
// Nothing if the tags mark no entities.
std::optional<FoundTags> find_scheme(std::span<const std::span<const std::string>> sentences);

// The tags of a sentence with these entities, which must be in order and not overlap. Those of tags without types have
// the type "entity".
std::vector<std::string> tags_of(std::span<const Entity> entities, Index words, TagScheme scheme,
                                 const TagStyle& style);

}  // namespace heddle::metrics
