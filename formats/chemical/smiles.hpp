// Molecules from SMILES, by RDKit, as graphs of atoms and bonds. Builds without RDKit refuse them.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/data/graphs.hpp"

namespace heddle::formats {

// Features that a molecule's graph may have: of atoms the element, charge, degree, hydrogens, hybridisation, whether it
// is aromatic and in a ring, chirality; of bonds the order, whether it is in a ring and conjugated, stereo.
inline constexpr std::array<const char*, 11> molecule_features{"element",       "charge",     "degree", "hydrogens",
                                                               "hybridisation", "aromatic",   "ring",   "chirality",
                                                               "order",         "conjugated", "stereo"};

class MoleculeReader {
 public:
  // The schema has the features with these names: all if there are none. Throws UsageError for unknown ones, and
  // DataError in a build without RDKit.
  explicit MoleculeReader(const std::vector<std::string>& features);
  ~MoleculeReader();

  const data::GraphSchema& schema() const { return schema_; }

  // The molecule, with the symbols of its elements as names of nodes. One of at most most_drawn_atoms atoms, since
  // RDKit takes the cube of their number, has coordinates as chemists draw it, its Bemis-Murcko scaffold (SMILES
  // without stereochemistry; empty without rings) as group, and the identifiers of its circular fingerprint (Morgan,
  // radius 2) as fragments. All components are one graph; hydrogens are implicit as far as RDKit makes them so. Throws
  // DataError with RDKit's reason.
  data::GraphRecord read(std::string_view smiles) const;

 private:
  struct Columns;
  data::GraphSchema schema_;
  std::unique_ptr<const Columns> columns_;
};

inline constexpr Index most_drawn_atoms = 999;

}  // namespace heddle::formats
