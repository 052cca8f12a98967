// Graphs files to train on; what they know of their graphs is not read.
#include <optional>

#include "formats/heddle/graphs_file.hpp"
#include "libcore/data/graph_parts.hpp"
#include "libcore/data/held_out.hpp"
#include "libcore/models/architecture.hpp"
#include "tools/cli/refuse_options.hpp"
#include "tools/pretrain/corpus.hpp"

namespace heddle {

namespace {

class GraphsCorpus : public Corpus {
 public:
  GraphsCorpus(const PretrainOptions& options, const cli::Arguments& arguments);

  training::DataKind kind() const override { return training::DataKind::graphs; }
  training::TrainingData train() const override { return {.graphs = &train_graphs()}; }
  training::TrainingData valid() const override { return {.graphs = valid_graphs()}; }
  void fit(models::ModelConfig& model) const override;
  EvaluationSample sample_evaluation(training::TrainingConfig& config, const models::ModelConfig&) const override;
  bool has_samples_of_any_size() const override { return true; }
  std::string summary(const models::Model& model) const override;

 private:
  const data::GraphSource& train_graphs() const {
    return train_part_ ? static_cast<const data::GraphSource&>(*train_part_) : *all_;
  }
  const data::GraphSource* valid_graphs() const { return valid_part_ ? &*valid_part_ : valid_file_.get(); }
  Index valid_units() const override { return valid_graphs() != nullptr ? data::nodes_in(*valid_graphs()) : 0; }

  std::optional<data::GraphsForModel> all_;  // graphs of the files of --train
  std::unique_ptr<data::GraphSource> valid_file_;
  std::optional<data::GraphsOf> train_part_, valid_part_;
};

std::shared_ptr<const data::GraphSource> open(const std::string& path, const std::string& first) {
  check<DataError>(formats::is_file_of(path, formats::FileKind::graphs), path, ": is not a graphs file like ", first,
                   "; convert makes one of molecules or tables");
  return std::make_shared<const formats::GraphsFile>(path);
}

GraphsCorpus::GraphsCorpus(const PretrainOptions& options, const cli::Arguments& arguments)
    : Corpus({training_files(options.train), validation(options.valid)}) {
  refuse({"tokenizer", "documents", "sequence_length"}, arguments, " is for text, and --train is a graphs file");
  const std::string first = files().train.front().path;
  std::vector<std::shared_ptr<const data::GraphSource>> sources;
  for (const auto& [path, weight] : files().train) {
    check<UsageError>(weight == 1, "--train ", path, ": weights are for token files and text; leave it out");
    sources.push_back(open(path, first));
  }
  const data::GraphSchema features = sources.front()->schema();
  all_.emplace(std::move(sources), features);
  if (const std::string& path = files().valid.file; !path.empty()) {
    valid_file_ = std::make_unique<data::GraphsForModel>(
        std::vector<std::shared_ptr<const data::GraphSource>>{open(path, first)}, features);
  }
  if (!files().valid.holds_out()) return;
  data::HeldOutNumbers split = data::hold_out_graphs(*all_, files().valid.held_out);
  train_part_.emplace(*all_, std::move(split.train));
  valid_part_.emplace(*all_, std::move(split.valid));
}

void GraphsCorpus::fit(models::ModelConfig& model) const {
  check<UsageError>(!model.reads_tokens(), "--train ", files().train.front().path, ": holds graphs, and --arch ",
                    model.arch(), " reads texts; give --arch ",
                    models::architectures_with(models::MaskedNodePredictor::ability));
  model.graphs().fit_graphs(all_->schema());
}

EvaluationSample GraphsCorpus::sample_evaluation(training::TrainingConfig& config, const models::ModelConfig&) const {
  const Index nodes = valid_units(),
              graphs = std::max<Index>(1, valid_graphs() != nullptr ? valid_graphs()->size() : 0);
  return sample_tokens(config, nodes, std::max<Index>(1, (nodes + graphs - 1) / graphs));
}

std::string GraphsCorpus::summary(const models::Model&) const {
  const data::GraphSource& graphs = train_graphs();
  return concatenate(grouped(graphs.size()), graphs.size() == 1 ? " training graph of " : " training graphs of ",
                     grouped(data::nodes_in(graphs)), " nodes");
}

}  // namespace

std::unique_ptr<Corpus> open_graphs(const PretrainOptions& options, const cli::Arguments& arguments) {
  return std::make_unique<GraphsCorpus>(options, arguments);
}

}  // namespace heddle
