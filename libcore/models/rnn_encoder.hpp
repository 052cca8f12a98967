// The encoder of recurrent sequence-to-sequence models: annotations of a source.
#pragma once

#include <optional>
#include <vector>

#include "heddle/models/rnn_config.hpp"
#include "heddle/models/roles.hpp"
#include "heddle/nn/recurrent.hpp"

namespace heddle::models {

// Layers of cells over the source, each in both directions, h_j = [-> h_j; <- h_j], where the encoder is bidirectional.
// Source: Bahdanau et al. 2015, A.2.1; Sutskever et al. 2014.
// Parameters: 0/forward and 0/backward, 1/forward, … of nn::Recurrent.
class RnnEncoder {
 public:
  RnnEncoder(const Scope& scope, const RnnConfig& config);

  struct Result {
    Variable annotations;  // [batch, time, annotation width]; 0 at padding
    // The states that each layer's direction ends with, the forward one (or the only one) first.
    std::vector<std::vector<nn::Recurrent::State>> last;
  };
  // x [batch, time, embedding width]. An observer sees it with zeros up to the annotation width; throws DataError where
  // it is wider.
  Result operator()(Variable x, const std::vector<Index>& lengths, const Pass& pass,
                    const ContextualVectors::Observer& observe = {}) const;

  Index layers() const { return static_cast<Index>(layers_.size()); }

 private:
  struct Layer {
    nn::Recurrent forward;
    std::optional<nn::Recurrent> backward;
    std::uint64_t dropout_site;
  };
  std::vector<Layer> layers_;
  Index annotation_width_;
  bool reverse_;
};

}  // namespace heddle::models
