// Labelled examples as a model reads them: framed tokens, or a graph, and the targets in them.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "libcore/data/examples.hpp"
#include "libcore/data/framing.hpp"
#include "libcore/data/graphs.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/data/token_alignment.hpp"

namespace heddle::data {

// A graph of a source, which is read when it is needed.
struct GraphInput {
  std::shared_ptr<const GraphSource> graphs;
  Index number = 0;  // number in the source
  Index nodes = 0;   // number of its nodes
};

// One sequence, or graph, of an example; an example that was split has several.
struct TaskExample {
  FramedSequence sequence{};  // empty where the model reads graphs
  GraphInput graph{};
  Index source = 0;  // index of its example

  // Its tokens or nodes.
  Index length() const { return graph.graphs ? graph.nodes : static_cast<Index>(sequence.ids.size()); }
  // One more than the last position of its tokens, nodes, or edges with answers.
  Index places() const { return positions.empty() ? length() : std::max(length(), positions.back() + 1); }

  TokenId label = -1;  // classify, pair
  double value = 0;    // regress

  // label: where first tokens of words, nodes or edges are, ascending, and of which; or masks
  std::vector<Index> positions, words;
  std::vector<TokenId>
      tags;  // tags of these words; -1 for unknown; multilabel: for each label 1 if the text has it, else 0

  std::vector<text::LocatedToken> context;  // span: the tokens of this part of the context, placed in the whole
  TokenSpan answer{0, 0};                   // positions in the sequence; both 0, [CLS], where this part has none
};

// Treatment and number of examples that are too long.
struct OverlongTexts {
  Overlong treatment = Overlong::error;
  Index count = 0;
};

// Each function throws DataError, "FILE:LINE: …" (a question's id for spans), for examples that do not fit and are not
// to be cut, or have characters that the tokenizer has no token for. Texts that look like special tokens are text.
std::vector<TaskExample> text_examples(std::span<const LabelledText> texts, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing,
                                       OverlongTexts& overlong);
// Tags are left at -1 for sentences without any, and where they are none of the labels.
std::vector<TaskExample> tag_examples(std::span<const TaggedSentence> sentences, std::string_view file,
                                      const LabelSet& labels, const text::Tokenizer& tokenizer, const Framing& framing,
                                      OverlongTexts& overlong);
// Contexts are always split into windows that overlap by half; only questions that take more than half of the sequence
// count as too long. A window without the answer has none. The question comes first.
std::vector<TaskExample> span_examples(std::span<const SpanQuestion> questions, std::string_view file,
                                       const text::Tokenizer& tokenizer, const Framing& framing,
                                       OverlongTexts& overlong);

}  // namespace heddle::data
