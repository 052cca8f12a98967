// Labelled texts and pairs of texts, a line each.

#include "fuzz/target.hpp"
#include "support/labelled.hpp"

void heddle::fuzz::tsv(std::string_view input) {
  for (const formats::Texts texts : {formats::Texts::one, formats::Texts::two}) {
    for (const formats::Gold gold : {formats::Gold::given, formats::Gold::absent}) {
      read_or_refuse([&] { formats::read_tsv(input, "x", texts, gold); });
      read_or_refuse([&] {
        formats::TableColumns columns({.text = {}, .text_b = {}, .label = {}, .separator = ";"});
        formats::read_tsv(input, "x", texts, gold, columns);
        if (texts != formats::Texts::one) return;  // fastText's lines have one
        formats::all_good("x", [&](formats::BadRecords& bad) {
          return formats::read_fasttext(input, "x", texts, gold, columns, bad);
        });
      });
    }
  }
}
