#include "libcore/text/offsets.hpp"

#include "libcore/base/error.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr const char* lost = "these are not the ids of the text";

// End of the text that the unknown token at `begin` represents.
std::size_t unknown_end(TokenizerKind kind, std::string_view text, std::size_t begin) {
  check<DataError>(begin < text.size() && kind == TokenizerKind::character, lost);
  return begin + decode(text, begin).length;
}

std::size_t locate_by_bytes(const Vocabulary& vocabulary, std::string_view text, std::span<const TokenId> ids,
                            const LocationSink& sink) {
  std::size_t at = 0, count = 0;
  for (; at < text.size(); ++count) {
    check<DataError>(count < ids.size(), lost);
    const TokenId id = ids[count];
    const std::size_t begin = at;
    if (id == vocabulary.model().unknown) {
      at = unknown_end(vocabulary.model().kind, text, begin);
    } else {
      std::string_view bytes = vocabulary.bytes(id);
      if (begin == 0 && bytes.starts_with(' ') && !text.starts_with(bytes)) bytes.remove_prefix(1);
      check<DataError>(text.substr(begin).starts_with(bytes), lost);
      at += bytes.size();
    }
    sink({id, begin, at});
  }
  return count;
}

std::size_t locate_pieces(const Vocabulary& vocabulary, std::string_view text, std::span<const TokenId> ids,
                          const LocationSink& sink) {
  const TokenizerModel& model = vocabulary.model();
  std::size_t count = 0;
  const auto locate_word = [&](std::string_view word, std::span<const Origin> origins) {
    for (std::size_t at = 0; at < word.size();) {
      check<DataError>(count < ids.size(), lost);
      const TokenId id = ids[count++];
      const std::size_t mark = at > 0 ? continuation_mark.size() : 0, piece = vocabulary.bytes(id).size();
      const std::size_t length = id == model.unknown ? word.size() - at : piece - mark;
      check<DataError>(piece > mark && length <= word.size() - at, lost);
      sink({id, origins[at].begin, origins[at + length - 1].end});
      at += length;
    }
  };
  for_each_located_word(text, basic_words(model), locate_word);
  return count;
}

}  // namespace

void append_located(const std::vector<TokenId>& ids, const std::vector<std::size_t>& sizes,
                    std::span<const Origin> origins, std::size_t offset, std::vector<LocatedToken>& tokens) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t last = at + sizes[i] - 1;
    tokens.push_back({ids[i], offset + origins[at].begin, offset + origins[last].end});
    at = last + 1;
  }
}

std::size_t locate_tokens(const Vocabulary& vocabulary, std::string_view text, std::span<const TokenId> ids,
                          const LocationSink& sink) {
  const auto locate = vocabulary.model().kind == TokenizerKind::wordpiece ? locate_pieces : locate_by_bytes;
  return locate(vocabulary, text, ids, sink);
}

}  // namespace heddle::text
