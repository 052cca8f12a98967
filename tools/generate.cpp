// generate: continues texts with a trained model.
#include "heddle/decoding/generate.hpp"
#include "continuation.hpp"
#include "heddle/cli/run.hpp"
#include "heddle/cli/streams.hpp"
#include "heddle/formats/json_archive.hpp"
#include "heddle/formats/load_model.hpp"
#include "heddle/tensor/precision.hpp"
#include "overlong.hpp"

using namespace heddle;

namespace {

struct GenerateToolOptions {
  std::string prompt, output = "-";
  Index max_tokens = 256;
  std::vector<std::string> stop;
  Index batch_size = 16;
  Precision cache = Precision::f32;
  Overlong overlong = Overlong::error;
  bool jsonl = false;
  decoding::SamplingOptions sampling;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("prompt", "the text to continue, instead of lines").letter('p').takes("TEXT"), self.prompt);
    visitor(Field("output", "where the texts go").letter('o').takes("FILE"), self.output);
    visitor(Field("max_tokens", "most tokens to add").range(1, 1000000000).takes("N"), self.max_tokens);
    visitor(Field("stop", "end before this text; may be repeated; a comma in it is written \\,").takes("TEXT"), self.stop);
    visitor(Field("batch_size", "lines continued at the same time").range(1, 10000).takes("N"), self.batch_size);
    visitor(Field("cache", "how the keys and values of earlier tokens are kept; bf16 takes half the memory"), self.cache);
    visitor(Field("overlong", "what to do with a prompt longer than the context: an error, or keep its end"),
            self.overlong);
    visitor(Field("jsonl", "a JSON object a prompt: prompt, text, ids, log_likelihood"), self.jsonl);
    visitor(Field("sampling", "Sampling"), self.sampling);
  }
};

const cli::About about{.name = "generate",
                       .summary = "Continues texts with a trained model.",
                       .synopsis = {"MODEL -p TEXT [options]", "MODEL [options] [FILE]"},
                       .operands = {{"MODEL", "model file made by pretrain", 1, 1},
                                    {"FILE", "a prompt a line; none or - is standard input", 0, 1}}};

class Generator {
 public:
  Generator(const cli::Arguments& arguments, const GenerateToolOptions& options)
      : arguments_(arguments), options_(options),
        loaded_(formats::load_decoder(formats::ModelFile(arguments.operand("MODEL")))), output_(options.output) {
    settings_.sampling = options.sampling;
    settings_.max_tokens = options.max_tokens;
    settings_.end = loaded_.tokenizer.end_of_text();
    settings_.cache = options.cache == Precision::bf16 ? Element::bfloat16 : Element::real;
    settings_.seed = static_cast<std::uint64_t>(arguments.common().seed);
  }

  // One text with its continuation, as it is; each piece goes out as soon as it is certain.
  void continue_prompt() {
    std::ostream& out = output_.stream();
    if (!options_.jsonl) out << options_.prompt << std::flush;
    std::vector<Continuation> batch;
    batch.push_back(make_continuation(options_.prompt, "--prompt"));
    run(batch, [&](const Continuation& one) {
      if (!options_.jsonl) out << one.fresh_text() << std::flush;
    });
    out << (options_.jsonl ? batch[0].json() : std::string()) << "\n";
    output_.close();
  }

  // A line out for each line in.
  void continue_lines(const std::string& file) {
    cli::Input input(file);
    cli::LineReader lines(input);
    std::vector<Continuation> batch;
    while (const auto line = lines.next()) {
      try {
        batch.push_back(make_continuation(std::string(line->text), lines.where()));
      } catch (const DataError&) {
        write_batch(batch);  // the lines before the bad one are not lost
        throw;
      }
      if (static_cast<Index>(batch.size()) == options_.batch_size) write_batch(batch);
    }
    write_batch(batch);
    output_.close();
    if (truncated_ > 0) arguments_.say(concatenate(truncated_, " prompts were cut to the model's context"));
  }

 private:
  Continuation make_continuation(const std::string& prompt, const std::string& where) {
    std::vector<TokenId> ids = encode(prompt, where);
    const auto context = static_cast<std::size_t>(loaded_.model.config().context);
    if (ids.size() > context) {
      check<DataError>(options_.overlong == Overlong::truncate, where, ": the prompt has ", ids.size(),
                       " tokens, more than the context of ", context, "; shorten it, or keep its end with --overlong truncate");
      ids.erase(ids.begin(), ids.end() - static_cast<std::ptrdiff_t>(context));
      ++truncated_;
    }
    return {loaded_.tokenizer, prompt, std::move(ids), options_.stop};
  }

  // An empty prompt is the beginning of a document.
  std::vector<TokenId> encode(const std::string& prompt, const std::string& where) const {
    if (prompt.empty()) {
      check<DataError>(settings_.end.has_value(), where, ": the prompt is empty, and the model knows no token that "
                       "begins a text; give at least one character");
      return {*settings_.end};
    }
    try {
      return loaded_.tokenizer.encode(prompt);
    } catch (const text::TextError& error) {
      throw DataError(concatenate(where, ": ", error.what()));
    }
  }

  template <class Told>
  void run(std::vector<Continuation>& batch, const Told& told) {
    std::vector<std::vector<TokenId>> prompts;
    for (const Continuation& one : batch) prompts.push_back(one.prompt_ids());
    decoding::generate(loaded_.model, prompts, done_, settings_, [&](Index sequence, const decoding::Choice& token) {
      Continuation& one = batch[static_cast<std::size_t>(sequence - done_)];
      const bool more = one.add(token);
      told(one);
      return more;
    });
    for (Continuation& one : batch) {
      one.finish();
      told(one);
    }
    done_ += static_cast<Index>(batch.size());
  }

  void write_batch(std::vector<Continuation>& batch) {
    run(batch, [](const Continuation&) {});
    for (const Continuation& one : batch) output_.stream() << (options_.jsonl ? one.json() : one.line()) << "\n";
    output_.stream().flush();
    batch.clear();
  }

  const cli::Arguments& arguments_;
  const GenerateToolOptions& options_;
  formats::LoadedDecoder loaded_;
  cli::Output output_;
  decoding::GenerateOptions settings_;
  Index done_ = 0, truncated_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<GenerateToolOptions>();
    const bool one = arguments.given("prompt");
    check<UsageError>(!one || arguments.operand("FILE").empty(), "--prompt and a file of prompts exclude each other");
    const std::string file = one ? "" : arguments.input_or_usage("FILE").front();
    Generator generator(arguments, options);
    if (one) {
      generator.continue_prompt();
    } else {
      generator.continue_lines(file);
    }
  });
}
