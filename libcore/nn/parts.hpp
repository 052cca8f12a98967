// The parts of models, of which costs and profiles are the sum: what a parameter belongs to goes by its name, what an
// operation belongs to by the module that computes it (heddle/tensor/profile.hpp).
#pragma once

#include <string_view>
#include <vector>

namespace heddle::nn::parts {

inline constexpr const char* token_embeddings = "token embeddings";
inline constexpr const char* positions = "positions";
inline constexpr const char* segments = "segments";
inline constexpr const char* convolutions = "convolutions";
inline constexpr const char* recurrent = "recurrent layers";
inline constexpr const char* context = "context vector";
inline constexpr const char* projections = "attention projections";
inline constexpr const char* mixing = "scores and mixing";
inline constexpr const char* feed_forward = "feed-forward";
inline constexpr const char* norms = "norms";
inline constexpr const char* residuals = "dropout and residuals";
inline constexpr const char* readout = "readout";
inline constexpr const char* pooler = "pooler";
inline constexpr const char* output = "output head";
inline constexpr const char* adapters = "adapters";
inline constexpr const char* optimizer = "optimizer";
inline constexpr const char* other = "other";

// All of them, from a model's input to its output.
std::vector<std::string_view> all();

// The part of a parameter: "decoder/3/attention/query/weight" belongs to the attention projections.
std::string_view of_parameter(std::string_view name);

}  // namespace heddle::nn::parts
