// generate with a decoder: continues texts.
#pragma once

#include <string>
#include <vector>

#include "continuation.hpp"
#include "generate_options.hpp"
#include "heddle/cli/arguments.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/decoding/generate.hpp"

namespace heddle {

class TextContinuer {
 public:
  // All must stay. Throws UsageError for options that are for encoders.
  TextContinuer(const models::Decoder& model, const text::Tokenizer& tokenizer, const GenerateOptions& options,
                const cli::Arguments& arguments);

  // One text with its continuation, as it is; each piece goes out as soon as it is certain.
  void one();
  // A line out for each line in.
  void lines(const std::string& file);

 private:
  Continuation make(const std::string& prompt, const std::string& where);
  std::vector<TokenId> encode(const std::string& prompt, const std::string& where) const;
  template <class Told>
  void run(std::vector<Continuation>& batch, const Told& told);

  const models::Decoder& model_;
  const text::Tokenizer& tokenizer_;
  const GenerateOptions& options_;
  const cli::Arguments& arguments_;
  cli::Output output_;
  decoding::GenerateOptions settings_;
  Index done_ = 0, truncated_ = 0;
};

}  // namespace heddle
