// The provenance of a file: the command that made it and its inputs, and the same for every input that heddle made,
// back to the text.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/real.hpp"
#include "libcore/base/visit.hpp"

namespace heddle::formats {

struct ProvenanceInput {
  std::string role;       // "text", "tokenizer", "train", "valid", …
  std::string name;       // as the command had it; "-" for standard input
  Index size = 0;         // bytes
  std::string xxh128;     // hash of the whole file
  Index made_by = -1;     // the step that made it, an index into Provenance::earlier; -1 where heddle did not
  std::string content{};  // content_checksum() of a heddle file; "" for others
  bool operator==(const ProvenanceInput&) const = default;
};

struct ProvenanceStep {
  std::string command_line;
  std::string created_by;  // "heddle 0.1.0"
  std::string created_at;  // "2025-11-21T01:31:00Z"
  std::vector<ProvenanceInput> inputs;
  bool operator==(const ProvenanceStep&) const = default;
};

struct Provenance {
  std::vector<ProvenanceStep> earlier;  // each after the steps that made its inputs, none twice
  ProvenanceStep own;                   // the step that made the file itself
  // Places of earlier steps, by their hash; add_input() keeps it, so that many inputs take linear time.
  std::unordered_map<std::string, Index> places{};
  bool operator==(const Provenance& other) const { return earlier == other.earlier && own == other.own; }
};

// Whether both were the same to the command that read them: the same bytes or, of heddle files, the same content.
bool same_content(const ProvenanceInput& a, const ProvenanceInput& b);

// "heddle 0.1.0"
std::string created_by();

// The current time as ISO 8601, in UTC, or the time of SOURCE_DATE_EPOCH if that is set.
// Throws UsageError when it is set to something else than a number of seconds.
std::string created_at();

// The words as a shell would read them back. What is not UTF-8 becomes $'\xHH', so that the text always is.
std::string quote_command_line(std::span<const char* const> words);

// A path as text for files: as it is, or as a shell would read it back where it is not printable.
std::string readable_path(const std::string& path);
// The other way round.
std::string path_of_readable(const std::string& text);

// A provenance without inputs yet, made now by this command.
Provenance start_provenance(std::string command_line);

// Adds a file as input: reads it once for its checksum, and takes over its own provenance when heddle made it.
// Throws DataError when it cannot be read.
void add_input(Provenance& provenance, const std::string& role, const std::string& path);

// Adds an input that was hashed as it was read; `made` is its own provenance where it has one.
void add_input(Provenance& provenance, ProvenanceInput input, const Provenance* made = nullptr);

// The commands with their inputs, numbered from 1, earliest first, for reading.
std::string describe(const Provenance& provenance);

// Provenance as columns, which is how files hold it: one row per step, one row per input. The file's own step comes
// last.
struct ProvenanceInputTable {
  std::vector<Index> step;
  std::vector<std::string> role, name;
  std::vector<Index> size;
  std::vector<std::string> xxh128;
  std::vector<Index> made_by;
  std::vector<std::string> content;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("step", "the step that read the input"), self.step);
    visitor(Field("role", "what the input was for"), self.role);
    visitor(Field("name", "the name of the input"), self.name);
    visitor(Field("size", "bytes"), self.size);
    visitor(Field("xxh128", "XXH3-128 of the whole input"), self.xxh128);
    visitor(Field("made_by", "the step that made the input, or -1"), self.made_by);
    visitor(Field("content", "hash of what the input holds, provenance and history aside, if heddle made it"),
            self.content);
  }
};

struct ProvenanceTable {
  std::vector<std::string> command_line, created_by, created_at;
  ProvenanceInputTable inputs;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("command_line", "the command of each step"), self.command_line);
    visitor(Field("created_by", "the program and its version"), self.created_by);
    visitor(Field("created_at", "when, in UTC"), self.created_at);
    visitor(Field("inputs", "what the steps read"), self.inputs);
  }
};

// If there are many steps, command lines that make the column too large lose their middle.
ProvenanceTable to_table(const Provenance& provenance);
// Throws DataError where the columns do not fit together; `where` says for the message what was read.
Provenance from_table(const ProvenanceTable& table, const std::string& where);

}  // namespace heddle::formats
