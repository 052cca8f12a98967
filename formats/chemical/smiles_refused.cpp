// Stands for smiles.cpp in a build without RDKit.
#include "formats/chemical/smiles.hpp"
#include "libcore/base/error.hpp"

namespace heddle::formats {

struct MoleculeReader::Columns {};

MoleculeReader::MoleculeReader(const std::vector<std::string>&) {
  throw DataError("this build has no RDKit, which reads SMILES; install librdkit-dev and build again");
}

MoleculeReader::~MoleculeReader() = default;

data::GraphRecord MoleculeReader::read(std::string_view) const {
  return {};
}

}  // namespace heddle::formats
