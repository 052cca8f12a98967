// The decoder of recurrent sequence-to-sequence models.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "libcore/models/source_encoder.hpp"
#include "libcore/nn/source_attention.hpp"

namespace heddle::models {

// e_i: embedding of the previous target token; s_i: states of the top layer; c_i: context.
//
//   Bahdanau   c_i = attend(s_{i-1}),  s_i = cells(e_i, c_i, s_{i-1}),  t_i = maxout(U s_{i-1} + V e_i + C c_i)
//   Luong      s_i = cells(e_i [, t_{i-1}], s_{i-1}),  c_i = attend(s_i),  t_i = tanh(U s_i + C c_i)
//   Cho        s_i = cells(e_i, c, s_{i-1}),  c = tanh(V h_T),  t_i = maxout(U s_i + V e_i + C c)
//   Sutskever  s_i = cells(e_i, s_{i-1}),  t_i = s_i
//   Kalchbrenner and Blunsom  s_i = cells(e_i, c, s_{i-1}),  t_i = s_i,  s_0 = 0, with the encoder's own vector c
//
// and p(y_i) = softmax(W t_i) of the model's head. Contexts and t_{i-1} enter the lowest layer. The slides' c_i =
// attend(s_i), s_i = cells(.., c_i) is circular (SPEC 5.4): the papers' orders are these two. Other readouts, where
// they are chosen, see s_i. The first states are all final states of the encoder where it has as many layers of this
// width in one direction; otherwise h_0 = tanh(W h) in each layer, where h is the final state <- h_1 of the direction
// that ends at the first token or, without attention, those of both directions (c in Cho's), and other parts of the
// state are zero. Source: Kalchbrenner and Blunsom 2013, section 3.2; Sutskever et al. 2014; Cho et al. 2014; Bahdanau
// et al. 2015, A.2.2; Luong et al. 2015, section 3 (SPEC 5, A7, A8). Parameters: 0, 1, … of nn::Recurrent;
// context/weight [gates width, ..] of what else enters the lowest layer; attention/… of nn::SourceAttention;
// start/0/weight, … of the first states, summary/weight of Cho's c; readout/state/weight, readout/embedding/weight,
// readout/context/weight; and biases.
class RnnDecoder {
 public:
  // vector_width: of the vector of a source.
  RnnDecoder(const Scope& scope, const RnnConfig& config, Index vector_width);

  // Source, as the decoder reads it.
  struct Source {
    std::optional<nn::SourceAttention::Memory> memory;
    Variable context;                          // c of each row, [batch, width]; empty where there is none
    std::vector<nn::Recurrent::State> states;  // the first ones of each layer
  };
  Source remember(const SourceEncoder::Result& encoded, const std::vector<Index>& lengths) const;

  struct Result {
    Variable outputs;  // t_i of each time, [batch, time, output width]
    Variable weights;  // attention weights, [batch, time, source_time]; may be empty with Keep::outputs
  };
  enum class Keep { outputs, weights };  // weights: with the outputs
  // embeddings [batch, time, embedding width]
  Result operator()(const Variable& embeddings, const Source& source, const Pass& pass, Keep keep) const;

  // A decoder between two times.
  struct State {
    std::vector<nn::Recurrent::State> layers;
    Variable context;  // Cho's c, for each row; empty where there is none
    Variable fed;      // t_{i-1}, [batch, output width]; empty where it is not fed
  };
  State start(const Source& source) const;
  // t_i of one time of embeddings [batch, embedding width], and the state after it.
  struct Step {
    State state;
    Variable output, weights;
  };
  Step step(const Variable& embedding, const State& state,
            const std::optional<nn::SourceAttention::Memory>& memory) const;

  const std::vector<nn::Recurrent>& layers() const { return layers_; }

 private:
  // Inputs of the prediction at one time step.
  struct Seen {
    Variable state, context, weights;
  };
  struct Advanced {
    State state;
    Seen seen;
  };
  // drop(x, layer): dropout of a layer's output, which the next one reads.
  using Drop = std::function<Variable(const Variable& x, std::size_t layer)>;
  Advanced advance(const Variable& projected, const State& state,
                   const std::optional<nn::SourceAttention::Memory>& memory, const Drop& drop) const;
  Variable readout(const Variable& state, const Variable& embedding, const Variable& context) const;
  Result whole(const Variable& embeddings, const Source& source, const Pass& pass) const;
  Result one_by_one(const Variable& embeddings, const Source& source, const Pass& pass, Keep keep) const;

  const RnnConfig config_;
  std::vector<nn::Recurrent> layers_;
  std::vector<std::uint64_t> dropout_sites_;
  std::optional<nn::SourceAttention> attention_;
  std::optional<nn::Linear> context_, summary_;
  std::vector<nn::Linear> start_;
  std::optional<nn::Linear> readout_state_, readout_embedding_, readout_context_;
};

}  // namespace heddle::models
