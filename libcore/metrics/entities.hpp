// Entities that tags mark, and their metrics. A tag is O, or B-TYPE or I-TYPE: an entity begins at B, and at an I that
// does not continue the type of the word before; it ends before the next B, O or other type. A predicted entity is
// correct if begin, end and type agree. The sums over all types give the F1 that is called CoNLL's. Source: Tjong Kim
// Sang and Buchholz 2000, "Introduction to the CoNLL-2000 shared task: chunking", and its conlleval.
#pragma once

#include <map>
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

// True where all of the names are tags of this kind and not just O.
bool mark_entities(std::span<const std::string> names);

// The entities of a sentence in their order. Tags of another kind count as O.
std::vector<Entity> entities(std::span<const std::string> tags);

// The matches of each type.
using EntityMatches = std::map<std::string, Matches>;

// Adds a sentence's. Throws UsageError for other numbers of tags.
void add_entities(std::span<const std::string> gold, std::span<const std::string> predicted, EntityMatches& matches);

// Of all types together.
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
