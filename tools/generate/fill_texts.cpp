#include "tools/generate/fill_texts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "libcore/models/text_frame.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/lines/escaped.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

using Blanks = std::vector<std::vector<decoding::LikelyToken>>;
using Json = nlohmann::ordered_json;

BlankText::Contents best_of(const Blanks& blanks) {
  BlankText::Contents contents;
  for (const auto& top : blanks) contents.emplace_back(std::vector{top.front().id});
  return contents;
}

data::TextFrame frame_of(const models::MaskedPredictor& model, const text::Tokenizer& tokenizer) {
  const std::optional<data::TextFrame> frame = models::reading_frame(model, tokenizer);
  return frame ? *frame : data::text_frame(tokenizer, "filling in masks");
}

}  // namespace

void TextFiller::refuse_others(const cli::Arguments& arguments) {
  refuse({"max_tokens", "stop", "num_samples", "stream", "kv_cache", "temperature", "top_k", "top_p", "min_p",
          "repetition_penalty", "no_repeat_ngram_size", "min_tokens", "beam", "answer_after"},
         arguments, ": is for models that continue texts; this one fills in masks");
}

TextFiller::TextFiller(const models::Model& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                       const cli::Arguments& arguments, std::ostream& out)
    : model_(models::require<models::MaskedPredictor>(model, "filling in masks", arguments.operand("MODEL"))),
      tokenizer_(tokenizer),
      options_(options),
      arguments_(arguments),
      framing_(frame_of(model_, tokenizer), model_.position_limit(), model.config().tokens().has_segments()),
      out_(out),
      limit_(options.overlong) {
  check<DataError>(tokenizer.mask().has_value(), arguments.operand("MODEL"), ": its tokenizer has no mask token");
  settings_.top = options.top;
  settings_.vocab_size = tokenizer.vocab_size();
}

TextFiller::Item TextFiller::make(const InputText& input) {
  Item item{BlankText(tokenizer_, input.text, {{*tokenizer_.mask()}}), {}};
  if (!item.text.has_blanks()) {
    ++without_blanks_;
    return item;
  }
  const std::vector<TokenId> read = item.text.encode(input.where());
  try {
    item.masked.sequence = framing_(read, options_.overlong).front();
    limit_.texts().count += item.masked.sequence.first_count < static_cast<Index>(read.size()) ? 1 : 0;
  } catch (const DataError& error) {
    throw DataError(concatenate(input.where(), ": ", error.what()));
  }
  const std::vector<TokenId>& ids = item.masked.sequence.ids;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == *tokenizer_.mask()) item.masked.positions.push_back(static_cast<Index>(i));
  }
  return item;
}

void TextFiller::answer(const std::vector<Item>& batch) {
  std::vector<data::TaskExample> sequences;
  for (const Item& item : batch) sequences.push_back(item.masked);
  const auto filled = decoding::fill_masks(model_, sequences, settings_);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    out_ << (options_.jsonl ? json_of(batch[i], filled[i]) : line_of(batch[i], filled[i])) << "\n";
  }
  out_.flush();
}

std::string TextFiller::line_of(const Item& item, const Blanks& blanks) const {
  std::string line = escaped(item.text.filled(best_of(blanks)));
  if (!arguments_.given("top")) return line;
  for (const auto& top : blanks) {
    const char* separator = "\t";
    for (const decoding::LikelyToken& token : top) {
      line += fmt::format("{}{} {:.6g}", separator, tokenizer_.piece(token.id), token.probability);
      separator = " ";
    }
  }
  return line;
}

std::string TextFiller::json_of(const Item& item, const Blanks& blanks) const {
  Json masks = Json::array();
  for (std::size_t i = 0; i < blanks.size(); ++i) {
    Json top = Json::array();
    for (const auto& [id, probability] : blanks[i]) top.push_back(Json::array({tokenizer_.piece(id), probability}));
    masks.push_back({{"position", item.masked.positions[i]}, {"top", top}});
  }
  const Json object{{"prompt", item.text.text()}, {"text", item.text.filled(best_of(blanks))}, {"masks", masks}};
  return json_line(object);
}

void TextFiller::report() const {
  const std::string mask(tokenizer_.bytes(*tokenizer_.mask()));
  if (without_blanks_ > 0) {
    arguments_.say(concatenate(counted(without_blanks_, "text has", "texts have"), " no ", mask,
                               without_blanks_ == 1 ? " and is unchanged" : " and are unchanged"));
  }
  limit_.report(arguments_, concatenate("; ", mask, " stays after the cut"));
}

}  // namespace heddle
