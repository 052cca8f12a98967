// The interactive page of attention weights. pages/attention/main.js reads its data.
#pragma once

#include <string>
#include <vector>

#include "tools/inspect/texts/attention_report.hpp"

namespace heddle {

// Query and key vectors in a page: those of all layers if they take at most a few megabytes, all, or none.
enum class PageVectors { automatic, all, none };
template <>
struct Names<PageVectors> {
  static constexpr std::pair<PageVectors, std::string_view> list[] = {
      {PageVectors::automatic, "auto"}, {PageVectors::all, "all"}, {PageVectors::none, "none"}};
};

// The attention in one text, or in one model, of two that a page shows side by side.
struct AttentionSide {
  std::string name;  // name of the model or the text
  AttentionReport report;
};

// Throws UsageError unless both sides have the same layers and heads and, where they are models, read the same tokens.
void check_beside(const AttentionSide& first, const AttentionSide& second, bool are_models);

// One side, or two. Weights are rounded to 1/255, vectors to 1/127 of their largest element in a layer. Throws
// UsageError for more weights than a page can hold.
void write_attention_page(const std::string& path, const std::vector<AttentionSide>& sides, const std::string& model,
                          PageVectors vectors);

}  // namespace heddle
