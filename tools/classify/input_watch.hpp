// Notices inputs that look as if they were not what the model reads: labelled files, and sentences taken as words.
#pragma once

#include <optional>
#include <string>

#include "formats/labelled/labelled_input.hpp"
#include "libcore/data/label_set.hpp"
#include "libcore/models/task.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

class LabelWatch {
 public:
  // `texts` is the format of texts or of sentences, automatic for other tasks. The arguments must outlive this object.
  LabelWatch(const std::string& path, const models::TaskConfig& task, const data::LabelSet& labels,
             const formats::LabelledInput& input, formats::LabelledFormat texts);

  // A warning about a text of the input, where
  //   - a line without named columns begins with a label of the model and a tab, the first row of a CSV file names a
  //     column label, an object has a member of that name, or the last column of a word is a label of the model;
  //   - a line is a JSON object, or the first one the header of CSV, and the whole line is the text;
  //   - a line of a .tsv file has a tab otherwise, and all of it is the text;
  //   - a word is followed by two columns or more of which none is a label of the model, or has three blanks or more.
  std::optional<std::string> warning(const InputText& text) const;
  // The same for a line that is tagged as it is, where it is an object or has the columns of a table of words.
  static std::optional<std::string> raw_warning(const InputText& text);

 private:
  std::optional<std::string> of_line(const InputText& text) const;
  std::optional<std::string> of_words(const InputText& text) const;

  bool is_tsv_;  // according to its name
  const models::TaskConfig& task_;
  const data::LabelSet& labels_;
  const formats::LabelledInput& input_;
  formats::LabelledFormat texts_;
};

}  // namespace heddle
