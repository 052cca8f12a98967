// The interactive page of attention weights. pages/attention/main.js reads its data.
#pragma once

#include <string>

#include "tools/inspect/texts/attention_report.hpp"

namespace heddle {

// Which vectors of queries and keys a page has: those of all layers if they take at most a few megabytes, all, or none.
enum class PageVectors { automatic, all, none };
template <>
struct Names<PageVectors> {
  static constexpr std::pair<PageVectors, std::string_view> list[] = {
      {PageVectors::automatic, "auto"}, {PageVectors::all, "all"}, {PageVectors::none, "none"}};
};

// Weights are rounded to 1/255, vectors to 1/127 of their largest element in a layer. Throws UsageError for more
// weights than a page can hold.
void write_attention_page(const std::string& path, const AttentionReport& report, const std::string& model,
                          PageVectors vectors);

}  // namespace heddle
