#include "fuzz/hdf5_seeds.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/heddle/embedding_file.hpp"
#include "formats/heddle/ensemble_file.hpp"
#include "formats/heddle/graphs_file.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/samples.hpp"
#include "fuzz/target.hpp"
#include "support/models.hpp"

namespace heddle::fuzz {

namespace {

using formats::Provenance;

Provenance provenance() {
  return formats::start_provenance("fuzz");
}

void write_tokens(const std::string& path, Index vocab_size, Index tokens, formats::TokenFileOptions options) {
  formats::TokenFileWriter file(path, text::Tokenizer(tests::word_tokenizer_model(vocab_size)), options);
  std::vector<TokenId> document(100);
  for (Index i = 0; i < tokens / 100; ++i) {
    for (std::size_t j = 0; j < document.size(); ++j) {
      document[j] = static_cast<TokenId>(j * j) % static_cast<TokenId>(vocab_size);
    }
    file.append(document);
    file.end_document();
  }
  file.commit(provenance());
}

void write_pairs(const std::string& path, Index source_vocab_size, formats::TokenFileOptions options) {
  using formats::Side;
  formats::PairsFileWriter file(path, text::Tokenizer(tests::word_tokenizer_model(source_vocab_size)),
                                text::Tokenizer(tests::word_tokenizer_model(5)), options);
  for (TokenId i = 0; i < 50; ++i) {
    file.append(Side::source, std::vector<TokenId>(static_cast<std::size_t>(i % 7), i % 3), i);
    file.end_text(Side::source);
    file.append(Side::target, std::vector<TokenId>{i % 5, i % 2}, i);
    file.end_text(Side::target);
  }
  file.commit(provenance());
}

// Rings of 3, 4, … nodes, with all that records may have.
void write_graphs(const std::string& path) {
  data::GraphSchema schema;
  schema.nodes.categories = {{"kind", {"a", "b"}}, {"other", {"c"}}};
  schema.nodes.numbers = {{"size"}};
  schema.edges.numbers = {{"length"}};
  formats::GraphsFileWriter file(path, schema, {data::GraphLevel::graph, {{"class", {"no", "yes"}}, {"number", {}}}});
  for (Index nodes = 3; nodes < 6; ++nodes) {
    data::GraphRecord record;
    record.id = "ring";
    record.line = nodes;
    record.group = "rings";
    record.graph.nodes = nodes;
    for (Index i = 0; i < nodes; ++i) {
      record.graph.rows.push_back(i + 1);
      record.graph.sources.push_back((i + 1) % nodes);
      record.node_names.emplace_back("n");
    }
    const auto count = static_cast<std::size_t>(nodes);
    record.graph.node_features = {std::vector<std::int32_t>(2 * count, 1), std::vector<float>(count, 0.5f)};
    record.graph.edge_features = {{}, std::vector<float>(count, 2)};
    record.graph.pairs = {{0, nodes - 1}};
    record.targets = {1, data::unknown_target};
    record.positions.assign(2 * count, 1);
    record.fragments = {1, 4000000000u};
    record.sides = {data::SplitSide::test};
    file.append(record);
  }
  file.commit(provenance());
}

text::TokenizerModel unigram_model() {
  text::TokenizerModel model;
  model.kind = text::TokenizerKind::unigram;
  model.pieces = {"<unk>", " ", "a", "ab", "b"};
  model.scores = {0, -1, -2, -2.5, -3};
  model.special_tokens = {0};
  model.unknown = 0;
  return model;
}

void write_model(const std::string& path, formats::WeightType type, const models::ModelConfig& config,
                 bool finite = true) {
  const auto model = models::make_model(config, 1);
  std::vector<formats::NamedTensor> weights = formats::named_tensors(model->parameters());
  if (!finite) weights[0].value.data<Real>()[0] = std::numeric_limits<Real>::infinity();
  for (formats::NamedTensor& tensor : weights) tensor.value = formats::convert(tensor.value, type);
  formats::History history;
  history.append({{"step", 1}, {"loss", 5.5}});
  formats::ModelWriter file(path);
  file.config(config);
  file.tokenizer(tests::word_tokenizer_model(config.tokens().vocab_size));
  file.weights(weights);
  file.history(history);
  file.training(tests::SampleState{.step = 2}, std::vector<formats::NamedTensor>{weights[0]});
  file.commit(provenance());
}

void write_embeddings(const std::string& path) {
  formats::Embeddings embeddings;
  embeddings.hidden = tests::random_tensor({3, 4}, 1);
  embeddings.ids = {1, 2, 1};
  embeddings.pieces = {"a", "b", "a"};
  embeddings.texts = {0, 2, 3};
  formats::write_embeddings(path, embeddings, provenance());
}

void write_ensemble(const std::string& path) {
  formats::OutputFile file(path, formats::FileKind::ensemble);
  file.needs_version(5);
  formats::save_fields(file.root().create_group("ensemble"),
                       formats::EnsembleMembers{{"a.h5", "b.h5"}, {"0", "1"}, {0.5, 0.25}});
  file.commit(provenance());
}

// Structures that other kinds of files seldom have: indexes of parts, of attributes and of chunks.
void write_indexes(const std::string& path, Index parts, Index rows) {
  formats::OutputFile file(path, formats::FileKind::tensors);
  {
    formats::hdf5::OutputGroup group = file.root().create_group("g");
    for (Index i = 0; i < parts; ++i) {
      group.set_attribute<Index>(std::to_string(i), i);
      group.create_dataset(std::to_string(i), {.dtype = formats::hdf5::DType::int8, .extents = {0}});
    }
    if (parts > 0) group.set_attribute<std::string>("long", std::string(5000, 'x'));
    const std::vector<std::int8_t> values(static_cast<std::size_t>(rows), 7);
    for (const bool compress : {false, true}) {
      group
          .create_dataset(compress ? "deflated" : "plain",
                          {.dtype = formats::hdf5::DType::int8, .extents = {rows}, .chunk = 3, .compress = compress})
          .write(std::span<const std::int8_t>(values));
    }
  }
  file.commit(provenance());
}

template <class Write>
Seed seed(const char* target, const char* name, const Write& write) {
  const std::string path = write_input("seed.h5", "");
  write(path);
  std::ifstream file(path, std::ios::binary);
  return {target, name, {std::istreambuf_iterator<char>(file), {}}};
}

std::vector<Seed> make_seeds() {
  ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);  // the same bytes every time
  using formats::WeightType;
  const testing::ModelShape shape{.layers = 1, .width = 4, .heads = 2, .context = 4, .vocab_size = 5};
  const models::ModelConfig decoder = testing::decoder(shape), encoder = testing::encoder(shape);
  return {
      seed("token_file", "plain", [](const auto& path) { write_tokens(path, 5, 300, {}); }),
      seed("token_file", "compressed", [](const auto& path) { write_tokens(path, 5, 300, {.compress = true}); }),
      seed("token_file", "chunks", [](const auto& path) { write_tokens(path, 3, 70'000, {}); }),
      seed("pairs_file", "plain", [](const auto& path) { write_pairs(path, 5, {}); }),
      seed("pairs_file", "compressed", [](const auto& path) { write_pairs(path, 4, {.compress = true}); }),
      seed("graphs_file", "rings", write_graphs),
      seed("tokenizer_file", "byte",
           [](const auto& path) { formats::save_tokenizer(path, tests::byte_tokenizer_model(), provenance()); }),
      seed("tokenizer_file", "unigram",
           [](const auto& path) { formats::save_tokenizer(path, unigram_model(), provenance()); }),
      seed("model_file", "decoder", [&](const auto& path) { write_model(path, WeightType::f32, decoder); }),
      seed("model_file", "encoder", [&](const auto& path) { write_model(path, WeightType::bf16, encoder); }),
      seed("model_file", "int8", [&](const auto& path) { write_model(path, WeightType::int8, decoder); }),
      seed("model_file", "not_finite", [&](const auto& path) { write_model(path, WeightType::f32, decoder, false); }),
      seed("tensor_file", "tokens", write_embeddings),
      seed("ensemble_file", "two", write_ensemble),
      seed("hdf5_file", "tokens", write_embeddings),
      seed("hdf5_file", "parts", [](const auto& path) { write_indexes(path, 70, 0); }),
      seed("hdf5_file", "chunks", [](const auto& path) { write_indexes(path, 0, 300); }),
  };
}

}  // namespace

const std::vector<Seed>& hdf5_seeds() {
  static const std::vector<Seed> seeds = make_seeds();
  return seeds;
}

}  // namespace heddle::fuzz
