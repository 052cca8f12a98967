// generate with a model that predicts next tokens and masked ones: fills in the blanks of texts that have some, and
// continues the others.
#pragma once

#include <variant>
#include <vector>

#include "tools/generate/continue_texts.hpp"
#include "tools/generate/fill_texts.hpp"

namespace heddle {

class FillerOrContinuer {
 public:
  // The arguments must outlive this object. Throws UsageError for options that do not fit the model, or with a single
  // prompt what is done with it, and DataError for models without a mask token.
  FillerOrContinuer(const models::Model& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                    const cli::Arguments& arguments, std::ostream& out);

  using Item = std::variant<TextFiller::Item, TextContinuer::Prompt>;
  Index batch_size() const { return continuer_.batch_size(); }
  Item make(const InputText& input);
  // In the order of the items.
  void answer(const std::vector<Item>& batch);
  void answer_one(const Item& item);
  void report() const;

 private:
  bool has_blanks(const std::string& text) const;

  const text::Tokenizer& tokenizer_;
  TextFiller filler_;
  TextContinuer continuer_;
  bool filled_ = false;
};

}  // namespace heddle
