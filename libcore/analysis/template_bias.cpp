#include "libcore/analysis/template_bias.hpp"

#include <algorithm>
#include <optional>

#include "libcore/analysis/sentence_likelihood.hpp"
#include "libcore/decoding/logits.hpp"
#include "libcore/ops/gather.hpp"

namespace heddle::analysis {

namespace {

using data::PlacedText;

std::string filled(std::string text, const std::string& target, const std::string& attribute) {
  // The later slot first, so that what fills one is not searched for the other.
  const bool target_first = text.find(data::target_slot) < text.find(data::attribute_slot);
  const auto fill = [&](const std::string& slot, const std::string& value) {
    text.replace(text.find(slot), slot.size(), value);
  };
  if (!target_first) fill(data::target_slot, target);
  fill(data::attribute_slot, attribute);
  if (target_first) fill(data::target_slot, target);
  return text;
}

// The log ratio of the two targets in one template with one attribute, or with none.
class Ratio {
 public:
  virtual ~Ratio() = default;
  virtual double operator()(const PlacedText& text, const std::string& attribute) const = 0;
  // The ratio that masks in the attribute's place give.
  virtual double masked(const PlacedText& text, const std::string& attribute) const = 0;
};

struct Question {
  const text::Tokenizer& tokenizer;
  const data::TemplateTest& test;
  std::string_view file;

  std::string where(const PlacedText& text) const { return concatenate(file, ":", text.line); }
};

class MaskedRatio : public Ratio {
 public:
  MaskedRatio(const models::MaskedPredictor& model, const Question& question) : model_(model), question_(question) {
    check_masks(model, question.tokenizer);
    mask_ = question.tokenizer.piece(*question.tokenizer.mask());
  }

  double operator()(const PlacedText& text, const std::string& attribute) const override {
    const std::vector<TokenId> ids = encode(filled(text.text, mask_, attribute));
    return at(place_of_target(text, ids), ids, text, attribute);
  }

  double masked(const PlacedText& text, const std::string& attribute) const override {
    const auto tokens = encode(filled(text.text, mask_, attribute)).size();
    std::string masks = mask_;
    while (encode(filled(text.text, mask_, masks)).size() < tokens) masks += " " + mask_;
    const std::vector<TokenId> ids = encode(filled(text.text, mask_, masks));
    return at(place_of_target(text, ids), ids, text, masks);
  }

 private:
  std::vector<TokenId> encode(const std::string& text) const { return question_.tokenizer.encode(text); }

  std::size_t place_of_target(const PlacedText& text, const std::vector<TokenId>& ids) const {
    const bool first = text.text.find(data::target_slot) < text.text.find(data::attribute_slot);
    const TokenId mask = *question_.tokenizer.mask();
    const auto found =
        first ? std::ranges::find(ids, mask) : std::prev(std::find(ids.rbegin(), ids.rend(), mask).base());
    return static_cast<std::size_t>(found - ids.begin());
  }

  // The token of a target where the mask is.
  TokenId token_of(const PlacedText& target, std::size_t place, const std::vector<TokenId>& masked,
                   const PlacedText& text, const std::string& attribute) const {
    const std::vector<TokenId> ids = encode(filled(text.text, target.text, attribute));
    check<DataError>(ids.size() == masked.size(), question_.where(target), ": '", target.text,
                     "' is not one token of the model's, so that no mask stands for it");
    return ids[place];
  }

  double at(std::size_t place, const std::vector<TokenId>& ids, const PlacedText& text,
            const std::string& attribute) const {
    const Tokens framed = framed_for(model_, question_.tokenizer, ids, question_.where(text));
    const Variable hidden = model_.masked_hidden(TokenIds({1, static_cast<Index>(framed.size())}, framed));
    const Tensor logits = model_.masked_token_head()(ops::gather_rows(hidden, {static_cast<Index>(place) + 1})).value();
    decoding::check_finite(logits.data(), logits.size());
    const auto logit = [&](const PlacedText& target) {
      return static_cast<double>(logits[token_of(target, place, ids, text, attribute)]);
    };
    return logit(question_.test.targets[0]) - logit(question_.test.targets[1]);
  }

  const models::MaskedPredictor& model_;
  const Question& question_;
  std::string mask_;
};

class CausalRatio : public Ratio {
 public:
  CausalRatio(const models::TokenLoss& model, const Question& question) : model_(model), question_(question) {}

  double operator()(const PlacedText& text, const std::string& attribute) const override {
    std::vector<std::string> sentences;
    for (const PlacedText& target : question_.test.targets) {
      sentences.push_back(filled(text.text, target.text, attribute));
    }
    const auto scores = sentence_log_likelihoods(model_, question_.tokenizer, sentences, question_.where(text));
    return scores[0] - scores[1];
  }

  double masked(const PlacedText&, const std::string&) const override {
    throw DataError(concatenate(question_.file, ":", question_.test.line,
                                ": a model that predicts next tokens has no masks; give ", question_.test.name,
                                " words for the prior, neutral = person"));
  }

 private:
  const models::TokenLoss& model_;
  const Question& question_;
};

std::unique_ptr<Ratio> ratio_of(const models::Model& model, const Question& question) {
  if (const auto* masked = model.as<models::MaskedPredictor>()) return std::make_unique<MaskedRatio>(*masked, question);
  return std::make_unique<CausalRatio>(models::require<models::TokenLoss>(model, "a test of templates", question.file),
                                       question);
}

}  // namespace

std::vector<AttributeBias> template_bias(const models::Model& model, const text::Tokenizer& tokenizer,
                                         const data::TemplateTest& test, std::string_view file) {
  const Question question{tokenizer, test, file};
  const std::unique_ptr<Ratio> ratio = ratio_of(model, question);
  std::vector<AttributeBias> results;
  for (const PlacedText& attribute : test.attributes) results.push_back({attribute.text});
  const auto share = 1 / static_cast<double>(test.templates.size());
  for (const PlacedText& text : test.templates) {
    double neutral = 0;
    for (const PlacedText& word : test.neutral) neutral += (*ratio)(text, word.text);
    for (AttributeBias& result : results) {
      result.ratio += share * (*ratio)(text, result.attribute);
      result.prior += share * (test.neutral.empty() ? ratio->masked(text, result.attribute)
                                                    : neutral / static_cast<double>(test.neutral.size()));
    }
  }
  return results;
}

}  // namespace heddle::analysis
