// Labelled examples as files contain them: texts and label names, not yet encoded. Texts are any bytes; names are UTF-8
// without control characters.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::data {

// A text, or two, and what it is; the label is a number where the task is regression.
struct LabelledText {
  std::string text;
  std::optional<std::string> second_text;
  std::string label;
  Index line = 0;                              // line in its file, from 1
  std::string more{};                          // further members of its JSON object, as they are spelled
  std::shared_ptr<const std::string> steps{};  // steps from a prompt to its answer; few texts have any
  std::string name{};                          // display name if that is not the text: the name of a graph
  std::vector<std::string> labels{};           // instead of `label` where a text may have any number; none repeats

  const std::string& shown() const { return name.empty() ? text : name; }
};

// Words and a tag for each; no tags where none were asked for.
struct TaggedSentence {
  std::vector<std::string> words, tags;
  std::vector<Index> lines;    // line of each word in its file, from 1
  std::vector<Index> parts{};  // graphs: the number of each word's node, or edge, from 0
  Index widened = 0;           // how many spans of characters, which became tags, began or ended within a word
};

// A word in a sentence, and which sense it has there; none where it was not asked for.
struct MarkedWord {
  std::vector<std::string> words;  // none is empty
  Index position = 0;              // index of the word, from 0
  std::string sense;
  Index line = 0;  // line in its file, from 1
};

// text == context.substr(begin, text.size()).
struct SpanAnswer {
  std::string text;
  std::size_t begin = 0;  // byte of the context
};

struct SpanQuestion {
  std::string id, question;
  std::shared_ptr<const std::string> context;  // many questions may share it
  std::vector<SpanAnswer> answers;             // all of them right
  bool impossible = false;                     // the context has no answer; false, too, where it is not known
  Index line = 0;                              // line in its file, from 1; 0 in SQuAD's JSON
  std::string more{};                          // like LabelledText::more
};

}  // namespace heddle::data
