// A shape of models that tests can look at whole, in several variations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heddle/autograd/parameters.hpp"
#include "heddle/base/random.hpp"
#include "heddle/models/config.hpp"

namespace heddle::testing {

inline const models::ModelConfig small_decoder_config{
    .layers = 2, .width = 12, .heads = 3, .context = 8, .vocab_size = 13};
inline const models::ModelConfig small_encoder_config{.arch = models::Architecture::encoder,
                                                      .layers = 2,
                                                      .width = 12,
                                                      .heads = 3,
                                                      .context = 8,
                                                      .vocab_size = 13,
                                                      .activation = Activation::gelu};

struct Variation {
  std::string name;
  models::ModelConfig config;
};

// A configuration as it is, and changed in each of these ways.
class Variations {
 public:
  explicit Variations(const models::ModelConfig& plain) : list_{{"plain", plain}} {}
  Variations& add(const std::string& name, const std::function<void(models::ModelConfig&)>& change) {
    list_.push_back({name, list_.front().config});
    change(list_.back().config);
    return *this;
  }
  operator std::vector<Variation>() const { return list_; }

 private:
  std::vector<Variation> list_;
};

// Larger weights than training starts from, so that nothing hides in rounding.
inline void stir(const Parameters& parameters, double deviation) {
  for (const Parameter& parameter : parameters.all()) {
    const RandomStream stream(11, random_site(parameter.name));
    for (Index i = 0; i < parameter.size(); ++i) {
      parameter.value()[i] += static_cast<Real>(deviation * stream.normal(static_cast<std::uint64_t>(i)));
    }
  }
}

}  // namespace heddle::testing
