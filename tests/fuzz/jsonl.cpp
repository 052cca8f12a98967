// Labelled texts, questions with spans and tagged sentences, one JSON object per line.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::jsonl(std::string_view input) {
  for (const formats::Gold gold : {formats::Gold::given, formats::Gold::absent}) {
    for (const formats::Texts texts : {formats::Texts::one, formats::Texts::two}) {
      read_or_refuse([&] { formats::read_jsonl_texts(input, "x", texts, gold); });
    }
    read_or_refuse([&] { formats::read_jsonl_spans(input, "x", gold); });
    read_or_refuse([&] { formats::read_tagged_sentences(input, "x.jsonl", {}, gold); });
  }
}
