// inspect verify: checks files and reports their problems.
#include <filesystem>
#include <iostream>
#include <map>

#include "formats/heddle/attention_file.hpp"
#include "formats/heddle/embedding_file.hpp"
#include "formats/heddle/ensemble_file.hpp"
#include "formats/heddle/graphs_file.hpp"
#include "formats/heddle/pairs_file.hpp"
#include "formats/heddle/problems.hpp"
#include "formats/heddle/shapes_file.hpp"
#include "formats/heddle/task_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/huggingface/foreign_vocabulary.hpp"
#include "formats/huggingface/load_tokenizer.hpp"
#include "libcore/base/fields_in_messages.hpp"
#include "libcore/base/printable.hpp"
#include "tools/inspect/certificates.hpp"
#include "tools/inspect/files/summary.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/verbs.hpp"
#include "tools/lines/json_line.hpp"

namespace heddle {

namespace {

struct VerifyOptions {
  bool json = false, jsonl = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("json", "print one JSON object").essential(), self.json);
    visitor(Field("jsonl", "print one JSON object per file, one per line").essential(), self.jsonl);
  }
};

// Compares names and shapes of the weights with the configuration.
void check_shapes(const formats::ModelFile& file, formats::Problems& problems) {
  const std::string where = file.file().path() + ": ";
  std::map<std::string, Shape> wanted;
  const auto config = file.config<models::ModelConfig>();
  for (const auto& tensor : file.has_part("task") ? weights_of(config, formats::task_of(file)) : weights_of(config)) {
    wanted.emplace(tensor.name, tensor.shape);
  }
  for (const formats::TensorInfo& tensor : file.weights().tensors()) {
    const auto found = wanted.find(tensor.name);
    problems.watch([&] {
      check<DataError>(found != wanted.end(), where, "/weights/", tensor.name,
                       ": is not a weight of the configuration");
      check<DataError>(found->second == tensor.shape, where, "/weights/", tensor.name, ": has shape ", tensor.shape,
                       ", but the configuration needs ", found->second);
    });
    if (found != wanted.end()) wanted.erase(found);
  }
  for (const auto& [name, shape] : wanted) problems.add({where + "/weights/" + name + ": is missing"});
}

void check_vocabulary(const formats::ModelFile& file) {
  const auto config = file.config<models::ModelConfig>();
  if (!config.reads_tokens()) return;
  const auto pieces = static_cast<Index>(file.tokenizer_model().pieces.size());
  const Index rows = config.tokens().vocab_size;
  check<DataError>(pieces <= rows, file.file().path(), ": has a tokenizer of ", pieces,
                   " pieces, but the vocabulary of the model is ", rows);
}

std::vector<std::string> verify_model(const formats::ModelFile& file) {
  formats::Problems problems;
  problems.watch([&] {
    try {
      check_shapes(file, problems);
    } catch (const UsageError& error) {
      throw DataError(concatenate(file.file().path(), ": ", plain_field_names(error.what()),
                                  ". The file is damaged or not heddle's"));
    }
  });
  problems.watch([&] { check_vocabulary(file); });
  problems.add(file.verify());
  return problems.list();
}

std::vector<std::string> verify_adapter(const formats::ModelFile& file) {
  formats::Problems problems;
  problems.watch([&] {
    if (file.has_part("task")) formats::task_of(file);
  });
  problems.add(file.verify());
  return problems.list();
}

std::vector<std::string> verify_tokenizer(const formats::InputFile& file) {
  formats::Problems problems;
  problems.watch([&] { formats::read_tokenizer(file); });
  problems.watch([&] { file.provenance(); });
  return problems.list();
}

// Its own, and those of its models.
std::vector<std::string> verify_ensemble(const std::string& path) {
  formats::Problems problems;
  problems.watch([&] {
    for (const std::string& model : formats::read_ensemble(path).paths) {
      problems.add(formats::ModelFile(model, formats::kind_of(model)).verify());
    }
  });
  return problems.list();
}

// The problems of the file, one line each. Throws DataError if it cannot be opened.
std::vector<std::string> problems_of(const std::string& path) {
  if (is_certificate_file(path)) return certificate_problems(path);
  if (std::filesystem::is_directory(path) || formats::find_foreign_vocabulary(path) != nullptr) {
    formats::load_tokenizer(path);
    return {};
  }
  const formats::InputFile file(path);
  if (file.kind() == formats::FileKind::model) return verify_model(formats::ModelFile(path));
  if (file.kind() == formats::FileKind::adapter) return verify_adapter(formats::ModelFile(path, file.kind()));
  if (file.kind() == formats::FileKind::ensemble) return verify_ensemble(path);
  if (file.kind() == formats::FileKind::tokens) return formats::TokenFile(path).verify();
  if (file.kind() == formats::FileKind::pairs) return formats::PairsFile(path).verify();
  if (file.kind() == formats::FileKind::graphs) return formats::GraphsFile(path).verify();
  if (file.kind() == formats::FileKind::tensors) {
    if (file.root().has_group("attention")) return formats::verify_attention(file);
    return file.root().has_group("shapes") ? formats::verify_shapes(file) : formats::verify_embeddings(file);
  }
  return verify_tokenizer(file);
}

// The problems as JSON; that a file cannot be read is a problem, too.
formats::Json checked(const std::string& path) {
  std::vector<std::string> problems;
  try {
    problems = problems_of(path);
  } catch (const DataError& error) {
    problems.push_back(plain_field_names(error.what()));
  }
  return {{"name", path}, {"problems", problems}};
}

int verify_as_json(const std::vector<std::string>& paths, bool lines) {
  bool all_good = true;
  formats::Json files = json_list(paths, lines, [&](const std::string& path) {
    formats::Json file = checked(path);
    all_good = all_good && file["problems"].empty();
    return file;
  });
  if (!lines) std::cout << dump({{"files", std::move(files)}});
  return all_good ? 0 : 1;
}

// The other files are checked even if one cannot be read.
bool print_problems(const std::string& path, const cli::Arguments& arguments) {
  try {
    const std::vector<std::string> problems = problems_of(path);
    for (const std::string& problem : problems) std::cout << printable(problem) << "\n";
    if (problems.empty()) std::cout << printable(path) << ": no problem found\n";
    return problems.empty();
  } catch (const DataError& error) {
    std::cerr << concatenate(arguments.tool(), ": ", printable(plain_field_names(error.what())), "\n");
    return false;
  }
}

int verify(const cli::Arguments& arguments, const VerifyOptions& options) {
  check_forms(options.json, options.jsonl);
  const std::vector<std::string>& paths = arguments.operands("FILE");
  if (options.json || options.jsonl) return verify_as_json(paths, options.jsonl);
  bool all_good = true;
  for (const std::string& path : paths) all_good = print_problems(path, arguments) && all_good;
  return all_good ? 0 : 1;
}

}  // namespace

cli::Verb verbs::verify() {
  return cli::make_verb<VerifyOptions>(
      {.summary = "Reads files completely and reports problems.",
       .synopsis = {"FILE... [--json|--jsonl]"},
       .operands = {{"FILE", "tokenizer, token, pairs, graphs, model, adapter and vector files, and certificates", 1,
                     cli::any_number}}},
      heddle::verify);
}

}  // namespace heddle
