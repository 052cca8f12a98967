#include "libcore/models/rnn_decoder.hpp"
#include "libcore/nn/parts.hpp"

#include <cmath>

#include "libcore/ops/activation.hpp"
#include "libcore/ops/concatenate.hpp"
#include "libcore/ops/gather.hpp"
#include "libcore/ops/maxout.hpp"

namespace heddle::models {

namespace {

double stddev(Index in) {
  return 1 / std::sqrt(3.0 * static_cast<double>(in));
}

// [first, second, n] -> [second, first, n]
Variable exchanged(const Variable& x) {
  const Index first = x.shape()[0], second = x.shape()[1], width = x.shape()[2];
  std::vector<Index> rows;
  for (Index j = 0; j < second; ++j) {
    for (Index i = 0; i < first; ++i) rows.push_back(i * second + j);
  }
  return view(ops::gather_rows(x, rows), [=](const Tensor& t) { return t.reshaped({second, first, width}); });
}

// x [batch, n] -> [batch, time, n], the same at each time
Variable repeated(const Variable& x, Index time) {
  const Index batch = x.shape()[0], width = x.shape()[1];
  std::vector<Index> rows;
  for (Index b = 0; b < batch; ++b) rows.insert(rows.end(), static_cast<std::size_t>(time), b);
  return view(ops::gather_rows(x, rows), [=](const Tensor& t) { return t.reshaped({batch, time, width}); });
}

// x[i] of [time, batch, n]: [batch, n]
Variable at(const Variable& x, Index i) {
  return view(x, [i](const Tensor& t) { return t.narrowed(0, i, 1).reshaped({t.shape()[1], t.shape()[2]}); });
}

// [batch, n] -> [batch, 1, n], and back
Variable with_time(const Variable& x) {
  return view(x, [](const Tensor& t) { return t.reshaped({t.shape()[0], 1, t.shape()[1]}); });
}
Variable without_time(const Variable& x) {
  return view(x, [](const Tensor& t) { return t.reshaped({t.shape()[0], t.shape()[2]}); });
}

// One [batch, n] for each time -> [batch, time, n]
Variable over_time(const std::vector<Variable>& each) {
  if (each.empty() || each.front().empty()) return {};
  std::vector<Variable> parts;
  for (const Variable& x : each) {
    parts.push_back(view(x, [](const Tensor& t) { return t.reshaped({1, t.shape()[0], t.shape()[1]}); }));
  }
  return exchanged(ops::concatenate(parts, 0));
}

Variable tanh_of(const nn::Linear& linear, const Variable& x) {
  return linear(x, {.activation = Activation::tanh, .output = DType::real});
}

Variable zeros(Index batch, Index width) {
  return Variable(Tensor({batch, width}, Real(0)));
}

bool copies_states(const RnnConfig& config) {
  return source_encoder_kind(config.source_encoder).has_states && !config.bidirectional &&
         config.encoder_depth() == config.layers && config.annotation_width() == config.width &&
         config.context_vector == "initial";
}

}  // namespace

RnnDecoder::RnnDecoder(const Scope& scope, const RnnConfig& config, Index vector_width) : config_(config) {
  const ops::Cell& cell = ops::cell(config.cell);
  const nn::Bias bias = config.bias ? nn::Bias::yes : nn::Bias::no;
  const Index width = config.width, annotation_width = config.annotation_width(), embedding = config.embedding();
  for (Index i = 0; i < config.layers; ++i) {
    layers_.emplace_back(scope / i, cell, i == 0 ? embedding : width, width, config.options(cell, bias));
    dropout_sites_.push_back(random_site((scope / i).path() + "/dropout"));
  }
  if (config.has_attention()) {
    attention_.emplace(scope / "attention", config.source_attention, width, annotation_width);
  }
  const Index context_width = config.has_attention() ? annotation_width : config.has_summary() ? width : vector_width;
  if (config.has_context_input() || config.input_feeding) {
    const Index in = config.input_feeding ? config.output_width() : context_width;
    context_.emplace(scope / "context", in, layers_.front().gates_width(), nn::Bias::no, stddev(in));
  }
  if (config.has_summary()) summary_.emplace(scope / "summary", vector_width, width, bias, stddev(vector_width));
  if (!copies_states(config) && (config.context_vector == "initial" || config.has_summary())) {
    const Index in = config.has_summary() ? width : vector_width;
    for (Index i = 0; i < config.layers; ++i) start_.emplace_back(scope / "start" / i, in, width, bias, stddev(in));
  }
  const std::string kind = config.readout_kind();
  if (kind == "state") return;
  const Scope readout = scope / "readout";
  const Index out = config.output_width() * (kind == "maxout" ? 2 : 1);
  readout_state_.emplace(readout / "state", width, out, bias, stddev(width));
  if (kind == "maxout")
    readout_embedding_.emplace(readout / "embedding", embedding, out, nn::Bias::no, stddev(embedding));
  if (config.has_attention() || config.has_context_input()) {
    readout_context_.emplace(readout / "context", context_width, out, nn::Bias::no, stddev(context_width));
  }
}

RnnDecoder::Source RnnDecoder::remember(const SourceEncoder::Result& encoded, const std::vector<Index>& lengths) const {
  const Part part(nn::parts::context);
  Source source;
  if (attention_) source.memory = attention_->remember(encoded.annotations, lengths);
  const Variable vector = summary_ ? tanh_of(*summary_, encoded.vector) : encoded.vector;
  if (context_ && !attention_) source.context = vector;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (copies_states(config_)) {
      source.states.push_back(encoded.last[i].front());
      continue;
    }
    nn::Recurrent::State state = layers_[i].start(vector.shape()[0]);
    if (!start_.empty()) state.front() = tanh_of(start_[i], vector);
    source.states.push_back(std::move(state));
  }
  return source;
}

RnnDecoder::State RnnDecoder::start(const Source& source) const {
  const Index batch = source.states.front().front().shape()[0];
  return {source.states, source.context, config_.input_feeding ? zeros(batch, config_.output_width()) : Variable()};
}

Variable RnnDecoder::readout(const Variable& state, const Variable& embedding, const Variable& context) const {
  const Part part(nn::parts::readout);
  if (!readout_state_) return state;
  Variable t = (*readout_state_)(state, {.output = DType::real});
  if (readout_context_) t = (*readout_context_)(context, {.residual = t});
  if (!readout_embedding_) return ops::activate(t, Activation::tanh);
  return ops::maxout((*readout_embedding_)(embedding, {.residual = t}));
}

RnnDecoder::Advanced RnnDecoder::advance(const Variable& projected, const State& state,
                                         const std::optional<nn::SourceAttention::Memory>& memory,
                                         const Drop& drop) const {
  const Part part(nn::parts::context);
  Advanced next{state, {.state = {}, .context = state.context, .weights = {}}};
  const auto attend = [&](const Variable& query) {
    const nn::SourceAttention::Mixed mixed = (*attention_)(with_time(query), *memory);
    next.seen.context = without_time(mixed.context);
    next.seen.weights = without_time(mixed.weights);
  };
  const Variable before = state.layers.back().front();
  if (attention_ && !config_.attends_after()) attend(before);
  Variable x = projected;
  if (context_) x = (*context_)(config_.input_feeding ? state.fed : next.seen.context, {.residual = x});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = layers_[i].project(drop(x, i - 1));
    next.state.layers[i] = layers_[i].advance(x, state.layers[i]);
    x = next.state.layers[i].front();
  }
  if (config_.attends_after()) attend(x);
  const bool sees_state_before = config_.source_attention == "additive" && config_.readout_kind() == "maxout";
  next.seen.state = sees_state_before ? before : x;
  return next;
}

RnnDecoder::Step RnnDecoder::step(const Variable& embedding, const State& state,
                                  const std::optional<nn::SourceAttention::Memory>& memory) const {
  const auto keep = [](const Variable& x, std::size_t) { return x; };
  Advanced next = advance(layers_.front().project(embedding), state, memory, keep);
  const Variable output = readout(next.seen.state, embedding, next.seen.context);
  if (config_.input_feeding) next.state.fed = output;
  return {std::move(next.state), output, next.seen.weights};
}

RnnDecoder::Result RnnDecoder::operator()(const Variable& embeddings, const Source& source, const Pass& pass,
                                          Keep keep) const {
  const bool context_depends_on_state = attention_ && context_;
  return context_depends_on_state ? one_by_one(embeddings, source, pass, keep) : whole(embeddings, source, pass);
}

RnnDecoder::Result RnnDecoder::whole(const Variable& embeddings, const Source& source, const Pass& pass) const {
  const Part part(nn::parts::context);
  const Index time = embeddings.shape()[1];
  Variable x, context;
  if (context_) {
    context = repeated(source.context, time);
    x = repeated((*context_)(source.context, {.output = DType::real}), time);
  }
  x = layers_.front().project(embeddings, x);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (i > 0) x = layers_[i].project(pass.drop(x, dropout_sites_[i - 1]));
    x = layers_[i].run(x, {.start = source.states[i]}).hidden;
  }
  Variable weights;
  if (attention_) {
    const nn::SourceAttention::Mixed mixed = (*attention_)(x, *source.memory);
    context = mixed.context;
    weights = mixed.weights;
  }
  return {readout(x, embeddings, context), weights};
}

RnnDecoder::Result RnnDecoder::one_by_one(const Variable& embeddings, const Source& source, const Pass& pass,
                                          Keep keep) const {
  const Index batch = embeddings.shape()[0], time = embeddings.shape()[1];
  const Variable projected = exchanged(layers_.front().project(embeddings));
  const Variable embedded = config_.input_feeding ? exchanged(embeddings) : Variable();
  State state = start(source);
  std::vector<Variable> states, contexts, weights, outputs;
  for (Index t = 0; t < time; ++t) {
    std::vector<Index> positions;
    for (Index b = 0; b < batch; ++b) positions.push_back(b * time + t);
    const auto drop = [&](const Variable& x, std::size_t layer) {
      return pass.drop_rows(x, dropout_sites_[layer], positions, time);
    };
    Advanced next = advance(at(projected, t), state, source.memory, drop);
    state = std::move(next.state);
    if (keep == Keep::weights) weights.push_back(next.seen.weights);
    if (config_.input_feeding) {
      state.fed = readout(next.seen.state, at(embedded, t), next.seen.context);
      outputs.push_back(state.fed);
    } else {
      states.push_back(next.seen.state);
      contexts.push_back(next.seen.context);
    }
  }
  const Variable all_weights = weights.empty() ? Variable() : over_time(weights);
  if (config_.input_feeding) return {over_time(outputs), all_weights};
  return {readout(over_time(states), embeddings, over_time(contexts)), all_weights};
}

}  // namespace heddle::models
