// The attention of a model in one or two texts, for inspect attention and align.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/heddle/load_model.hpp"
#include "libcore/analysis/attention_patterns.hpp"
#include "libcore/base/visit.hpp"
#include "tools/lines/input_texts.hpp"

namespace heddle {

// Role of a token in a text: a word or a piece of one, the token that begins the text, one that separates or ends
// texts, or punctuation. Pages have the number.
enum class TokenRole { word, begin, separator, punctuation };

// Pairs of tokens that say little: those of a token with itself, and those with a token of such a role.
enum class HiddenPairs { itself, begin, separator, punctuation };
template <>
struct Names<HiddenPairs> {
  static constexpr std::pair<HiddenPairs, std::string_view> list[] = {{HiddenPairs::itself, "self"},
                                                                      {HiddenPairs::begin, "begin"},
                                                                      {HiddenPairs::separator, "separator"},
                                                                      {HiddenPairs::punctuation, "punctuation"}};
};

// A text as its tokens.
struct TokenText {
  std::string name;  // "text", "source" or "target"
  std::vector<TokenId> ids{};
  std::vector<std::string> pieces{};  // pieces of the tokenizer
  std::vector<std::string> labels{};  // printable, for people
  std::vector<TokenRole> roles{};

  void add(const text::Tokenizer& tokenizer, const std::vector<TokenId>& more);
  Index tokens() const { return static_cast<Index>(ids.size()); }
};

// Summary of a head's weights.
struct HeadSummary {
  analysis::HeadPattern pattern;
  std::vector<analysis::AttentionLink> links;  // the strongest
  double separators = 0;                       // mean weight of keys that separate or end texts
};

// The layers in which the tokens of one text attend to those of one text.
struct AttentionGroup {
  static constexpr Index all_heads = -1, mean_head = 0;

  std::string name;                 // "self", "encoder" or "source"
  std::size_t query, key;           // indices among the report's texts
  Index only_head = all_heads;      // heads in the report: all, a single one from 1, or the mean
  bool causal = false;              // no token attends to a later one
  std::vector<Index> chosen{};      // numbers of the layers that are shown, from 1
  Index heads = 0;                  // heads that each layer shows
  std::vector<Index> numbers{};     // numbers of the layers read so far
  std::vector<Index> not_finite{};  // numbers of those that have such weights
  // The weights of the layers, or summaries of each head; or neither, if they were taken.
  std::vector<models::AttentionMap> layers{};
  std::vector<std::vector<HeadSummary>> summaries{};

  // From 1, of one from 0; mean_head of the mean.
  Index head_number(Index head) const { return only_head == all_heads ? head + 1 : only_head; }
  // "decoder self-attention"
  std::string title() const;
  // [queries, keys] of a head, from 0.
  Tensor weights(std::size_t layer, Index head) const;
};

// [queries, keys] of one head of weights [1, heads, queries, keys].
Tensor head_of(const Tensor& weights, Index head);
// Weights [1, 1, queries, keys] of one of them, from 1, or of their mean.
Tensor one_head(const Tensor& weights, Index head);

struct AttentionReport {
  std::vector<TokenText> texts;
  std::vector<AttentionGroup> groups;

  const TokenText& queries(const AttentionGroup& group) const { return texts[group.query]; }
  const TokenText& keys(const AttentionGroup& group) const { return texts[group.key]; }
};

// The pairs of the group's tokens that are hidden.
analysis::HidesPair hides_pair(const AttentionReport& report, const AttentionGroup& group,
                               const std::set<HiddenPairs>& hidden);

struct AttentionWanted {
  std::string user;                        // for messages
  std::vector<Index> layers;               // layers of each group, as analysis::chosen_layers() takes them
  std::string group = "all";               // or the name of one
  Index head = AttentionGroup::all_heads;  // or one of each layer, from 1, or the mean
  std::set<HiddenPairs> hidden{};          // from the strongest links
  // A picture to draw, for which texts must not be too long, and attention is of one kind; or empty.
  std::string picture{};
  // If given, more than one head of one layer is summarised, with so many links, and its weights are not kept: they are
  // there a layer at a time.
  std::optional<Index> links{};
  // If given, gets the weights of more than one head of one layer, a layer at a time, the group's last; they are not
  // kept.
  std::function<void(const AttentionGroup& group, const Tensor& weights)> take{};
};

// For a sequence-to-sequence model, the first text is the source, and the second, or the model's translation, the
// target with the token that ends it; for others the text alone or, where the model reads pairs, both. Throws DataError
// for texts that the model cannot read, UsageError for layers, heads and groups that are not there.
AttentionReport read_attention(const formats::LoadedModel& loaded, const std::string& path, const InputText& first,
                               const std::optional<InputText>& second, const AttentionWanted& wanted);

// "FILE: the weights of KIND in layers N, ... are not finite; …" of all such layers; or "".
std::string not_finite(const AttentionReport& report, const std::string& path);

}  // namespace heddle
