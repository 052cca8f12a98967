#include "libcore/text/vocabulary_training.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/text/basic_words.hpp"
#include "libcore/text/learn_merges.hpp"
#include "libcore/text/learn_unigram.hpp"
#include "libcore/text/pretokenizer.hpp"
#include "libcore/text/sentinels.hpp"
#include "libcore/text/spelling.hpp"
#include "libcore/text/unicode.hpp"

namespace heddle::text {

namespace {

constexpr std::size_t boundary_context = 4;

// Puts tokens in place of the words auto and none. Wordpiece has its own special tokens.
TrainerOptions completed(TrainerOptions options) {
  const bool wordpiece = options.kind == TokenizerKind::wordpiece;
  if (options.unknown == "none") options.unknown.clear();
  if (options.end_of_text == "none") options.end_of_text.clear();
  if (options.end_of_text == "auto") options.end_of_text = wordpiece ? "[SEP]" : "<|endoftext|>";
  if (!wordpiece) return options;
  options.byte_fallback = false;
  options.unknown = "[UNK]";
  return options;
}

// The named special tokens, further ones, the end of text; each once.
std::vector<std::string> special_texts(const TrainerOptions& options) {
  std::vector<std::string> texts;
  if (options.kind == TokenizerKind::wordpiece) texts = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
  const auto add = [&](const std::string& text) {
    check<UsageError>(text.size() > 1 && is_utf8(text) && text.find('\0') == std::string::npos, "special token ",
                      quoted(text), " must be UTF-8 text of at least two bytes");
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
  };
  std::vector<std::string> sorted = options.special_tokens;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  check<UsageError>(twice == sorted.end(), "special token ", quoted(twice == sorted.end() ? "" : *twice),
                    " is listed twice");
  if (!options.unknown.empty()) add(options.unknown);
  std::ranges::for_each(options.special_tokens, add);
  for (Index number = 0; number < options.sentinels; ++number) add(sentinel_name(number));
  if (!options.end_of_text.empty()) add(options.end_of_text);
  return texts;
}

SpecialTokens matcher(const std::vector<std::string>& texts) {
  std::vector<SpecialTokens::Token> tokens;
  for (const std::string& text : texts) tokens.push_back({text, 0});
  return SpecialTokens(std::move(tokens));
}

BasicWords words_of(const TrainerOptions& options) {
  const Marks by_default = options.cased ? Marks::keep : Marks::european;
  const Marks marks = options.marks == Marks::automatic ? by_default : options.marks;
  return {.lowercase = !options.cased,
          .strip_accents = marks != Marks::keep,
          .european_accents = marks == Marks::european,
          .final_sigma = !options.cased};
}

bool counts_words(TokenizerKind kind) {
  return kind == TokenizerKind::bpe || kind == TokenizerKind::word || kind == TokenizerKind::unigram;
}

bool is_boundary(TokenizerKind kind, std::string_view text, std::size_t at) {
  if (kind == TokenizerKind::wordpiece) return is_basic_boundary(text, at);
  return counts_words(kind) ? is_pretoken_boundary(text, at, LetterMarks::joined) : is_character_boundary(text, at);
}

// Position of the first byte that is not valid UTF-8, if any.
std::optional<std::size_t> find_invalid(std::string_view text) {
  if (is_utf8(text)) return std::nullopt;
  std::size_t at = 0;
  while (decode(text, at).code != invalid_character) at += decode(text, at).length;
  return at;
}

}  // namespace

Trainer::Trainer(TrainerOptions options, std::size_t block_bytes)
    : options_(completed(std::move(options))),
      special_texts_(special_texts(options_)),
      special_tokens_(matcher(special_texts_)),
      words_(words_of(options_)),
      cutter_(
          [this](std::string_view text, std::size_t at) {
            return is_boundary(options_.kind, text, at) && !special_tokens_.spans(text, at);
          },
          std::max(boundary_context, special_tokens_.longest()), block_bytes) {
  check_ranges(options_);
  check<UsageError>(options_.kind != TokenizerKind::char_bpe,
                    "`model` = char-bpe can only be read from other programs' files; train bpe or unigram");
  const std::size_t least = special_texts_.size() + (has_bytes() ? 256 : 1);
  check<UsageError>(options_.kind == TokenizerKind::byte || options_.vocab_size >= static_cast<Index>(least),
                    "`vocab_size` = ", options_.vocab_size, " must be at least ", least, ": ", special_texts_.size(),
                    special_texts_.size() == 1 ? " special token and " : " special tokens and ",
                    has_bytes() ? "256 bytes" : "one piece");
}

bool Trainer::has_bytes() const {
  return options_.byte_fallback || options_.kind == TokenizerKind::bpe || options_.kind == TokenizerKind::byte;
}

void Trainer::add(std::string_view text) {
  if (options_.kind == TokenizerKind::byte) return;
  cutter_.add(text, [this](std::string_view block) { count_block(block); });
}

void Trainer::end_document() {
  cutter_.finish([this](std::string_view block) { count_block(block); });
  position_ = {};
}

void Trainer::count_block(std::string_view block) {
  const bool takes_all = has_bytes() || options_.kind == TokenizerKind::wordpiece;
  if (const auto invalid = takes_all ? std::nullopt : find_invalid(block)) {
    position_.advance(block.substr(0, *invalid));
    throw TextError(position_, concatenate("invalid UTF-8; a ", to_text(options_.kind), " model needs byte fallback"));
  }
  std::size_t begin = 0;
  while (const auto match = special_tokens_.find(block, begin)) {
    count_plain(block.substr(begin, match->begin - begin));
    begin = match->end;
  }
  count_plain(block.substr(begin));
  position_.advance(block);
}

void Trainer::count_plain(std::string_view text) {
  if (options_.kind == TokenizerKind::wordpiece) {
    return for_each_basic_word(text, words_, [this](std::string_view word) { count(word); });
  }
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = counts_words(options_.kind) ? pretoken_end(text, begin, LetterMarks::joined)
                                      : begin + decode(text, begin).length;
    count(text.substr(begin, end - begin));
  }
}

void Trainer::count(std::string_view item) {
  const auto [index, is_new] = items_.add(item);
  if (is_new) {
    counts_.push_back(0);
    has_marks_ = has_marks_ || (counts_words(options_.kind) && pretoken_end(item, 0) < item.size());
  }
  ++counts_[index];
}

TokenizerModel Trainer::finish() {
  end_document();
  check<DataError>(options_.kind == TokenizerKind::byte || items_.size() > 0, "no text to train a tokenizer on");
  TokenizerModel model;
  model.kind = options_.kind;
  if (has_bytes()) {
    for (int byte = 0; byte < 256; ++byte) {
      const char text = static_cast<char>(byte);
      const bool is_named = model.kind == TokenizerKind::unigram;
      model.pieces.push_back(is_named ? byte_name(static_cast<unsigned char>(byte)) : spell(model.kind, {&text, 1}));
    }
  }
  if (model.kind == TokenizerKind::wordpiece) add_special_tokens(model);
  const bool has_special_tokens = !model.special_tokens.empty();
  const std::size_t taken = model.pieces.size() + (has_special_tokens ? 0 : special_texts_.size());
  const std::size_t room = std::max(static_cast<std::size_t>(options_.vocab_size), taken) - taken;
  if (model.kind == TokenizerKind::bpe) {
    add_merges(model, room);
  } else if (model.kind == TokenizerKind::wordpiece) {
    add_wordpieces(model, room);
  } else if (model.kind == TokenizerKind::unigram) {
    add_unigram_pieces(model, room);
  } else {
    add_items(model, room);
  }
  if (!has_special_tokens) add_special_tokens(model);
  if (has_marks_) model.cuts = {"gpt2-marks"};
  return model;
}

void Trainer::add_wordpieces(TokenizerModel& model, std::size_t room) const {
  model.lowercase = words_.lowercase;
  model.strip_accents = words_.strip_accents;
  model.european_accents = words_.european_accents;
  model.final_sigma = words_.final_sigma;
  if (options_.whole_words) return add_items(model, room);
  const std::vector<std::string> characters = most_frequent_characters(room);
  const auto learn = [&](std::size_t size) {
    const auto end = characters.begin() + static_cast<std::ptrdiff_t>(std::min(size, characters.size()));
    return learn_merges(items_, counts_, room - std::min(size, characters.size()), options_.min_frequency,
                        Alphabet::characters({characters.begin(), end}));
  };
  const std::size_t half = (room + 1) / 2;
  LearntMerges learnt = learn(half);
  // If there are fewer merges, characters that were left out take their places.
  if (learnt.pieces.size() < room && half < characters.size()) learnt = learn(half + room - learnt.pieces.size());
  std::ranges::move(learnt.pieces, std::back_inserter(model.pieces));
}

// Byte fallback pieces have the lowest score, which is never read.
void Trainer::add_unigram_pieces(TokenizerModel& model, std::size_t room) const {
  model.byte_fallback = has_bytes();
  const LearntUnigram learnt =
      learn_unigram(items_, counts_, {.pieces = room, .minimum_count = options_.min_frequency});
  model.scores.assign(model.pieces.size(), learnt.scores.empty() ? 0 : learnt.scores.back());
  model.scores.insert(model.scores.end(), learnt.scores.begin(), learnt.scores.end());
  for (const std::string& piece : learnt.pieces) model.pieces.push_back(spell(model.kind, piece));
}

// As pieces, of those that occur often enough; ties go to the smaller bytes.
std::vector<std::string> Trainer::most_frequent_characters(std::size_t limit) const {
  std::map<std::string, Index> counts;
  for (std::size_t item = 0; item < items_.size(); ++item) {
    const std::string_view word = items_[item];
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t length = decode(word, at).length;
      std::string piece(at > 0 ? continuation_mark : std::string_view());
      counts[piece.append(word.substr(at, length))] += counts_[item];
      at += length;
    }
  }
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [piece, count] : counts) {
    if (count >= options_.min_frequency) order.emplace_back(-count, piece);
  }
  std::ranges::sort(order);
  order.resize(std::min(order.size(), limit));
  std::vector<std::string> pieces;
  for (auto& [count, piece] : order) pieces.push_back(std::move(piece));
  return pieces;
}

void Trainer::add_merges(TokenizerModel& model, std::size_t room) const {
  LearntMerges learnt = learn_merges(items_, counts_, room, options_.min_frequency);
  for (std::size_t id = model.pieces.size(); id < learnt.pieces.size(); ++id) {
    model.pieces.push_back(spell(model.kind, learnt.pieces[id]));
  }
  model.merges = std::move(learnt.pairs);
}

void Trainer::add_items(TokenizerModel& model, std::size_t room) const {
  std::vector<std::size_t> chosen = most_frequent(room);
  if (model.kind == TokenizerKind::character) {
    std::ranges::sort(chosen, {}, [this](std::size_t item) { return items_[item]; });
  }
  for (const std::size_t item : chosen) model.pieces.push_back(spell(model.kind, items_[item]));
}

// Items that have no piece yet, the most frequent first.
std::vector<std::size_t> Trainer::most_frequent(std::size_t limit) const {
  std::vector<std::size_t> chosen;
  for (std::size_t item = 0; item < items_.size(); ++item) {
    const bool is_piece = has_bytes() && items_[item].size() == 1;
    if (counts_[item] >= options_.min_frequency && !is_piece) chosen.push_back(item);
  }
  std::ranges::sort(chosen, {}, [this](std::size_t item) { return std::tuple(-counts_[item], items_[item]); });
  chosen.resize(std::min(limit, chosen.size()));
  return chosen;
}

void Trainer::add_special_tokens(TokenizerModel& model) const {
  for (const std::string& text : special_texts_) {
    const auto id = static_cast<Index>(model.pieces.size());
    model.pieces.push_back(text);
    if (model.kind == TokenizerKind::unigram) model.scores.push_back(0);
    model.special_tokens.push_back(id);
    if (text == options_.unknown) model.unknown = id;
    if (text == options_.end_of_text) model.end_of_text = id;
    if (text == "[PAD]" || text == "<pad>") model.padding = id;
    if (text == "[CLS]" || text == "<s>") model.classification = id;
    if (text == "[SEP]" || text == "</s>") model.separator = id;
    if (text == "[MASK]" || text == "<mask>") model.mask = id;
  }
}

}  // namespace heddle::text
