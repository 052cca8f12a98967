// Comma-separated labelled texts, pairs of texts and tagged words, with and without a header.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::csv(std::string_view input) {
  for (const formats::Texts texts : {formats::Texts::one, formats::Texts::two}) {
    for (const formats::Gold gold : {formats::Gold::given, formats::Gold::absent}) {
      for (const formats::Header header : {formats::Header::present, formats::Header::absent}) {
        for (const char* text : {"", "2"}) {
          formats::TableColumns columns({.text = text, .text_b = "", .label = ""}, header);
          read_or_refuse([&] { formats::read_csv(input, "x", texts, gold, columns); });
        }
      }
    }
  }
  read_or_refuse([&] { formats::read_tagged_sentences(input, "x.csv", {}, formats::Gold::given); });
}
