#include "tools/lines/encoded_text.hpp"

#include <algorithm>

#include "libcore/base/error.hpp"
#include "tools/lines/document_encoder.hpp"

namespace heddle {

namespace {

constexpr Index largest_narrow_vocabulary = 65536;

class MemorySink : public TokenSink {
 public:
  explicit MemorySink(EncodedText& tokens) : tokens_(tokens) {}
  void append(std::span<const TokenId> ids, Index) override { tokens_.append(ids); }
  void end_document() override { tokens_.end_document(); }

 private:
  EncodedText& tokens_;
};

}  // namespace

EncodedText::EncodedText(Index vocab_size, std::string name)
    : vocab_size_(vocab_size), name_(std::move(name)), is_narrow_(vocab_size <= largest_narrow_vocabulary) {}

void EncodedText::append(std::span<const TokenId> ids) {
  is_narrow_ ? append_to(narrow_, ids) : append_to(wide_, ids);
  size_ += static_cast<Index>(ids.size());
}

template <class Id>
void EncodedText::append_to(std::vector<std::vector<Id>>& blocks, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (blocks.empty()) {
      blocks.emplace_back();  // it grows: most of many files are short
    } else if (static_cast<Index>(blocks.back().size()) == block_tokens) {
      blocks.emplace_back().reserve(static_cast<std::size_t>(block_tokens));
    }
    blocks.back().push_back(static_cast<Id>(id));
  }
}

void EncodedText::read(Index offset, std::span<TokenId> out) const {
  const auto count = static_cast<Index>(out.size());
  check<DataError>(offset >= 0 && count <= size_ && offset <= size_ - count, name_, ": has no ", count,
                   " tokens from token ", offset, " on, only ", size_);
  is_narrow_ ? read_from(narrow_, offset, out) : read_from(wide_, offset, out);
}

template <class Id>
void EncodedText::read_from(const std::vector<std::vector<Id>>& blocks, Index offset, std::span<TokenId> out) const {
  while (!out.empty()) {
    const std::vector<Id>& block = blocks[static_cast<std::size_t>(offset / block_tokens)];
    const Index within = offset % block_tokens;
    const Index here = std::min(static_cast<Index>(out.size()), static_cast<Index>(block.size()) - within);
    std::transform(block.begin() + within, block.begin() + within + here, out.begin(),
                   [](Id id) { return static_cast<TokenId>(id); });
    out = out.subspan(static_cast<std::size_t>(here));
    offset += here;
  }
}

Index EncodedText::document_at(Index offset) const {
  return std::upper_bound(ends_.begin(), ends_.end() - 1, offset) - ends_.begin();
}

std::vector<Index> EncodedText::document_lengths() const {
  std::vector<Index> lengths;
  for (Index begin = 0; const Index end : ends_) lengths.push_back(end - std::exchange(begin, end));
  return lengths;
}

std::unique_ptr<EncodedText> encode_text(const std::string& path, const text::Tokenizer& tokenizer, Documents documents,
                                         const cli::Arguments& arguments) {
  DocumentReader reader(arguments, {path}, documents);
  auto tokens = std::make_unique<EncodedText>(tokenizer.vocab_size(), path);
  MemorySink sink(*tokens);
  DocumentEncoder encoder(reader, tokenizer, sink);
  InvalidBytes invalid(InvalidText::error, takes_any_bytes(tokenizer));
  reader.read_into(encoder, invalid);
  check<DataError>(reader.bytes() > 0, path, ": no text; there is nothing to train or evaluate on");
  return tokens;
}

}  // namespace heddle
