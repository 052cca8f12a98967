// Splits a text that arrives in arbitrary parts into blocks that can be processed independently.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace heddle::text {

class BlockCutter {
 public:
  // Returns whether a text may be split at a position, from at most `context` bytes on either side.
  using IsBoundary = std::function<bool(std::string_view text, std::size_t position)>;
  using Sink = std::function<void(std::string_view block)>;

  // Blocks have from about block_bytes to twice as many; more where there is no boundary, fewer at the end.
  BlockCutter(IsBoundary is_boundary, std::size_t context, std::size_t block_bytes);

  // Gives blocks to the sink; the text added up to now is those and a rest that is kept.
  void add(std::string_view text, const Sink& sink);

  // Gives the rest, if any, to the sink: the text ends here, and the next one begins.
  void finish(const Sink& sink);

 private:
  std::size_t find_cut();

  IsBoundary is_boundary_;
  std::size_t context_, block_bytes_;
  std::string rest_;
  std::size_t searched_ = 0;  // no boundary in rest_ up to here
};

}  // namespace heddle::text
