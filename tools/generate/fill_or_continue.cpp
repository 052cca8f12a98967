#include "tools/generate/fill_or_continue.hpp"

namespace heddle {

namespace {

// The items from `at` on that are of the same kind as the first of them.
template <class Kind>
std::vector<Kind> run_of(const std::vector<FillerOrContinuer::Item>& items, std::size_t at) {
  std::vector<Kind> run;
  for (; at < items.size() && std::holds_alternative<Kind>(items[at]); ++at) run.push_back(std::get<Kind>(items[at]));
  return run;
}

}  // namespace

FillerOrContinuer::FillerOrContinuer(const models::Model& model, const text::Tokenizer& tokenizer,
                                     const GenerateOptions& options, const cli::Arguments& arguments, std::ostream& out)
    : tokenizer_(tokenizer),
      filler_(model, tokenizer, options, arguments, out),
      continuer_(models::require<models::Generator>(model, "generate", arguments.operand("MODEL")), tokenizer, options,
                 arguments, out) {
  if (!arguments.given("prompt")) return;
  has_blanks(options.prompt) ? TextFiller::refuse_others(arguments) : TextContinuer::refuse_others(arguments);
}

bool FillerOrContinuer::has_blanks(const std::string& text) const {
  return BlankText(tokenizer_, text, {{*tokenizer_.mask()}}).has_blanks();
}

FillerOrContinuer::Item FillerOrContinuer::make(const InputText& input) {
  if (!has_blanks(input.text)) return continuer_.make(input);
  filled_ = true;
  return filler_.make(input);
}

void FillerOrContinuer::answer(const std::vector<Item>& batch) {
  for (std::size_t at = 0; at < batch.size();) {
    const auto blanks = run_of<TextFiller::Item>(batch, at);
    const auto prompts = run_of<TextContinuer::Prompt>(batch, at);
    if (!blanks.empty()) filler_.answer(blanks);
    if (!prompts.empty()) continuer_.answer(prompts);
    at += blanks.size() + prompts.size();
  }
}

void FillerOrContinuer::answer_one(const Item& item) {
  if (const auto* const blanks = std::get_if<TextFiller::Item>(&item)) {
    filler_.answer_one(*blanks);
  } else {
    continuer_.answer_one(std::get<TextContinuer::Prompt>(item));
  }
}

void FillerOrContinuer::report() const {
  if (filled_) filler_.report();
  continuer_.report();
}

}  // namespace heddle
