#include "libcore/text/stream_encoder.hpp"

#include <utility>

#include "libcore/tensor/threads.hpp"

namespace heddle::text {

namespace {
// Threads wait for the last block of each turn: it should be a small part of all.
constexpr std::size_t blocks_per_thread = 16;
}  // namespace

StreamEncoder::StreamEncoder(Tokenizer tokenizer, Sink sink, StreamOptions options)
    : tokenizer_(std::move(tokenizer)),
      sink_(std::move(sink)),
      options_(options),
      cutter_([shared = tokenizer_, special = options.special](
                  std::string_view text, std::size_t at) { return shared.is_boundary(text, at, special); },
              tokenizer_.boundary_context(), options.block_bytes) {}

void StreamEncoder::add(std::string_view text) {
  cutter_.add(text, [this](std::string_view block) { push(block, false); });
}

void StreamEncoder::end_document() {
  std::size_t blocks = 0;
  cutter_.finish([&](std::string_view block) {
    push(block, true);
    ++blocks;
  });
  if (blocks == 0) push("", true);
}

void StreamEncoder::push(std::string_view text, bool ends_document) {
  if (used_ == blocks_.size()) blocks_.emplace_back();
  Block& block = blocks_[used_++];
  block.text = text;
  block.ends_document = ends_document;
  waiting_bytes_ += text.size() + sizeof(Block);
  if (waiting_bytes_ >= options_.block_bytes * blocks_per_thread * static_cast<std::size_t>(thread_count()))
    encode_waiting();
}

void StreamEncoder::flush() {
  encode_waiting();
  deliver_ready();
}

// One thread delivers what was encoded before while the others encode.
void StreamEncoder::encode_waiting() {
  parallel_for(static_cast<Index>(used_) + 1, [this](Index task) {
    if (task == 0) {
      deliver_ready();
    } else {
      encode(blocks_[static_cast<std::size_t>(task - 1)]);
    }
  });
  blocks_.swap(ready_);
  ready_count_ = std::exchange(used_, 0);
  waiting_bytes_ = 0;
}

void StreamEncoder::deliver_ready() {
  const std::size_t count = std::exchange(ready_count_, 0);
  for (std::size_t i = 0; i < count; ++i) deliver(ready_[i]);
}

void StreamEncoder::encode(Block& block) const {
  block.ids.clear();
  block.error = nullptr;
  try {
    tokenizer_.encode(block.text, block.ids, options_.special);
  } catch (const TextError&) {
    block.error = std::current_exception();
  }
}

void StreamEncoder::deliver(const Block& block) {
  if (block.error) {
    try {
      std::rethrow_exception(block.error);
    } catch (const TextError& error) {
      position_.advance(error.position());
      throw TextError(position_, error.reason());
    }
  }
  sink_({block.ids, block.ends_document, static_cast<Index>(block.text.size())});
  if (block.ends_document) {
    position_ = {};
  } else {
    position_.advance(block.text);
  }
}

}  // namespace heddle::text
