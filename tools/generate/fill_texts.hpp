// generate with a model that predicts masked tokens: fills in the blanks of texts.
#pragma once

#include <string>
#include <vector>

#include "heddle/cli/arguments.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/decoding/fill_masks.hpp"
#include "heddle/models/model.hpp"
#include "tools/generate/blank_text.hpp"
#include "tools/generate/options.hpp"

namespace heddle {

class TextFiller {
 public:
  // All must stay. Throws UsageError for options that are for continuing texts, and DataError for models that know no
  // masks.
  TextFiller(const models::Model& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
             const cli::Arguments& arguments);

  void one();
  // A line out for each line in; lines without blanks come out as they are.
  void lines(const std::string& file);

 private:
  struct Item {
    BlankText text;
    data::TaskExample masked;
  };
  Item make(const std::string& text, const std::string& where);
  void write(const std::vector<Item>& batch);
  std::string line_of(const Item& item, const std::vector<std::vector<decoding::LikelyToken>>& blanks) const;
  std::string json_of(const Item& item, const std::vector<std::vector<decoding::LikelyToken>>& blanks) const;
  void finish();

  const models::MaskedPredictor& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  data::Framing framing_;
  cli::Output output_;
  decoding::FillOptions settings_;
  Index without_blanks_ = 0, truncated_ = 0;
};

}  // namespace heddle
