// A shape of models that tests can look at whole, in several variations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libcore/attention/attention.hpp"
#include "libcore/autograd/parameters.hpp"
#include "libcore/base/random.hpp"
#include "support/models.hpp"

namespace heddle::testing {

inline const models::DecoderConfig small_decoder_config =
    decoder({.layers = 2, .width = 12, .heads = 3, .context = 8, .vocab_size = 13});
inline const models::EncoderConfig small_encoder_config =
    encoder({.layers = 2, .width = 12, .heads = 3, .context = 8, .vocab_size = 13, .activation = "gelu"});

template <class Config>
struct Variation {
  std::string name;
  Config config;
};

// A variant as small models have it: with few features, and without kernels so narrow that differences of their losses
// are not derivatives.
inline std::string small_attention(const AttentionVariant& variant) {
  if (variant.name == "performer") return "performer:features=16";
  if (variant.name == "fourier") return "fourier:radius=0.5";
  return variant.name;
}

// A configuration as it is, and changed in each of these ways.
template <class Config>
class Variations {
 public:
  explicit Variations(const Config& plain) : list_{{"plain", plain}} {}
  Variations& add(const std::string& name, const std::function<void(Config&)>& change) {
    list_.push_back({name, list_.front().config});
    change(list_.back().config);
    return *this;
  }
  // With each attention variant of the list.
  Variations& add_attention() {
    for (const AttentionVariant& variant : attention_variants()) {
      add(variant.name, [&](Config& config) { config.attention = small_attention(variant); });
    }
    return *this;
  }
  operator std::vector<Variation<Config>>() const { return list_; }

 private:
  std::vector<Variation<Config>> list_;
};

// Larger weights than training starts from, so that nothing hides in rounding.
inline void stir(const Parameters& parameters, double stddev) {
  for (const Parameter& parameter : parameters.all()) {
    const RandomStream stream(11, random_site(parameter.name));
    for (Index i = 0; i < parameter.size(); ++i) {
      parameter.value()[i] += static_cast<Real>(stddev * stream.normal(static_cast<std::uint64_t>(i)));
    }
  }
}

}  // namespace heddle::testing
