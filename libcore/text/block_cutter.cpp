#include "libcore/text/block_cutter.hpp"

#include <algorithm>
#include <utility>

namespace heddle::text {

BlockCutter::BlockCutter(IsBoundary is_boundary, std::size_t context, std::size_t block_bytes)
    : is_boundary_(std::move(is_boundary)), context_(context), block_bytes_(std::max(block_bytes, context + 1)) {}

// The last boundary in the rest that what comes later cannot undo, or 0.
std::size_t BlockCutter::find_cut() {
  const std::size_t last = rest_.size() - std::min(rest_.size(), context_);
  for (std::size_t position = last; position > searched_; --position) {
    if (is_boundary_(rest_, position)) return position;
  }
  searched_ = std::max(searched_, last);
  return 0;
}

void BlockCutter::add(std::string_view text, const Sink& sink) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, block_bytes_);
    rest_ += part;
    text.remove_prefix(part.size());
    if (rest_.size() < block_bytes_) continue;
    if (const std::size_t cut = find_cut(); cut != 0) {
      sink(std::string_view(rest_).substr(0, cut));
      rest_.erase(0, cut);
      searched_ = 0;
    }
  }
}

void BlockCutter::finish(const Sink& sink) {
  if (!rest_.empty()) sink(rest_);
  rest_.clear();
  searched_ = 0;
}

}  // namespace heddle::text
