// Splits a labelled file into files to train on, to validate and to test with.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/base/visit.hpp"
#include "tools/cli/arguments.hpp"

namespace heddle {

// Treatment of classes with fewer texts than there are parts.
enum class RareClasses { error, train };
template <>
struct Names<RareClasses> {
  static constexpr std::pair<RareClasses, std::string_view> list[] = {{RareClasses::error, "error"},
                                                                      {RareClasses::train, "train"}};
};

// Attribute that the parts of a split have in equal proportions, or do not share; automatic: classes, if there are any.
// `labels`: lists of labels in one field.
enum class SplitBy { automatic, classes, labels, random, scaffold };
template <>
struct Names<SplitBy> {
  static constexpr std::pair<SplitBy, std::string_view> list[] = {{SplitBy::automatic, "auto"},
                                                                  {SplitBy::classes, "class"},
                                                                  {SplitBy::labels, "labels"},
                                                                  {SplitBy::random, "random"},
                                                                  {SplitBy::scaffold, "scaffold"}};
};

inline constexpr std::array<const char*, 3> part_names{"train", "valid", "test"};

// The sizes of train, valid and test, in any unit; all 0: no split.
struct Shares {
  SplitBy by = SplitBy::automatic;
  std::vector<Index> sizes{0, 0, 0};
  std::string separator = ";";  // separator of labels in a field, one of formats::label_separators

  // "80,10,10", "scaffold:80,10,10", "labels=comma:80,10,10", of which either half may be left out, or "none".
  // from_text throws UsageError for other texts.
  std::string text() const;
  static Shares from_text(std::string_view text);

  bool operator==(const Shares&) const = default;
};

struct SplitOptions {
  Shares shares;
  RareClasses rare = RareClasses::error;
  formats::LabelledInput input;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(
        Field("split",
              "split labelled data or graphs into train, valid and test in the output's directory: sizes such as "
              "80,10,10, of which 0 makes no file; by class if there is one, labels in lists, at random, or scaffolds")
            .takes("[BY:]TRAIN,VALID,TEST|class|labels|random|scaffold|none")
            .essential(),
        self.shares);
    visitor(
        Field("rare", "classes with fewer examples than there are parts: report an error, or put them into train alone")
            .needs({"split"}),
        self.rare);
    visitor(Field("input", "Labelled files, with --split; tables of graphs and molecules"), self.input);
  }
};

// "; give more examples, …" where classes have fewer examples than there are parts.
inline constexpr const char* rare_advice = "; give more examples, or put such classes into train alone (--rare train)";

// Writes DIR/train, DIR/valid and DIR/test with the ending of the input's format, and with its bytes: rows, lines or
// sentences as they were, a header in each; of SQuAD its paragraphs. Parts have the classes in the same proportions
// (of sentences, tags, and of texts with any number of labels these: by the rarest of each), and all copies of a text,
// a sentence or a context are in one of them (units_of). A function of the file's content and --seed. Numbers,
// recognised by being more than a tenth of the examples and more than ten, and questions are split at random. Throws
// UsageError and DataError; then nothing is written.
void split_labelled(const std::string& path, const std::string& output, const SplitOptions& options,
                    const cli::Arguments& arguments);

}  // namespace heddle
