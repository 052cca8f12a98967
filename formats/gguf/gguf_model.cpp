#include "formats/gguf/gguf_model.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "formats/files/content_type.hpp"
#include "formats/huggingface/foreign_parts.hpp"
#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/models/decoder.hpp"
#include "libcore/text/spelling.hpp"

namespace heddle::formats {

namespace {

constexpr const char* gguf_architecture = "gpt2";

// '#' stands for the number of a layer. Several parameters are stacked by rows.
struct GgufRule {
  const char* name;
  std::vector<const char*> parameters;
};
const std::vector<GgufRule>& gguf_rules() {
  static const std::vector<GgufRule> all{
      {"token_embd.weight", {"decoder/embedding/token/weight"}},
      {"position_embd.weight", {"decoder/embedding/position/weight"}},
      {"blk.#.attn_norm.weight", {"decoder/#/attention_norm/gain"}},
      {"blk.#.attn_norm.bias", {"decoder/#/attention_norm/bias"}},
      {"blk.#.attn_qkv.weight",
       {"decoder/#/attention/query/weight", "decoder/#/attention/key/weight", "decoder/#/attention/value/weight"}},
      {"blk.#.attn_qkv.bias",
       {"decoder/#/attention/query/bias", "decoder/#/attention/key/bias", "decoder/#/attention/value/bias"}},
      {"blk.#.attn_output.weight", {"decoder/#/attention/output/weight"}},
      {"blk.#.attn_output.bias", {"decoder/#/attention/output/bias"}},
      {"blk.#.ffn_norm.weight", {"decoder/#/feed_forward_norm/gain"}},
      {"blk.#.ffn_norm.bias", {"decoder/#/feed_forward_norm/bias"}},
      {"blk.#.ffn_up.weight", {"decoder/#/feed_forward/up/weight"}},
      {"blk.#.ffn_up.bias", {"decoder/#/feed_forward/up/bias"}},
      {"blk.#.ffn_down.weight", {"decoder/#/feed_forward/down/weight"}},
      {"blk.#.ffn_down.bias", {"decoder/#/feed_forward/down/bias"}},
      {"output_norm.weight", {"decoder/norm/gain"}},
      {"output_norm.bias", {"decoder/norm/bias"}},
      {"output.weight", {"head/weight"}}};
  return all;
}

std::string gguf_name_in_layer(std::string_view name, Index layer) {
  std::string text(name);
  const std::size_t at = text.find('#');
  return at == text.npos ? text : text.replace(at, 1, std::to_string(layer));
}

// Calls f(tensor's name, parameters' names) for each tensor of a model of so many layers.
template <class F>
void for_each_tensor(Index layers, const F& f) {
  for (const GgufRule& rule : gguf_rules()) {
    const bool is_in_layers = std::string_view(rule.name).find('#') != std::string_view::npos;
    for (Index layer = 0; layer < (is_in_layers ? layers : 1); ++layer) {
      std::vector<std::string> parameters;
      for (const char* parameter : rule.parameters) parameters.push_back(gguf_name_in_layer(parameter, layer));
      f(gguf_name_in_layer(rule.name, layer), parameters);
    }
  }
}

std::string gguf_key(const char* name) {
  return std::string(gguf_architecture) + "." + name;
}

GgufValues values_of(const models::DecoderConfig& config) {
  models::DecoderConfig spelled = config;
  spelled.spell_out();
  return {{"general.architecture", gguf_architecture},
          {gguf_key("context_length"), config.max_positions().value_or(0)},
          {gguf_key("embedding_length"), config.width},
          {gguf_key("feed_forward_length"), spelled.ffn_width},
          {gguf_key("block_count"), config.layers},
          {gguf_key("attention.head_count"), config.heads},
          {gguf_key("attention.layer_norm_epsilon"), config.norm_epsilon}};
}

// The number that was meant by one that was stored as a float: 1e-5, not 9.99999975e-06.
double shortest(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), static_cast<float>(value)).ptr;
  double number = 0;
  std::from_chars(digits.data(), end, number);
  return number;
}

models::ModelConfig config_of(const GgufFile& file) {
  models::DecoderConfig config;
  config.positions = "learned";
  config.activation = to_text(Activation::gelu_tanh);
  config.context = file.get<Index>(gguf_key("context_length"));
  config.width = file.get<Index>(gguf_key("embedding_length"));
  config.ffn_width = file.get<Index>(gguf_key("feed_forward_length"));
  config.layers = file.get<Index>(gguf_key("block_count"));
  config.heads = file.get<Index>(gguf_key("attention.head_count"));
  config.norm_epsilon = shortest(file.get<double>(gguf_key("attention.layer_norm_epsilon")));
  config.vocab_size = std::ssize(file.get<std::vector<std::string>>("tokenizer.ggml.tokens"));
  const auto is_output = [](const GgufTensor& tensor) { return tensor.name == "output.weight"; };
  config.tie_embeddings = std::ranges::none_of(file.tensors(), is_output);
  return config;
}

// ---- The tokenizer ----

enum TokenType : Index { normal_token = 1, control_token = 3, user_token = 4, unused_token = 5 };
constexpr const char *tokens_key = "tokenizer.ggml.tokens", *types_key = "tokenizer.ggml.token_type",
                     *merges_key = "tokenizer.ggml.merges", *end_key = "tokenizer.ggml.eos_token_id",
                     *begin_key = "tokenizer.ggml.bos_token_id", *model_key = "tokenizer.ggml.model",
                     *cuts_key = "tokenizer.ggml.pre";
constexpr const char *gguf_bpe = "gpt2", *gpt2_cuts = "gpt-2";

// The tokenizer as far as such a file can store it. Marks after letters belong to their words in gpt2-marks, but not in
// the file.
text::TokenizerModel expressed(const text::TokenizerModel& tokenizer) {
  text::TokenizerModel kept;
  kept.kind = text::TokenizerKind::bpe;
  kept.pieces = tokenizer.pieces;
  kept.merges = tokenizer.merges;
  kept.special_tokens = tokenizer.special_tokens;
  kept.added_tokens = tokenizer.added_tokens;
  kept.end_of_text = tokenizer.end_of_text;
  if (tokenizer.cuts == std::vector<std::string>{"gpt2-marks"}) kept.cuts = tokenizer.cuts;
  return kept;
}

// Places in the vocabulary that the model has and the tokenizer lacks become unused tokens.
void add_tokenizer(GgufValues& values, const text::TokenizerModel& tokenizer, Index vocab_size) {
  check<DataError>(tokenizer.kind == text::TokenizerKind::bpe, "a ", to_text(tokenizer.kind),
                   " tokenizer cannot be written as GGUF; bpe can");
  check<DataError>(tokenizer == expressed(tokenizer), "the tokenizer normalises or cuts text otherwise than GPT-2's, ",
                   "which GGUF files of heddle's do not hold; write a heddle file: -o NAME.h5");
  std::vector<std::string> tokens = tokenizer.pieces;
  std::vector<Index> token_types(tokens.size(), normal_token);
  for (const Index id : tokenizer.special_tokens) token_types[static_cast<std::size_t>(id)] = control_token;
  for (const Index id : tokenizer.added_tokens) token_types[static_cast<std::size_t>(id)] = user_token;
  while (std::ssize(tokens) < vocab_size) {
    tokens.push_back(concatenate("[UNUSED", tokens.size(), "]"));
    token_types.push_back(unused_token);
  }
  std::vector<std::string> merges;
  for (std::size_t i = 0; i + 1 < tokenizer.merges.size(); i += 2) {
    const auto piece = [&](std::size_t at) { return tokenizer.pieces[static_cast<std::size_t>(tokenizer.merges[at])]; };
    merges.push_back(piece(i) + ' ' + piece(i + 1));
  }
  values[model_key] = std::string(gguf_bpe);
  values[cuts_key] = std::string(gpt2_cuts);
  values["tokenizer.ggml.add_bos_token"] = false;
  values[tokens_key] = std::move(tokens);
  values[types_key] = std::move(token_types);
  values[merges_key] = std::move(merges);
  if (tokenizer.end_of_text >= 0) values[end_key] = values[begin_key] = tokenizer.end_of_text;
}

std::vector<Index> read_merges(const GgufFile& file, const std::vector<std::string>& pieces, const std::string& path) {
  std::map<std::string_view, Index> ids;
  for (std::size_t id = 0; id < pieces.size(); ++id) ids.emplace(pieces[id], static_cast<Index>(id));
  std::vector<Index> merges;
  for (const std::string& merge : file.get<std::vector<std::string>>(merges_key)) {
    const std::size_t space = merge.find(' ');
    const auto id_of = [&](std::string_view piece) {
      const auto found = ids.find(piece);
      check<DataError>(space != merge.npos && found != ids.end(), path, ": the merge ", text::quoted(merge),
                       " is not two tokens with a space between them");
      return found->second;
    };
    merges.push_back(id_of(std::string_view(merge).substr(0, space)));
    merges.push_back(id_of(space == merge.npos ? std::string_view() : std::string_view(merge).substr(space + 1)));
  }
  return merges;
}

text::TokenizerModel read_tokenizer(const GgufFile& file, const std::string& path) {
  const auto expect = [&](const char* name, const char* value) {
    const auto& has = file.get<std::string>(name);
    check<DataError>(has == value, path, ": ", name, " is ", text::quoted(has), "; heddle reads ", value);
  };
  expect(model_key, gguf_bpe);
  expect(cuts_key, gpt2_cuts);
  text::TokenizerModel tokenizer;
  tokenizer.kind = text::TokenizerKind::bpe;
  tokenizer.pieces = file.get<std::vector<std::string>>(tokens_key);
  const auto& token_types = file.get<std::vector<Index>>(types_key);
  check<DataError>(token_types.size() == tokenizer.pieces.size(), path, ": has ", tokenizer.pieces.size(),
                   " tokens and ", token_types.size(), " token_types of tokens");
  while (!tokenizer.pieces.empty() && token_types[tokenizer.pieces.size() - 1] == unused_token)
    tokenizer.pieces.pop_back();
  for (std::size_t id = 0; id < tokenizer.pieces.size(); ++id) {
    if (token_types[id] == control_token) tokenizer.special_tokens.push_back(static_cast<Index>(id));
    if (token_types[id] == user_token) tokenizer.added_tokens.push_back(static_cast<Index>(id));
  }
  tokenizer.merges = read_merges(file, tokenizer.pieces, path);
  if (const Index* const end = file.find<Index>(end_key)) {
    check<DataError>(std::ranges::count(tokenizer.special_tokens, *end) == 1, path, ": ", end_key, " is ", *end,
                     ", which is not a control token");
    tokenizer.end_of_text = *end;
  }
  return tokenizer;
}

// ---- The weights ----

GgufType type_of(const Tensor& tensor, WeightType type) {
  switch (tensor.dtype()) {
    case DType::bfloat16:
      return GgufType::bf16;
    case DType::q8:
      return GgufType::q8_0;
    case DType::q4:
      return GgufType::q4_0;
    default:
      return type == WeightType::f16 && tensor.rank() == 2 ? GgufType::f16 : GgufType::f32;
  }
}

// Parts of one tensor that differ in type become Reals.
GgufOutput output_of(const std::string& name, std::vector<Tensor> parts, WeightType type) {
  const auto differs = [&](const Tensor& part) { return part.dtype() != parts.front().dtype(); };
  if (std::ranges::any_of(parts, differs)) {
    for (Tensor& part : parts) part = Tensor(part.shape(), part.elements());
  }
  const DType dtype = parts.front().dtype();
  const Index columns = parts.front().shape()[-1];
  check<DataError>(columns % block_of(dtype).elements == 0, name, ": has ", columns, " columns, and ", name_of(dtype),
                   " of GGUF needs a multiple of ", block_of(dtype).elements);
  return {name, parts, type_of(parts.front(), type)};
}

std::vector<NamedTensor> weights_of(const GgufFile& file, const models::ModelConfig& config, const std::string& path) {
  std::map<std::string, const GgufTensor*> stored;
  for (const GgufTensor& tensor : file.tensors()) stored.emplace(tensor.name, &tensor);
  std::map<std::string, Shape> shapes;
  const std::vector<ParameterShape> parameters = parameters_of(config);
  for (const auto& [name, shape] : parameters) shapes.emplace(name, shape);
  std::map<std::string, Tensor> values;
  for_each_tensor(config.as<models::DecoderConfig>()->layers,
                  [&](const std::string& name, const std::vector<std::string>& names) {
                    if (!shapes.contains(names.front())) return;
                    const auto found = stored.find(name);
                    check<DataError>(found != stored.end(), path, ": the tensor ", name, " is missing");
                    const Shape& part = shapes.at(names.front());
                    std::vector<Index> extents = part.extents();
                    extents.front() *= std::ssize(names);
                    check<DataError>(found->second->shape == Shape(extents), path, ": the tensor ", name,
                                     " has the shape ", found->second->shape, ", not ", Shape(extents));
                    const Tensor whole = file.tensor(*found->second);
                    for (std::size_t i = 0; i < names.size(); ++i) {
                      values[names[i]] = whole.narrowed(0, static_cast<Index>(i) * part[0], part[0]);
                    }
                    stored.erase(found);
                  });
  check<DataError>(stored.empty(), path, ": the tensor ", text::quoted(stored.empty() ? "" : stored.begin()->first),
                   " is unknown");
  std::vector<NamedTensor> weights;
  for (const auto& [name, shape] : parameters) weights.push_back({name, values.at(name)});
  return weights;
}

}  // namespace

bool is_gguf(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  return looks_like_gguf(Descriptor::open_for_reading(path));
}

ModelParts read_gguf_model(const std::string& path) {
  const GgufFile file(path);
  const auto& has = file.get<std::string>("general.architecture");
  check<DataError>(has == gguf_architecture, path, ": is a model of llama.cpp's architecture ", text::quoted(has),
                   "; heddle reads ", gguf_architecture);
  ModelParts parts;
  parts.tokenizer = read_tokenizer(file, path);
  parts.config = config_of(file);
  try {
    parts.weights = weights_of(file, parts.config, path);
  } catch (const UsageError& error) {
    throw DataError(path + ": " + plain_field_names(error.what()));
  }
  return parts;
}

void write_gguf_model(const std::string& path, const ModelParts& parts, WeightType type, const GgufExamine& examine) {
  const auto* const config = parts.config.as<models::DecoderConfig>();
  const std::string advice = "; write a heddle file: -o NAME.h5";
  check<DataError>(config != nullptr, "decoders can be written as GGUF; this model is of the architecture ",
                   parts.config.arch(), advice);
  models::DecoderConfig kept;
  kept.positions = "learned";
  kept.activation = to_text(Activation::gelu_tanh);
  kept.layers = config->layers;
  kept.width = config->width;
  kept.heads = config->heads;
  kept.ffn_width = config->ffn_width;
  kept.context = config->max_positions().value_or(0);
  kept.vocab_size = config->vocab_size;
  kept.norm_epsilon = config->norm_epsilon;
  kept.tie_embeddings = config->tie_embeddings;
  kept.dropout = config->dropout;  // optional in files of trained models
  const std::vector<std::string> lost = lost_fields(parts.config, kept);
  check<DataError>(lost.empty(), "a decoder of GGUF's architecture gpt2 has no ", join(lost), advice);
  GgufValues values = values_of(kept);
  add_tokenizer(values, parts.tokenizer, kept.vocab_size);
  std::map<std::string, Tensor> weights;
  for (const NamedTensor& weight : completed(parts.weights, kept)) weights.emplace(weight.name, weight.value);
  std::vector<GgufOutput> tensors;
  for_each_tensor(kept.layers, [&](const std::string& name, const std::vector<std::string>& names) {
    std::vector<Tensor> stacked;
    for (const std::string& parameter : names) {
      const auto found = weights.find(parameter);
      if (found != weights.end()) stacked.push_back(found->second);
    }
    if (!stacked.empty()) tensors.push_back(output_of(name, stacked, type));
  });
  write_gguf(path, values, tensors, examine);
}

}  // namespace heddle::formats
