// Encodes documents of any size that arrive in arbitrary parts, in constant memory (a few blocks for each thread, and
// the longest run without a place to cut), on all threads, in order. The ids are those of encoding each document at
// once.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/text/block_cutter.hpp"
#include "libcore/text/text_error.hpp"
#include "libcore/text/tokenizer.hpp"

namespace heddle::text {

struct StreamOptions {
  SpecialText special = SpecialText::token;
  std::size_t block_bytes = std::size_t{1} << 16;
};

class StreamEncoder {
 public:
  // Ids that follow those given before. Every document has one part, perhaps empty, that ends it.
  struct Part {
    std::span<const TokenId> ids;
    bool ends_document;
    Index text_bytes;  // bytes of text that the ids encode
  };
  using Sink = std::function<void(const Part&)>;

  StreamEncoder(Tokenizer tokenizer, Sink sink, StreamOptions options = {});

  // All three may call the sink, from another thread too, but never twice at a time. They throw TextError, with the
  // position in its document, after the sink has had all earlier documents; the object is then of no more use.
  void add(std::string_view text);
  void end_document();
  void flush();  // gives the sink all blocks that wait; call it after the last end_document()

 private:
  struct Block {
    std::string text;
    bool ends_document = false;
    std::vector<TokenId> ids;
    std::exception_ptr error;
  };
  void push(std::string_view text, bool ends_document);
  void encode_waiting();
  void deliver_ready();
  void encode(Block& block) const;
  void deliver(const Block& block);

  Tokenizer tokenizer_;
  Sink sink_;
  StreamOptions options_;
  BlockCutter cutter_;
  std::vector<Block> blocks_;  // waiting: the first used_ ones; the others keep their memory
  std::size_t used_ = 0;
  std::vector<Block> ready_;  // encoded: the first ready_count_ ones
  std::size_t ready_count_ = 0;
  std::size_t waiting_bytes_ = 0;
  TextPosition position_;  // position in its document of the next block to deliver
};

}  // namespace heddle::text
