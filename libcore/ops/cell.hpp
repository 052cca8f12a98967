// Recurrent cells: how one becomes the next state, from a product of the input and one of the hidden state,
//
//   a_t = W x_t + b,  u_t = U h_{t-1},  state_t = cell(a_t, u_t, state_{t-1}).
//
// In a cell with a gate(), the last part of u_t is a product of g_t = gate(a_t, the other parts of u_t, h_{t-1})
// instead.
//
// A cell is a pair of kernels, forward and backward, on one row at one time; recurrent.hpp runs them over whole
// sequences.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"

namespace heddle::ops {

// All are contiguous: gates one after another, and the parts of a state, the hidden state h first.
struct CellForward {
  const Real* input;      // a [gates width]
  const Real* recurrent;  // u [gates width]
  const Real* bias;       // [width], where the cell has a recurrent bias
  Real* state;            // [states width]: before, then after
  Real* kept;             // [kept width]: what backward needs
  Real* gated;            // g [width], which gate() sets
  Index width;
};

struct CellBackward {
  const Real *hidden, *next_hidden;  // h_{t-1} and h_t
  const Real* kept;
  Real* state;        // [states width]: the gradient of the state after; then that of the state before, without U
  Real* input;        // gradient of a
  Real* recurrent;    // gradient of u, if the cell does not add both
  const Real* gated;  // gradient of g, for gate_backward()
  Index width;
};

// Initial values with which language models of such cells learned fastest: the first 600 and 2,000 steps on the
// characters of a novel (examples/recipes/LOG.md).
struct CellStart {
  double keeping_bias = 0;      // bias of the gate that keeps the state
  double embedding_stddev = 1;  // stddev of tied embeddings
};

struct Cell {
  std::string_view name{}, summary{};
  Index gates;          // parts of a and u
  Index states;         // parts of a state
  Index kept;           // numbers that backward needs, per element of the hidden state
  bool adds;            // a and u matter by their sum alone, so they have one gradient
  bool recurrent_bias;  // a bias is added to the last part of u
  void (*forward)(const CellForward& row);
  void (*backward)(const CellBackward& row);
  // The part of a and u whose gate, where it is open, keeps the state before; none where a cell always replaces it.
  std::optional<Index> keeping_gate = std::nullopt;
  CellStart start = {};
  // Before forward() and after backward(): gate_backward() adds to the gradient of the hidden state before, and sets
  // those of the gates that forward() does not use. Null where u is a product of h alone.
  void (*gate)(const CellForward& row) = nullptr;
  void (*gate_backward)(const CellBackward& row) = nullptr;

  Index direct_gates() const { return gate == nullptr ? gates : gates - 1; }  // parts of u that are products of h
};

// All of them, in the order of cells.def.
const std::vector<Cell>& cells();
std::vector<std::string> cell_names();
// Throws UsageError that lists them.
const Cell& cell(const std::string& name);

}  // namespace heddle::ops
