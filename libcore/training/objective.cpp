#include "heddle/training/objective.hpp"

namespace heddle::training {

void check_vocabulary(const models::Model& model, const data::TokenSource& tokens) {
  const Index vocab = model.config().vocab_size;
  check<DataError>(tokens.vocab_size() <= vocab, tokens.name(), ": vocabulary of ", tokens.vocab_size(),
                   " does not match the model's ", vocab, "; encode it with the model's tokenizer");
}

}  // namespace heddle::training
