// Common parts of all of heddle's HDF5 files: the attributes of the root group, the provenance, how they are opened,
// and how they are written whole or not at all.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "formats/files/atomic_file.hpp"
#include "formats/files/content_type.hpp"
#include "formats/files/descriptor.hpp"
#include "formats/hdf5/hdf5.hpp"
#include "formats/hdf5/writer.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::formats {

enum class FileKind { tokenizer, tokens, pairs, graphs, model, adapter, ensemble, tensors };

}  // namespace heddle::formats

template <>
struct heddle::Names<heddle::formats::FileKind> {
  static constexpr std::pair<formats::FileKind, std::string_view> list[] = {
      {formats::FileKind::tokenizer, "tokenizer"}, {formats::FileKind::tokens, "tokens"},
      {formats::FileKind::pairs, "pairs"},         {formats::FileKind::graphs, "graphs"},
      {formats::FileKind::model, "model"},         {formats::FileKind::adapter, "adapter"},
      {formats::FileKind::ensemble, "ensemble"},   {formats::FileKind::tensors, "tensors"}};
};

namespace heddle::formats {

// The newest version of the formats; this program reads all up to it. A file has the lowest version that describes it,
// so that older programs can read it:
// 2: weights may be bfloat16 or int8.
// 3: fine-tuned models and adapters.
// 4: configurations of any architecture; models and adapters of earlier versions are refused. Pairs of texts.
// 5: ensembles of models.
// 6: graphs.
// 7: weights may be in blocks of 8 and 4 bits.
inline constexpr Index format_version = 7;
inline constexpr Index oldest_model_version = 4;

// The attributes of the root group.
struct FileHeader {
  std::string format = "heddle";
  FileKind kind = FileKind::tensors;
  Index format_version = 1;
  std::string created_by, created_at, command_line;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("format", "heddle, in all of its files"), self.format);
    visitor(Field("kind", "what the file holds"), self.kind);
    visitor(Field("format_version", "version of the file format").range(1), self.format_version);
    visitor(Field("created_by", "the program and its version"), self.created_by);
    visitor(Field("created_at", "when, in UTC"), self.created_at);
    visitor(Field("command_line", "the command that made the file"), self.command_line);
  }
};

// A heddle file open for reading. Takes no locks. Throws DataError with a guess at what the file is instead.
class InputFile {
 public:
  explicit InputFile(const std::string& path);

  const std::string& path() const { return descriptor_->path(); }
  const Descriptor& descriptor() const { return *descriptor_; }
  const FileHeader& header() const { return header_; }
  FileKind kind() const { return header_.kind; }
  // Throws DataError unless the file is of this kind.
  const InputFile& expect(FileKind kind) const;
  const hdf5::Group& root() const { return root_; }
  Provenance provenance() const;

 private:
  void read_header();

  std::shared_ptr<const Descriptor> descriptor_;
  hdf5::Group root_;
  FileHeader header_;
};

// Kind of a heddle file; reads only its first few kilobytes.
FileKind kind_of(const std::string& path);
// Whether the name is of a regular file of this kind; no pipe is read to find out. Throws DataError for HDF5 files that
// are not heddle's.
bool is_file_of(const std::string& path, FileKind kind);

// "a token file", for messages.
std::string a_file(FileKind kind);

using Examine = std::function<void(const std::string& path)>;

// A heddle file being written; it gets its name with commit(), and is removed without.
class OutputFile {
 public:
  OutputFile(const std::string& path, FileKind kind);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  hdf5::OutputGroup root() const { return file_->root(); }
  // The file uses features that were new in this version.
  void needs_version(Index version) { version_ = std::max(version_, version); }
  // Throws DataError when something could not be written (a full disk), which commit() would find too.
  void check_written() const;
  // Adds header and provenance. All groups and data sets of the file must be gone. The file is complete under a
  // temporary name when `examine` is called, which may throw to discard it.
  void commit(const Provenance& provenance, const Examine& examine = {});

 private:
  AtomicFile target_;
  FileKind kind_;
  Index version_ = 1;
  hdf5::DriverFile driver_;
  std::optional<hdf5::Writer> file_;
};

}  // namespace heddle::formats
