#include "tools/inspect/texts/attention_report.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/weight_levels.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/text_frame.hpp"
#include "libcore/tensor/processors.hpp"
#include "libcore/tensor/threads.hpp"
#include "libcore/text/unicode.hpp"
#include "tools/inspect/texts/cut_text.hpp"
#include "tools/inspect/texts/matrix_picture.hpp"
#include "tools/inspect/texts/own_translation.hpp"
#include "tools/lines/translation_frames.hpp"

namespace heddle {

namespace {

using Text = models::AttentionMap::Text;

// Names of groups.
constexpr const char *of_itself = "self", *of_source = "encoder", *across = "source";

// Text of each token of a sequence, without the space before a word; its piece if it has no text.
std::vector<std::string> labels_of(const text::Tokenizer& tokenizer, const std::vector<TokenId>& ids) {
  std::string text;
  std::vector<CutToken::Range> ranges;
  for (const TokenId id : ids) {
    const std::size_t begin = text.size();
    if (!tokenizer.is_special(id)) {
      tokenizer.decode(id, text, text.empty() ? text::TextPlace::begin : text::TextPlace::inside);
    }
    ranges.push_back({begin, text.size()});
  }
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::string shown = characters_in(text, ranges[i]);
    const std::size_t word = shown.find_first_not_of(' ');
    labels.push_back(ranges[i].begin == ranges[i].end ? printable(tokenizer.piece(ids[i]))
                                                      : label_of(word == shown.npos ? shown : shown.substr(word)));
  }
  return labels;
}

bool is_punctuation(std::string_view label) {
  bool any = false;
  for (std::size_t at = 0; at < label.size();) {
    const auto [code, length] = text::decode(label, at);
    at += length;
    const text::CharacterClass kind = text::classify(code);
    if (kind == text::CharacterClass::letter || kind == text::CharacterClass::number) return false;
    any = any || kind != text::CharacterClass::space;
  }
  return any;
}

TokenRole role_of(const text::Tokenizer& tokenizer, TokenId id, const std::string& label) {
  if (id == tokenizer.classification()) return TokenRole::begin;
  if (tokenizer.is_special(id) && id != tokenizer.unknown() && id != tokenizer.mask()) return TokenRole::separator;
  return id != tokenizer.unknown() && is_punctuation(label) ? TokenRole::punctuation : TokenRole::word;
}

// Model input.
struct Input {
  models::Sequences sequences;
  std::vector<TokenText> texts;
};

TokenIds as_row(const std::vector<TokenId>& ids) {
  return {Shape{1, static_cast<Index>(ids.size())}, ids};
}

void check_length(Index count, std::optional<Index> most, const std::string& place) {
  check<DataError>(count > 0, place, ": has no token");
  check<DataError>(!most || count <= *most, place, ": ", count, " tokens are more than the model's context of ",
                   most.value_or(0), "; give a shorter text");
}

Input read_pair(const models::SequenceToSequence& model, const formats::LoadedModel& loaded, const std::string& path,
                const InputText& source_text, const std::optional<InputText>& target_text, const std::string& user) {
  const TranslationFrames frames(model, loaded);
  const auto source = frames.source.around(encode_valid(loaded.of_sources(), source_text));
  check_length(std::ssize(source), model.max_source_positions(), source_text.file);
  std::vector<TokenId> target = target_text
                                    ? encode_valid(loaded.tokenizer, *target_text)
                                    : own_translation(models::require<models::Generator>(*loaded.model, user, path),
                                                      loaded, path, frames, source);
  target.insert(target.begin(), frames.prompt.begin(), frames.prompt.end());
  check_length(std::ssize(target), model.max_positions(), target_text ? target_text->file : "the translation");
  models::Sequences sequences(as_row(target));
  sequences.sources = std::make_shared<const models::Sequences>(as_row(source));
  Input input{std::move(sequences), {{.name = "source"}, {.name = "target"}}};
  input.texts[0].add(loaded.of_sources(), source);
  input.texts[1].add(loaded.tokenizer, target);
  return input;
}

Input read_text(const models::ContextualVectors& model, const formats::LoadedModel& loaded, const std::string& path,
                const InputText& first, const std::optional<InputText>& second) {
  const text::Tokenizer& tokenizer = loaded.tokenizer;
  const std::optional<data::TextFrame> frame = models::reading_frame(model, tokenizer);
  check<UsageError>(!second || frame, path, ": this model reads one text; leave out the second");
  const std::vector<TokenId> ids = encode_valid(tokenizer, first);
  data::FramedSequence sequence;
  sequence.ids = ids;
  if (frame) {
    const data::Framing framing(*frame, model.position_limit(), loaded.model->config().tokens().has_segments());
    const std::vector<TokenId> other = second ? encode_valid(tokenizer, *second) : std::vector<TokenId>();
    const auto whole = static_cast<Index>(ids.size() + other.size()) + framing.overhead(second.has_value());
    check_length(whole, model.max_positions(), second ? first.file + " and " + second->file : first.file);
    sequence =
        second ? framing(ids, other, data::Overlong::error).front() : framing(ids, data::Overlong::error).front();
  }
  check_length(std::ssize(sequence.ids), model.max_positions(), first.file);
  Input input{models::Sequences(as_row(sequence.ids), {}, sequence.segments), {{.name = "text"}}};
  input.texts[0].add(tokenizer, sequence.ids);
  return input;
}

Input read_input(const formats::LoadedModel& loaded, const std::string& path, const InputText& first,
                 const std::optional<InputText>& second, const std::string& user) {
  if (const auto* model = loaded.model->as<models::SequenceToSequence>()) {
    return read_pair(*model, loaded, path, first, second, user);
  }
  return read_text(models::require<models::ContextualVectors>(*loaded.model, user, path), loaded, path, first, second);
}

std::string group_of(const models::AttentionMap& map) {
  return map.queries != map.keys ? across : map.queries == Text::own ? of_itself : of_source;
}

// The first token of each text.
models::Sequences shortest(const models::Sequences& sequences) {
  const auto first = [](const models::Sequences& of) { return models::Sequences(as_row({of.ids.ids.front()})); };
  models::Sequences result = first(sequences);
  if (sequences.sources) result.sources = std::make_shared<const models::Sequences>(first(*sequences.sources));
  return result;
}

// The number of layers and of heads of each group.
struct GroupSize {
  Index layers = 0, heads = 0;
};
using GroupSizes = std::map<std::string, GroupSize>;

GroupSizes sizes_of(const models::AttentionMaps& model, const models::Sequences& sequences) {
  GroupSizes sizes;
  model.attention_maps(shortest(sequences), [&](const models::AttentionMap& map) {
    GroupSize& size = sizes[group_of(map)];
    ++size.layers;
    size.heads = map.pairs.weights.shape()[1];
  });
  return sizes;
}

void check_group(const GroupSizes& sizes, const std::string& group, const std::string& path) {
  std::vector<std::string> names;
  for (const auto& [name, size] : sizes) names.push_back(name);
  check<DataError>(!names.empty(), path, ": the model has no layer that attends");
  check<UsageError>(group == "all" || sizes.contains(group), "--of ", group, ": this model has attention of ",
                    join(names));
}

// The layers of each group, by its name.
using ChosenLayers = std::map<std::string, std::set<Index>>;

void check_heads(const GroupSizes& sizes, const ChosenLayers& chosen, Index head) {
  for (const auto& [name, layers] : chosen) {
    const Index heads = sizes.at(name).heads;
    check<UsageError>(head <= heads, "--head ", head, ": the layers of ", name, " have heads 1 to ", heads);
  }
}

void check_picture_kind(const std::string& picture, const ChosenLayers& chosen) {
  std::vector<std::string> names;
  for (const auto& [name, layers] : chosen) names.push_back(name);
  check<UsageError>(names.size() == 1, picture, ": a picture shows attention of one kind; choose --of ",
                    join(names, " or "));
}

bool is_one_head(const GroupSizes& sizes, const ChosenLayers& chosen, Index head) {
  if (chosen.size() != 1 || chosen.begin()->second.size() != 1) return false;
  return head != AttentionGroup::all_heads || sizes.at(chosen.begin()->first).heads == 1;
}

// No query has a weight for a later key: weights [time, time].
bool is_causal(const Tensor& weights) {
  const Index queries = weights.shape()[0], keys = weights.shape()[1];
  const Real* row = weights.data();
  for (Index i = 0; i < queries; ++i, row += keys) {
    if (!analysis::are_zero({row + std::min(i + 1, keys), row + keys})) return false;
  }
  return true;
}

AttentionGroup& group_for(AttentionReport& report, const models::AttentionMap& map, const std::set<Index>& chosen,
                          Index only_head) {
  const std::string name = group_of(map);
  const auto known = std::ranges::find(report.groups, name, &AttentionGroup::name);
  if (known != report.groups.end()) return *known;
  const auto place = [&](Text text) { return text == Text::own ? report.texts.size() - 1 : 0; };
  const std::size_t query = place(map.queries), key = place(map.keys);
  const Index heads = only_head == AttentionGroup::all_heads ? map.pairs.weights.shape()[1] : 1;
  report.groups.push_back({.name = name,
                           .query = query,
                           .key = key,
                           .only_head = only_head,
                           .causal = query == key,
                           .chosen = {chosen.begin(), chosen.end()},
                           .heads = heads});
  return report.groups.back();
}

// Positions of a group's keys that separate or end texts.
std::vector<Index> separators_of(const TokenText& text) {
  std::vector<Index> places;
  for (std::size_t i = 0; i < text.roles.size(); ++i) {
    if (text.roles[i] == TokenRole::separator) places.push_back(static_cast<Index>(i));
  }
  return places;
}

void add_layer(const AttentionReport& report, AttentionGroup& group, const models::AttentionMap& map, Index number,
               const AttentionWanted& wanted) {
  models::AttentionMap kept = map;
  if (group.only_head != AttentionGroup::all_heads) kept.pairs = {one_head(map.pairs.weights, group.only_head)};
  const auto heads = static_cast<std::size_t>(group.heads);
  std::vector<char> causal(heads), finite(heads);
  std::vector<HeadSummary> summaries(wanted.links ? heads : 0);
  const analysis::HidesPair hides = hides_pair(report, group, wanted.hidden);
  const std::vector<Index> separators = separators_of(report.keys(group));
  parallel_for(group.heads, [&](Index head) {
    const Tensor weights = head_of(kept.pairs.weights, head);
    const auto at = static_cast<std::size_t>(head);
    causal[at] = group.causal && is_causal(weights);
    finite[at] = analysis::are_finite({weights.data(), static_cast<std::size_t>(weights.size())});
    if (wanted.links) {
      summaries[at] = {analysis::head_pattern(weights), analysis::strongest_links(weights, *wanted.links, hides),
                       analysis::weight_of_keys(weights, separators)};
    }
  });
  const auto all = [](const std::vector<char>& of) { return std::ranges::all_of(of, std::identity()); };
  group.causal = all(causal);
  group.numbers.push_back(number);
  if (!all(finite)) group.not_finite.push_back(number);
  if (wanted.take) {
    wanted.take(group, kept.pairs.weights);
  } else if (wanted.links) {
    group.summaries.push_back(std::move(summaries));
  } else {
    group.layers.push_back(std::move(kept));
  }
}

void check_memory(const GroupSizes& sizes, const ChosenLayers& chosen, Index head, const Input& input) {
  double bytes = 0;
  const auto tokens = [&](std::size_t text) { return static_cast<double>(input.texts[text].ids.size()); };
  for (const auto& [name, layers] : chosen) {
    const double queries = tokens(name == of_source || input.texts.size() == 1 ? 0 : 1);
    const double keys = name == of_itself ? tokens(input.texts.size() - 1) : tokens(0);
    const Index heads = head == AttentionGroup::all_heads ? sizes.at(name).heads : 1;
    bytes += static_cast<double>(layers.size()) * static_cast<double>(heads) * queries * keys * sizeof(Real);
  }
  check<DataError>(bytes < 0.6 * available_memory(), "the attention weights take ", std::llround(bytes * 1e-9),
                   " GB; choose fewer layers with --layer, or give a shorter text");
}

}  // namespace

Tensor head_of(const Tensor& weights, Index head) {
  const Shape& shape = weights.shape();
  return weights.reshaped({shape[1], shape[2], shape[3]}).narrowed(0, head, 1).reshaped({shape[2], shape[3]});
}

Tensor one_head(const Tensor& weights, Index head) {
  if (head != AttentionGroup::mean_head) return weights.narrowed(1, head - 1, 1).copy();
  const Shape& shape = weights.shape();
  Tensor mean({1, 1, shape[2], shape[3]}, Real(0));
  for (Index i = 0; i < shape[1]; ++i) mean.add(weights.narrowed(1, i, 1));
  mean.scale(Real(1) / static_cast<Real>(shape[1]));
  return mean;
}

void TokenText::add(const text::Tokenizer& tokenizer, const std::vector<TokenId>& more) {
  for (const TokenId id : more) {
    ids.push_back(id);
    pieces.push_back(tokenizer.piece(id));
  }
  labels = labels_of(tokenizer, ids);
  for (std::size_t i = roles.size(); i < ids.size(); ++i) roles.push_back(role_of(tokenizer, ids[i], labels[i]));
}

analysis::HidesPair hides_pair(const AttentionReport& report, const AttentionGroup& group,
                               const std::set<HiddenPairs>& hidden) {
  const auto hides_role = [hidden](TokenRole role) {
    return (role == TokenRole::begin && hidden.contains(HiddenPairs::begin)) ||
           (role == TokenRole::separator && hidden.contains(HiddenPairs::separator)) ||
           (role == TokenRole::punctuation && hidden.contains(HiddenPairs::punctuation));
  };
  const bool hides_itself = group.query == group.key && hidden.contains(HiddenPairs::itself);
  std::vector<char> queries, keys;
  for (const TokenRole role : report.queries(group).roles) queries.push_back(hides_role(role) ? 1 : 0);
  for (const TokenRole role : report.keys(group).roles) keys.push_back(hides_role(role) ? 1 : 0);
  return [queries, keys, hides_itself](Index query, Index key) {
    return (hides_itself && query == key) || queries[static_cast<std::size_t>(query)] != 0 ||
           keys[static_cast<std::size_t>(key)] != 0;
  };
}

Tensor AttentionGroup::weights(std::size_t layer, Index head) const {
  return head_of(layers[layer].pairs.weights, head);
}

std::string AttentionGroup::title() const {
  if (name == across) return "attention to the source";
  if (name == of_source) return "encoder self-attention";
  return query == 0 ? "self-attention" : "decoder self-attention";
}

AttentionReport read_attention(const formats::LoadedModel& loaded, const std::string& path, const InputText& first,
                               const std::optional<InputText>& second, const AttentionWanted& wanted) {
  const bool has_source = loaded.model->as<models::SequenceToSequence>() != nullptr;
  check<DataError>(!has_source || loaded.model->as<models::AttentionMaps>() != nullptr, path, ": this ",
                   loaded.model->config().arch(), " has no attention: it reads its source as one vector");
  const auto& model = models::require<models::AttentionMaps>(*loaded.model, wanted.user, path);
  const Input input = read_input(loaded, path, first, second, wanted.user);
  for (const TokenText& text : input.texts) {
    if (!wanted.picture.empty()) check_picture_side(wanted.picture, text.tokens());
  }
  const GroupSizes sizes = sizes_of(model, input.sequences);
  check_group(sizes, wanted.group, path);
  ChosenLayers chosen;
  for (const auto& [name, size] : sizes) {
    if (wanted.group == "all" || wanted.group == name) {
      chosen[name] = analysis::chosen_layers(wanted.layers, 1, size.layers);
    }
  }
  check_heads(sizes, chosen, wanted.head);
  if (!wanted.picture.empty()) check_picture_kind(wanted.picture, chosen);
  AttentionWanted use = wanted;
  if (is_one_head(sizes, chosen, wanted.head)) {
    use.links.reset();
    use.take = nullptr;
  }
  if (!use.links && !use.take) check_memory(sizes, chosen, wanted.head, input);
  AttentionReport report{input.texts, {}};
  std::map<std::string, Index> seen;
  model.attention_maps(input.sequences, [&](const models::AttentionMap& map) {
    const std::string name = group_of(map);
    const Index number = ++seen[name];
    if (!chosen.contains(name) || !chosen.at(name).contains(number)) return;
    add_layer(report, group_for(report, map, chosen.at(name), wanted.head), map, number, use);
  });
  return report;
}

std::string not_finite(const AttentionReport& report, const std::string& path) {
  std::vector<std::string> kinds;
  for (const AttentionGroup& group : report.groups) {
    if (group.not_finite.empty()) continue;
    std::vector<std::string> numbers;
    for (const Index number : group.not_finite) numbers.push_back(std::to_string(number));
    kinds.push_back(concatenate(group.title(), " in ", numbers.size() == 1 ? "layer " : "layers ", join(numbers)));
  }
  if (kinds.empty()) return "";
  return concatenate(path, ": the weights of ", join(kinds, " and of "), " are not finite; train it again");
}

}  // namespace heddle
