// generate with a model that predicts masked tokens: fills in the blanks of texts.
#pragma once

#include <string>
#include <vector>

#include "libcore/decoding/fill_masks.hpp"
#include "libcore/models/model.hpp"
#include "tools/cli/arguments.hpp"
#include "tools/generate/options.hpp"
#include "tools/lines/blank_text.hpp"
#include "tools/lines/input_texts.hpp"
#include "tools/lines/length_limit.hpp"

namespace heddle {

class TextFiller {
 public:
  // Throws UsageError for options for continuing texts.
  static void refuse_others(const cli::Arguments& arguments);
  // The arguments must outlive this object. Throws DataError for models without a mask token.
  TextFiller(const models::Model& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
             const cli::Arguments& arguments, std::ostream& out);

  struct Item {
    BlankText text;
    data::TaskExample masked;
  };
  Index batch_size() const { return options_.lines_at_once(256); }
  Item make(const InputText& input);
  // One line per text; texts without blanks are printed unchanged.
  void answer(const std::vector<Item>& batch);
  void answer_one(const Item& item) { answer({item}); }
  void report() const;

 private:
  std::string line_of(const Item& item, const std::vector<std::vector<decoding::LikelyToken>>& blanks) const;
  std::string json_of(const Item& item, const std::vector<std::vector<decoding::LikelyToken>>& blanks) const;

  const models::MaskedPredictor& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  data::Framing framing_;
  std::ostream& out_;
  decoding::LikelyOptions settings_;
  LengthLimit limit_;
  Index without_blanks_ = 0;
};

}  // namespace heddle
