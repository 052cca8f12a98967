#include "libcore/nn/parts.hpp"

#include <string>
#include <utility>

namespace heddle::nn::parts {

namespace {

// Substring of a parameter name, with "/" before it, and the part of such names: the first match counts.
constexpr std::pair<std::string_view, std::string_view> names[] = {
    {"/lora/", adapters},
    {"norm/", norms},
    {"/readout/", readout},
    {"/embedding/position/", positions},
    {"/positions/", positions},
    {"/embedding/segment/", segments},
    {"/segments/", segments},
    {"/embedding/", token_embeddings},
    {"/head/", output},
    {"/pooler/", pooler},
    {"/value_scale/", projections},
    {"attention/query/", projections},
    {"attention/key/", projections},
    {"attention/value/", projections},
    {"attention/output/", projections},
    {"attention/", mixing},
    {"/feed_forward/", feed_forward},
    {"/kernel/", convolutions},
    {"/last/", convolutions},
    {"/input/", recurrent},
    {"/recurrent/", recurrent},
    {"/projection/", recurrent},
    {"/context/", context},
    {"/start/", context},
    {"/summary/", context},
};

}  // namespace

std::vector<std::string_view> all() {
  return {token_embeddings, positions, segments,     convolutions, recurrent, context,
          projections,      mixing,    feed_forward, norms,        residuals, readout,
          pooler,           output,    adapters,     optimizer,    other};
}

std::string_view of_parameter(std::string_view name) {
  const std::string path = "/" + std::string(name);
  for (const auto& [text, part] : names) {
    if (path.find(text) != path.npos) return part;
  }
  return other;
}

}  // namespace heddle::nn::parts
