// Checks that a written model is the intended one.
#pragma once

#include <string>

#include "heddle/formats/huggingface/foreign_model.hpp"

namespace heddle {

// How far logits may be from those of the original's weights as float32: |written - original| / |original|, in the norm
// over a probe text of some twenty tokens and the whole vocabulary.
double logit_tolerance(formats::WeightType type);

// The difference of the logits. Throws DataError where the tokenizers cut the probe text differently, a weight is not
// to the bit the stored value, or logits differ by more than the tolerance; `where` is what was written.
//   original: what was read.  stored: its weights, converted.  written: what is read again.
double check_written(const formats::ModelParts& original, const std::vector<formats::NamedTensor>& stored,
                     const formats::ModelParts& written, formats::WeightType type, const std::string& where);

}  // namespace heddle
