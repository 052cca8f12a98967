// The recurrent encoder of sequence-to-sequence models: annotations of a source.
#pragma once

#include <optional>
#include <vector>

#include "libcore/models/source_encoder.hpp"

namespace heddle::models {

// Layers of cells over the source, each in both directions, h_j = [-> h_j; <- h_j], where the encoder is bidirectional.
// The vector of a source is the final hidden state of the top layer: of the direction that ends at the first token
// where a decoder attends to the annotations, else of both. Source: Bahdanau et al. 2015, A.2.1; Sutskever et al. 2014.
// Parameters: 0/forward and 0/backward, 1/forward, … of nn::Recurrent.
class RnnEncoder : public SourceEncoder {
 public:
  RnnEncoder(const Scope& scope, const RnnConfig& config);

  // An observer sees x with zeros up to the annotation width.
  Result operator()(const Variable& x, const std::vector<Index>& lengths, const Pass& pass,
                    const ContextualVectors::Observer& observe = {}) const override;
  Index vector_width() const override { return both_ends_ ? annotation_width_ : layers_.back().forward.width(); }

 private:
  struct Layer {
    nn::Recurrent forward;
    std::optional<nn::Recurrent> backward;
    std::uint64_t dropout_site;
  };
  std::vector<Layer> layers_;
  Index annotation_width_;
  bool reverse_, both_ends_;  // both_ends_: the vector has the final states of both directions
};

}  // namespace heddle::models
