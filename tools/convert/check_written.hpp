// Checks a written model against its source.
#pragma once

#include <string>

#include "formats/huggingface/foreign_model.hpp"

namespace heddle {

// The largest accepted difference between the logits of the written model and of the original with float32 weights:
// |written - original| / |original|, the norm taken over a test text of about twenty tokens and the whole vocabulary.
double logit_tolerance(formats::WeightType type);

// Returns the difference of the logits. Throws DataError if the tokenizers give different ids for the test text, if a
// weight is not bitwise equal to the stored one, or if logits differ by more than the tolerance; `where` names the
// written file.
//   original: the model as read.  stored: its converted weights.  written: the model read back.
double check_written(const formats::ModelParts& original, const std::vector<formats::NamedTensor>& stored,
                     const formats::ModelParts& written, formats::WeightType type, const std::string& where);

}  // namespace heddle
