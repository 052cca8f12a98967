#include "formats/chemical/smiles.hpp"

#include <GraphMol/ChemTransforms/ChemTransforms.h>
#include <GraphMol/Depictor/RDDepictor.h>
#include <GraphMol/Fingerprints/MorganFingerprints.h>
#include <GraphMol/MolOps.h>
#include <GraphMol/PeriodicTable.h>
#include <GraphMol/RWMol.h>
#include <GraphMol/SmilesParse/SmilesParse.h>
#include <GraphMol/SmilesParse/SmilesWrite.h>
#include <RDGeneral/RDLog.h>

#include <algorithm>
#include <array>
#include <memory>
#include <sstream>

#include "libcore/base/error.hpp"
#include "libcore/base/strings.hpp"

namespace heddle::formats {

namespace {

using RDKit::Atom;
using RDKit::Bond;
using RDKit::ROMol;
using RDKit::RWMol;
using Kinds = std::vector<std::string>;

// A feature of atoms or bonds; of one that is none of the kinds, kind_of() may return any other text.
template <class Part>
struct PartFeature {
  const char* name;
  Kinds kinds;
  std::string (*kind_of)(const Part& part);
};

Kinds element_symbols() {
  constexpr unsigned last_element = 118;
  Kinds symbols;
  for (unsigned number = 1; number <= last_element; ++number) {
    symbols.push_back(RDKit::PeriodicTable::getTable()->getElementSymbol(number));
  }
  return symbols;
}

Kinds numbers_between(int first, int last) {
  Kinds kinds;
  for (int number = first; number <= last; ++number) kinds.push_back(std::to_string(number));
  return kinds;
}

std::string yes_or_no(bool value) {
  return value ? "yes" : "no";
}

std::string hybridisation_of(const Atom& atom) {
  switch (atom.getHybridization()) {
    case Atom::S:
      return "s";
    case Atom::SP:
      return "sp";
    case Atom::SP2:
      return "sp2";
    case Atom::SP3:
      return "sp3";
    case Atom::SP2D:
      return "sp2d";
    case Atom::SP3D:
      return "sp3d";
    case Atom::SP3D2:
      return "sp3d2";
    default:
      return "";
  }
}

// R or S of the Cahn-Ingold-Prelog rules, which do not depend on how the SMILES is written.
std::string chirality_of(const Atom& atom) {
  std::string code;
  return atom.getPropIfPresent(RDKit::common_properties::_CIPCode, code) ? code : "none";
}

std::string order_of(const Bond& bond) {
  switch (bond.getBondType()) {
    case Bond::SINGLE:
      return "single";
    case Bond::DOUBLE:
      return "double";
    case Bond::TRIPLE:
      return "triple";
    case Bond::QUADRUPLE:
      return "quadruple";
    case Bond::AROMATIC:
      return "aromatic";
    case Bond::DATIVE:
      return "dative";
    default:
      return "";
  }
}

std::string stereo_of(const Bond& bond) {
  switch (bond.getStereo()) {
    case Bond::STEREONONE:
      return "none";
    case Bond::STEREOZ:
      return "Z";
    case Bond::STEREOE:
      return "E";
    default:
      return "";
  }
}

std::vector<PartFeature<Atom>> atom_features() {
  return {
      {"element", element_symbols(), [](const Atom& atom) { return atom.getSymbol(); }},
      {"charge", numbers_between(-4, 4), [](const Atom& atom) { return std::to_string(atom.getFormalCharge()); }},
      {"degree", numbers_between(0, 8), [](const Atom& atom) { return std::to_string(atom.getDegree()); }},
      {"hydrogens", numbers_between(0, 4), [](const Atom& atom) { return std::to_string(atom.getTotalNumHs()); }},
      {"hybridisation", {"s", "sp", "sp2", "sp3", "sp2d", "sp3d", "sp3d2"}, hybridisation_of},
      {"aromatic", {"no", "yes"}, [](const Atom& atom) { return yes_or_no(atom.getIsAromatic()); }},
      {"ring",
       {"no", "yes"},
       [](const Atom& atom) { return yes_or_no(atom.getOwningMol().getRingInfo()->numAtomRings(atom.getIdx()) > 0); }},
      {"chirality", {"none", "R", "S"}, chirality_of}};
}

std::vector<PartFeature<Bond>> bond_features() {
  return {
      {"order", {"single", "double", "triple", "quadruple", "aromatic", "dative"}, order_of},
      {"ring",
       {"no", "yes"},
       [](const Bond& bond) { return yes_or_no(bond.getOwningMol().getRingInfo()->numBondRings(bond.getIdx()) > 0); }},
      {"conjugated", {"no", "yes"}, [](const Bond& bond) { return yes_or_no(bond.getIsConjugated()); }},
      {"stereo", {"none", "Z", "E"}, stereo_of}};
}

// The parts with these names, or all; with their columns.
template <class Part>
std::vector<PartFeature<Part>> chosen(std::vector<PartFeature<Part>> all, const std::vector<std::string>& names,
                                      data::FeatureColumns& columns) {
  std::vector<PartFeature<Part>> features;
  for (PartFeature<Part>& feature : all) {
    if (!names.empty() && std::ranges::count(names, feature.name) == 0) continue;
    columns.categories.push_back({feature.name, feature.kinds});
    features.push_back(std::move(feature));
  }
  return features;
}

// The number of each feature's kind: 0 for one that is not in the list.
template <class Part>
std::vector<std::int32_t> kinds_of(const Part& part, const std::vector<PartFeature<Part>>& features) {
  std::vector<std::int32_t> numbers;
  for (const PartFeature<Part>& feature : features) {
    const auto found = std::ranges::find(feature.kinds, feature.kind_of(part));
    numbers.push_back(found == feature.kinds.end() ? 0 : static_cast<std::int32_t>(found - feature.kinds.begin() + 1));
  }
  return numbers;
}

// While it exists, RDKit's log of errors goes here instead of to standard error, and its other logs go nowhere.
class CapturedLog {
 public:
  CapturedLog() : logs_{rdErrorLog, rdWarningLog, rdInfoLog, rdDebugLog} {
    rdErrorLog = std::make_shared<boost::logging::rdLogger>(&errors_);
    rdWarningLog = rdInfoLog = rdDebugLog = nullptr;
  }
  ~CapturedLog() {
    rdErrorLog = logs_[0];
    rdWarningLog = logs_[1];
    rdInfoLog = logs_[2];
    rdDebugLog = logs_[3];
  }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  // The first line, without the time of day and "SMILES Parse Error: ", up to where it repeats the SMILES; "" if there
  // is none.
  std::string reason() const {
    std::string text = errors_.str();
    text = text.substr(0, text.find('\n'));
    if (text.starts_with('[')) text = text.substr(std::min(text.find("] ") + 2, text.size()));
    constexpr std::string_view prefix = "SMILES Parse Error: ";
    if (text.starts_with(prefix)) text = text.substr(prefix.size());
    for (const char* repeated : {" while parsing: ", " for input: "}) text = text.substr(0, text.find(repeated));
    return text;
  }

 private:
  std::ostringstream errors_;
  std::array<RDLogger, 4> logs_;
};

std::unique_ptr<RWMol> parsed(const std::string& smiles) {
  const CapturedLog log;
  std::string problem;
  try {
    // By default SmilesToMol() looks for atoms that could be stereocentres, which takes the cube of their number.
    RDKit::SmilesParserParams as_written;
    as_written.sanitize = as_written.removeHs = false;
    std::unique_ptr<RWMol> molecule(RDKit::SmilesToMol(smiles, as_written));
    if (molecule) {
      RDKit::MolOps::removeHs(*molecule, false, true, true);
      RDKit::MolOps::assignStereochemistry(*molecule, true, true);
      return molecule;
    }
    problem = log.reason();
  } catch (const std::exception& error) {
    problem = error.what();
  }
  problem = std::string(trimmed(problem.substr(0, problem.find('\n')), " \r"));
  throw DataError("RDKit does not read the SMILES " + smiles + ": " + (problem.empty() ? "it is no SMILES" : problem));
}

std::string scaffold_of(const ROMol& molecule) {
  if (molecule.getRingInfo()->numRings() == 0) return "";
  const std::unique_ptr<ROMol> scaffold(RDKit::MurckoDecompose(molecule));
  if (!scaffold || scaffold->getNumAtoms() == 0) return "";
  scaffold->clearComputedProps();
  scaffold->updatePropertyCache();
  RDKit::MolOps::symmetrizeSSSR(*scaffold);
  return RDKit::MolToSmiles(*scaffold, false);
}

std::vector<std::uint32_t> circular_fragments(const ROMol& molecule) {
  constexpr unsigned radius = 2;
  const std::unique_ptr<RDKit::SparseIntVect<std::uint32_t>> counts(
      RDKit::MorganFingerprints::getFingerprint(molecule, radius));
  std::vector<std::uint32_t> fragments;
  for (const auto& [identifier, count] : counts->getNonzeroElements()) fragments.push_back(identifier);
  std::ranges::sort(fragments);
  return fragments;
}

std::vector<float> coordinates_of(ROMol& molecule) {
  const unsigned conformer = RDDepict::compute2DCoords(molecule, nullptr, true);
  std::vector<float> positions;
  for (const RDGeom::Point3D& at : molecule.getConformer(static_cast<int>(conformer)).getPositions()) {
    positions.push_back(static_cast<float>(at.x));
    positions.push_back(static_cast<float>(at.y));
  }
  return positions;
}

// Properties for drawings, splits and fingerprints. A molecule for which RDKit cannot compute them remains valid.
template <class Value, class Compute>
void try_to_set(Value& value, const Compute& compute) {
  const CapturedLog log;
  try {
    value = compute();
  } catch (const std::exception&) {
    value = {};
  }
}

}  // namespace

struct MoleculeReader::Columns {
  std::vector<PartFeature<Atom>> atoms;
  std::vector<PartFeature<Bond>> bonds;
};

MoleculeReader::MoleculeReader(const std::vector<std::string>& features) {
  const std::vector<std::string> known(molecule_features.begin(), molecule_features.end());
  for (const std::string& name : features) {
    check<UsageError>(std::ranges::count(known, name) > 0, not_one_of(name, known));
  }
  Columns columns{chosen(atom_features(), features, schema_.nodes), chosen(bond_features(), features, schema_.edges)};
  columns_ = std::make_unique<const Columns>(std::move(columns));
}

MoleculeReader::~MoleculeReader() = default;

data::GraphRecord MoleculeReader::read(std::string_view smiles) const {
  const std::string text(trimmed(smiles, " \t\r"));
  check<DataError>(!text.empty(), "the SMILES is empty");
  const std::unique_ptr<RWMol> molecule = parsed(text);
  check<DataError>(molecule->getNumAtoms() > 0, "the SMILES ", text, " has no atoms");
  data::GraphRecord record;
  record.id = text;
  record.graph.nodes = molecule->getNumAtoms();
  for (const Atom* atom : molecule->atoms()) {
    record.node_names.push_back(atom->getSymbol());
    for (const std::int32_t kind : kinds_of(*atom, columns_->atoms)) {
      record.graph.node_features.categories.push_back(kind);
    }
  }
  std::vector<data::ListedEdge> edges;
  for (const Bond* bond : molecule->bonds()) {
    const Index a = bond->getBeginAtomIdx(), b = bond->getEndAtomIdx();
    const std::vector<std::int32_t> kinds = kinds_of(*bond, columns_->bonds);
    edges.push_back({a, b, kinds});
    edges.push_back({b, a, kinds});
  }
  data::set_edges(record.graph, edges);
  if (record.graph.nodes <= most_drawn_atoms) {
    try_to_set(record.fragments, [&] { return circular_fragments(*molecule); });
    try_to_set(record.group, [&] { return scaffold_of(*molecule); });
    try_to_set(record.positions, [&] { return coordinates_of(*molecule); });
  }
  return record;
}

}  // namespace heddle::formats
