// Token files, or text, to train on.
#include <algorithm>
#include <optional>

#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "tools/cli/foreign_inputs.hpp"
#include "tools/lines/encoded_text.hpp"
#include "tools/pretrain/corpus.hpp"

namespace heddle {

namespace {

class TextCorpus : public Corpus {
 public:
  TextCorpus(const PretrainOptions& options, const cli::Arguments& arguments);

  training::DataKind kind() const override { return training::DataKind::text; }
  training::TrainingData train() const override { return {.text = &tokens_->train()}; }
  training::TrainingData valid() const override { return {.text = tokens_->valid()}; }
  const text::Tokenizer* tokenizer() const override { return &*tokenizer_; }
  void fit(models::ModelConfig& model) const override {
    fit_texts(model, *tokenizer_, nullptr, files().train.front().path);
  }
  std::string summary(const models::Model& model) const override;
  double bytes_per_unit() const override;
  void add_to(formats::Provenance& provenance) const override;

 private:
  Index valid_units() const override { return tokens_->valid() != nullptr ? tokens_->valid()->size() : 0; }
  std::unique_ptr<data::TokenSource> open(const std::string& path, const cli::Arguments& arguments) const;

  bool encodes_;        // whether any file is text
  bool has_tokenizer_;  // given by -t
  std::string tokenizer_file_;
  std::optional<text::Tokenizer> tokenizer_;
  std::optional<TrainingTokens> tokens_;
};

TextCorpus::TextCorpus(const PretrainOptions& options, const cli::Arguments& arguments)
    : Corpus({training_files(options.train), validation(options.valid), options.documents}),
      encodes_(std::ranges::any_of(files().train, is_text, &TrainingFile::path) || is_text(files().valid.file)),
      has_tokenizer_(!options.tokenizer.empty()),
      tokenizer_file_(has_tokenizer_ ? options.tokenizer : files().train.front().path) {
  check<UsageError>(encodes_ || !arguments.given("documents"),
                    "--documents is for text, and all files are token files; leave it out");
  if (has_tokenizer_) {
    tokenizer_ = cli::load_tokenizer(tokenizer_file_, arguments);
  } else if (!is_text(tokenizer_file_)) {
    tokenizer_ = formats::TokenFile(tokenizer_file_).tokenizer();
  }
  std::vector<std::unique_ptr<data::TokenSource>> train;
  for (const TrainingFile& file : files().train) train.push_back(open(file.path, arguments));
  std::unique_ptr<data::TokenSource> valid;
  if (!files().valid.file.empty()) valid = open(files().valid.file, arguments);
  tokens_.emplace(std::move(train), files().train, std::move(valid), files().valid);
}

std::unique_ptr<data::TokenSource> TextCorpus::open(const std::string& path, const cli::Arguments& arguments) const {
  if (is_text(path)) {
    check<DataError>(has_tokenizer_, path,
                     ": is not a token file; to train on text give its tokenizer, -t tokenizer.h5, or encode it first: "
                     "tokenize -t tokenizer.h5 -o tokens.h5 ",
                     path);
    return encode_text(path, *tokenizer_, files().documents, arguments);
  }
  auto tokens = std::make_unique<formats::TokenFile>(path);
  const bool is_same = path == tokenizer_file_ || tokens->tokenizer().fingerprint() == tokenizer_->fingerprint();
  check<DataError>(is_same, path, ": was encoded with another tokenizer than ", tokenizer_file_,
                   "; encode it with the same one (tokenize -t ", tokenizer_file_, ")");
  return tokens;
}

std::string TextCorpus::summary(const models::Model& model) const {
  const Index tokens = tokens_->train().size();
  return concatenate("vocabulary ", model.tokens().vocab_size(), ", ", grouped(tokens),
                     tokens == 1 ? " training token" : " training tokens");
}

// Measured on the first tokens.
double TextCorpus::bytes_per_unit() const {
  constexpr Index most = 100000;
  std::vector<TokenId> ids(static_cast<std::size_t>(std::min(most, tokens_->train().size())));
  tokens_->train().read(0, ids);
  Index bytes = 0;
  for (const TokenId id : ids) bytes += tokenizer_->token_bytes(id);
  return static_cast<double>(bytes) / static_cast<double>(ids.size());
}

void TextCorpus::add_to(formats::Provenance& provenance) const {
  if (encodes_) formats::add_tokenizer_input(provenance, tokenizer_file_);
  Corpus::add_to(provenance);
}

}  // namespace

std::unique_ptr<Corpus> open_text(const PretrainOptions& options, const cli::Arguments& arguments) {
  return std::make_unique<TextCorpus>(options, arguments);
}

}  // namespace heddle
