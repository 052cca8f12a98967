// Sentences with tags as JSON objects, as data sets of named entities have them. Words with their tags, which are
// names, or numbers in a list of names:
//   {"tokens": ["Bonn", "is", "small"], "ner_tags": ["B-LOC", "O", "O"]}
// A text with spans, whose places are counted in characters (Unicode code points) from 0, as spaCy and others have
// them:
//   {"text": "Bonn is small", "entities": [{"start": 0, "end": 4, "label": "LOC"}]}
//   {"text": "Bonn is small", "entities": [[0, 4, "LOC"]]}
// Its words are those of plain_words(), their tags B-LABEL, I-LABEL and O. A word that a span cuts is in it as a whole.
#pragma once

#include <string>
#include <vector>

#include "formats/json/node.hpp"
#include "formats/labelled/labelled_line.hpp"
#include "libcore/data/examples.hpp"

namespace heddle::formats {

// The keys, where they are not the usual ones: tokens, words or text, and ner_tags or tags of words, entities or spans
// of a text.
struct TaggedKeys {
  std::string words, tags;
  std::vector<std::string> names{};  // names of numeric tags, from 0
};

// Throws DataError for missing members, other numbers of tags than words, numbers of tags that have no name, spans that
// overlap, leave the text or have no word, and for no words.
data::TaggedSentence tagged_sentence(const JsonNode& object, const Place& place, const TaggedKeys& keys, Gold gold,
                                     Room& room);

}  // namespace heddle::formats
