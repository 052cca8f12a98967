// Entities that tags mark, and their metrics. A tag is O, or a mark with the type of the entity: B begins one, I (or M)
// continues it, E (or L) ends it, S (or U, W) is one of a single word. So IOB, IOBES, BILOU and BMES are read alike,
// and sentences that do not keep to their rules as well: an entity begins at B and S, after E and S, and where the type
// is not that of the word before; it ends at E and S, and before the next B, S, O or other type. The type follows the
// mark or precedes it, B-PER or PER-B, after '-' or '_'; it may be missing. A predicted entity is correct if begin, end
// and type agree. The sums over all types give the F1 that is called CoNLL's. Sources: Tjong Kim Sang and Buchholz
// 2000, "Introduction to the CoNLL-2000 shared task: chunking", and its conlleval; Ratinov and Roth 2009, "Design
// challenges and misconceptions in named entity recognition", for the other marks.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libcore/metrics/scores.hpp"

namespace heddle::metrics {

// The words [begin, end) of a sentence.
struct Entity {
  std::string type;
  Index begin = 0, end = 0;
  bool operator==(const Entity&) const = default;
};

// Position of the mark in a tag.
enum class Mark { first, last };

// Position of the marks in these names; nothing if one of them is no such tag, or all are O. Untyped tags count only
// with B, or with both I and O.
std::optional<Mark> mark_of_entities(std::span<const std::string> names);

// The entities of a sentence in their order. Tags of another kind count as O; the type of tags without one is "entity".
std::vector<Entity> entities(std::span<const std::string> tags, Mark mark = Mark::first);

// The matches of each type.
using EntityMatches = std::map<std::string, Matches>;

// Adds a sentence's. Throws UsageError for other numbers of tags.
void add_entities(std::span<const std::string> gold, std::span<const std::string> predicted, EntityMatches& matches,
                  Mark mark = Mark::first);

// The matches of all types together.
Matches total(const EntityMatches& matches);

struct EntityReport {
  Scores all;
  ByName<Scores> types;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    Scores::visit(self.all, visitor);
    visitor(Field("types", "scores of each type of entity"), self.types);
  }
};

EntityReport report(const EntityMatches& matches);

}  // namespace heddle::metrics
