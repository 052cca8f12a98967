// Ensemble files: the names of fine-tuned models that predict together, and the weight of each. The models stay in
// files of their own, in the same directory.
#pragma once

#include <string>
#include <vector>

#include "formats/heddle/provenance.hpp"

namespace heddle::formats {

struct EnsembleMembers {
  std::vector<std::string> names;    // file names of models and adapters, without directories
  std::vector<std::string> weights;  // TensorGroup::fingerprint() of each
  std::vector<double> shares;        // the weight of each in the pool (decoding::pooled), 0 or more

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("names", "files of the models, in the directory of the ensemble"), self.names);
    visitor(Field("weights", "hash of each model's weights"), self.weights);
    visitor(Field("shares", "weight of each model's log-probabilities"), self.shares);
  }
};

struct EnsembleFile {
  EnsembleMembers members;
  std::vector<std::string> paths;  // paths of the models, in the directory of the ensemble
};

// Writes the members, whose models are at these paths. Throws DataError where they are not in the directory of `path`,
// and as OutputFile does.
void write_ensemble(const std::string& path, const std::vector<std::string>& models, const std::vector<double>& shares,
                    const Provenance& provenance);

// Throws DataError for files that are damaged, and where a model is not there or has other weights. An ensemble cannot
// name a file outside its own directory.
EnsembleFile read_ensemble(const std::string& path);

// The files that an ensemble's members are read from, whether or not they are there; none for a file of another kind
// and for one that cannot be read.
std::vector<std::string> possible_members(const std::string& path);

}  // namespace heddle::formats
