#include "formats/heddle/file.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/hdf5/structure.hpp"

namespace heddle::formats {

namespace {

// HDF5 needs random access.
std::shared_ptr<const Descriptor> open_hdf5(const std::string& path) {
  check<DataError>(path != "-", "HDF5 files cannot come from standard input; give the file by its name");
  auto file = std::make_shared<const Descriptor>(Descriptor::open_for_reading(path));
  check<DataError>(looks_like_hdf5(*file), path, ": ", guess_content(*file));
  return file;
}

// Whether the file holds the value of `format` somewhere, as what other programs make of heddle's files does:
// attributes are never compressed. Looks at both ends of large files, where attributes are.
bool names_heddle(const Descriptor& file) {
  constexpr Index most = Index{16} << 20;
  const auto has_name = [&](Index from, Index size) {
    std::string bytes(static_cast<std::size_t>(size), '\0');
    bytes.resize(file.read_at(from, bytes.data(), bytes.size()));
    return bytes.find("heddle") != bytes.npos;
  };
  const Index size = file.size();
  return has_name(0, std::min(size, most)) || (size > most && has_name(size - most, most));
}

hdf5::Group open_root(const std::shared_ptr<const Descriptor>& file, const std::string& path) {
  try {
    return hdf5::open(file, path);
  } catch (const hdf5::ForeignStructure&) {
    check<DataError>(names_heddle(*file), path, ": is an HDF5 file, but not a heddle file");
    throw;
  }
}

}  // namespace

InputFile::InputFile(const std::string& path) : descriptor_(open_hdf5(path)), root_(open_root(descriptor_, path)) {
  read_header();
}

// The kind and version come first: a newer file may have header fields that this version does not support.
void InputFile::read_header() {
  check<DataError>(root_.has_attribute("format") && root_.has_attribute("format_version"), path(),
                   ": is an HDF5 file, but not a heddle file");
  const auto version = root_.attribute<Index>("format_version");
  check<DataError>(version <= format_version, path(), ": is of format version ", version,
                   ", and this program reads versions up to ", format_version, "; use a newer heddle");
  Hdf5InputArchive archive(root_);
  archive >> header_;
  check<DataError>(header_.format == "heddle", path(), ": is an HDF5 file, but not a heddle file");
}

std::string a_file(FileKind kind) {
  if (kind == FileKind::tokens) return "a token file";
  return (kind == FileKind::adapter || kind == FileKind::ensemble ? "an " : "a ") + to_text(kind) + " file";
}

const InputFile& InputFile::expect(FileKind expected) const {
  const bool can_merge = kind() == FileKind::adapter && expected == FileKind::model;
  check<DataError>(kind() == expected, path(), ": is ", a_file(kind()), "; ", a_file(expected), " is needed",
                   can_merge ? ", which convert " + path() + " --merge -o whole.h5 makes" : "");
  return *this;
}

Provenance InputFile::provenance() const {
  ProvenanceTable table;
  const hdf5::Group group = root_.group("provenance");
  // A step or an input takes some hundred bytes of memory, and of a file that heddle made more than these, since each
  // input has a hash and three numbers there.
  constexpr Index always = 20000, bytes_per_row = 16;
  const Index most = std::max(always, root_.file().size / bytes_per_row);
  const hdf5::Group inputs_group = group.group("inputs");
  const Index steps = group.dataset("command_line").size();
  const Index inputs = inputs_group.has("role") ? inputs_group.dataset("role").size() : 0;
  check<DataError>(std::max(steps, inputs) <= most, group.where(), ": ", steps, " steps with ", inputs,
                   " inputs are more than a file of ", root_.file().size, " bytes can describe");
  load_fields(group, table);
  return from_table(table, group.where());
}

FileKind kind_of(const std::string& path) {
  return InputFile(path).kind();
}

bool is_file_of(const std::string& path, FileKind kind) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error) && looks_like_hdf5(path) && kind_of(path) == kind;
}

OutputFile::OutputFile(const std::string& path, FileKind kind)
    : target_(path), kind_(kind), driver_{target_.descriptor()}, file_(hdf5::Writer::create(driver_, path)) {}

OutputFile::~OutputFile() {
  if (driver_.write_error == 0)
    driver_.write_error = ECANCELED;  // data that HDF5 still buffers need not reach the disk
}

void OutputFile::check_written() const {
  if (driver_.write_error == 0) return;
  errno = driver_.write_error;
  throw_system_error(target_.path(), "write");
}

void OutputFile::commit(const Provenance& provenance, const Examine& examine) {
  FileHeader header;
  header.kind = kind_;
  header.format_version = version_;
  header.created_by = provenance.own.created_by;
  header.created_at = provenance.own.created_at;
  header.command_line = provenance.own.command_line;
  save_fields(root(), header);
  save_fields(root().create_group("provenance"), to_table(provenance));
  file_->close();
  check_written();
  if (examine) examine(target_.temporary());
  target_.commit();
}

}  // namespace heddle::formats
