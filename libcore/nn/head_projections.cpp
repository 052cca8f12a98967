#include "libcore/nn/head_projections.hpp"

#include <cmath>
#include <string>

#include "libcore/ops/gather.hpp"
#include "libcore/ops/head_product.hpp"

namespace heddle::nn {

namespace {

// Columns [first, first + heads * width) of states as heads: [batch, heads, time, width].
Variable heads_of(const Variable& states, Index first, Index heads, Index width) {
  return view(states,
              [=](const Tensor& t) { return t.narrowed(-1, first, heads * width).split(-1, heads).swapped(1, 2); });
}

Variable at(const Variable& x, const std::vector<Index>& positions) {
  return positions.empty() ? x : ops::gather_positions(x, positions);
}

// As few products as the shapes and sources allow.
class StandardProjections : public HeadProjections {
 public:
  StandardProjections(const Scope& scope, const HeadProjectionOptions& o) : shape_(own_heads(scope, o.shape)) {
    const Index query = o.shape.heads * o.shape.key_width, key = o.shape.kv_heads * o.shape.key_width,
                value = o.shape.kv_heads * o.shape.value_width;
    const auto add = [&](const std::vector<std::string>& names, Index in, Index out) {
      layers_.emplace_back(scope, names, in, out, o.bias, o.stddev, Divided::outputs);
    };
    if (o.same_source && query == key && key == value) {
      add({"query", "key", "value"}, o.width, query);
      return;
    }
    add({"query"}, o.width, query);
    if (key == value) {
      add({"key", "value"}, o.memory_width, key);
    } else {
      add({"key"}, o.memory_width, key);
      add({"value"}, o.memory_width, value);
    }
  }

  Variable query(const Variable& x, const Pass& pass) const override {
    return heads_of(layers_[0].some(x, 0, 1, pass), 0, shape_.heads, shape_.key_width);
  }

  Heads memory(const Variable& states, const Pass& pass) const override {
    const bool together = layers_.size() < 3;
    const Variable key = layers_.size() == 1 ? layers_[0].some(states, 1, 2, pass) : layers_[1](states, pass);
    const Variable value = together ? key : layers_[2](states, pass);
    return {{},
            heads_of(key, 0, shape_.kv_heads, shape_.key_width),
            heads_of(value, together ? shape_.kv_heads * shape_.key_width : 0, shape_.kv_heads, shape_.value_width)};
  }

  Heads all(const Variable& x, const Pass& pass, const std::vector<Index>& positions) const override {
    if (layers_.size() > 1) return HeadProjections::all(x, pass, positions);
    const Variable states = layers_[0](x, pass);
    const Index part = shape_.heads * shape_.key_width;
    return {heads_of(at(states, positions), 0, shape_.heads, shape_.key_width),
            heads_of(states, part, shape_.heads, shape_.key_width),
            heads_of(states, 2 * part, shape_.heads, shape_.value_width)};
  }

 private:
  HeadShape shape_;
  std::vector<StackedLinear> layers_;  // query, key and value
};

void check_parts(const HeadProjectionOptions& o) {
  const HeadShape& shape = o.shape;
  const std::string heads = o.kind == Projections::none ? "heads without projections" : "narrow projections";
  check<UsageError>(shape.heads == shape.kv_heads, heads, " need a key head for each of the ", shape.heads, " heads");
  check<UsageError>(o.width % shape.heads == 0 && o.memory_width % shape.heads == 0, heads,
                    " take parts of the states, so `heads` = ", shape.heads, " must divide `width` = ", o.width);
}

class NarrowProjections : public HeadProjections {
 public:
  NarrowProjections(const Scope& scope, const HeadProjectionOptions& o) : heads_(o.shape.heads) {
    check_parts(o);
    const auto matrices = [&](const char* name, Index in, Index out) {
      // A sum of fewer products is as large with larger weights.
      const Initializer normal = Initializer::normal(o.stddev * std::sqrt(static_cast<double>(heads_)));
      return scope.parameter(name, {heads_, in / heads_, out}, normal, Decay::yes);
    };
    query_ = matrices("query/weight", o.width, o.shape.key_width);
    key_ = matrices("key/weight", o.memory_width, o.shape.key_width);
    value_ = matrices("value/weight", o.memory_width, o.shape.value_width);
  }

  Variable query(const Variable& x, const Pass&) const override { return product(x, query_); }
  Heads memory(const Variable& states, const Pass&) const override {
    return {{}, product(states, key_), product(states, value_)};
  }

 private:
  Variable product(const Variable& x, const Variable& matrices) const {
    return ops::head_product(heads_of(x, 0, heads_, x.shape()[2] / heads_), matrices);
  }
  Index heads_;
  Variable query_, key_, value_;
};

class NoProjections : public HeadProjections {
 public:
  explicit NoProjections(const HeadProjectionOptions& o) : heads_(o.shape.heads) {
    check_parts(o);
    const Index part = o.width / heads_;
    check<UsageError>(o.shape.key_width == part && o.shape.value_width == part && o.memory_width == o.width,
                      "without projections, ", heads_, " heads of width ", o.shape.key_width,
                      " must be the whole width ", o.width);
  }
  Variable query(const Variable& x, const Pass&) const override { return parts(x); }
  Heads memory(const Variable& states, const Pass&) const override { return {{}, parts(states), parts(states)}; }

 private:
  Variable parts(const Variable& x) const { return heads_of(x, 0, heads_, x.shape()[2] / heads_); }
  Index heads_;
};

}  // namespace

HeadShape own_heads(const Scope& scope, const HeadShape& all) {
  const ModelRanks* const ranks = ModelRanks::of(scope);
  if (ranks == nullptr) return all;
  HeadShape own = all;
  own.heads = ranks->part("heads", all.heads);
  own.kv_heads = ranks->part(all.kv_heads == all.heads ? "heads" : "kv_heads", all.kv_heads);
  return own;
}

Heads HeadProjections::all(const Variable& x, const Pass& pass, const std::vector<Index>& positions) const {
  Heads heads = memory(x, pass);
  heads.query = query(at(x, positions), pass);
  return heads;
}

std::unique_ptr<const HeadProjections> make_head_projections(const Scope& scope, const HeadProjectionOptions& options) {
  switch (options.kind) {
    case Projections::standard:
      return std::make_unique<StandardProjections>(scope, options);
    case Projections::narrow:
      return std::make_unique<NarrowProjections>(scope, options);
    case Projections::none:
      break;
  }
  return std::make_unique<NoProjections>(options);
}

}  // namespace heddle::nn
