// Log-probability ratio of two words in a sentence, as changed by an attribute.
//
//   ratio = log p(first | sentence) - log p(second | sentence), nats
//   bias = ratio - prior, the ratio where the attribute is unknown
//
// A model that predicts masked tokens gives p of the masked target. One that predicts next tokens gives the
// probabilities of the whole sentences with either word, which have the same ratio by Bayes' rule. The prior has the
// neutral words in the attribute's place, their mean, or, with masked tokens where there are none, as many masks as the
// attribute has tokens. Source: Kurita et al. 2019, "Measuring bias in contextualized word representations", section 2
// (SPEC 7.7).
#pragma once

#include <string_view>
#include <vector>

#include "libcore/data/bias_tests.hpp"
#include "libcore/models/model.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::analysis {

struct AttributeBias {
  std::string attribute;
  double ratio = 0, prior = 0;  // means over the templates
  double bias() const { return ratio - prior; }
};

// One for each attribute, in order. Throws DataError, "FILE:LINE: …", where a masked target is not one token or a prior
// without masks has no neutral word, for sentences longer than the context, for models without the tokens it takes, and
// for models that predict no tokens.
std::vector<AttributeBias> template_bias(const models::Model& model, const text::Tokenizer& tokenizer,
                                         const data::TemplateTest& test, std::string_view file);

}  // namespace heddle::analysis
