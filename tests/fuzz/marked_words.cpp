// Words in sentences, with their senses or without.
#include "formats/labelled/marked_words.hpp"

#include "fuzz/target.hpp"

void heddle::fuzz::marked_words(std::string_view input) {
  for (const formats::Gold gold : {formats::Gold::given, formats::Gold::absent}) {
    read_or_refuse([&] {
      for (const data::MarkedWord& word : formats::read_marked_words(input, "x", gold)) {
        expect(word.position < static_cast<Index>(word.words.size()), "a position that no word has");
      }
    });
  }
}
