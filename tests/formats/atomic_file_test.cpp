#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <iostream>
#include <memory>
#include <set>

#include "formats/files.hpp"
#include "formats/files/atomic_directory.hpp"
#include "formats/files/atomic_file.hpp"
#include "formats/files/mapped_file.hpp"
#include "formats/files/output_lock.hpp"
#include "formats/heddle/model_file.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/samples.hpp"
#include "support/patience.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// Runs the call in a process of its own whose files cannot grow beyond the limit, as on a full disk, and returns the
// message of its DataError. A minute ends the process.
template <class Call>
std::string message_with_file_limit(rlim_t limit, const Call& call) {
  int channel[2];
  REQUIRE(::pipe(channel) == 0);
  std::cout.flush();  // or the child would print it again
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(static_cast<unsigned>(testing::patient_seconds(60)));
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limits{limit, limit};
    ::setrlimit(RLIMIT_FSIZE, &limits);
    const std::string message = message_of(call);
    const ssize_t written = ::write(channel[1], message.data(), message.size());
    // exit() and not _exit(): HDF5 tidies up then, and must not stumble over what it could not write.
    std::exit(written == static_cast<ssize_t>(message.size()) ? 0 : 1);
  }
  ::close(channel[1]);
  std::string message;
  char letter;
  while (::read(channel[0], &letter, 1) == 1) message += letter;
  ::close(channel[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return message;
}

// The message of the DataError that the call throws in a process of its own.
template <class Call>
std::string message_of_child(const Call& call) {
  return message_with_file_limit(RLIM_INFINITY, call);
}

using NameSet = std::set<std::string>;

NameSet names_in(const TemporaryFolder& folder) {
  const std::vector<std::string> names = folder.names();
  return {names.begin(), names.end()};
}

}  // namespace

TEST_CASE("atomic file: the new content appears with commit, under the old permissions") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  write_bytes(path, "old");
  ::chmod(path.c_str(), 0640);
  {
    AtomicFile file(path);
    file.write("new and ");
    CHECK(read_bytes(path) == "old");
    file.write("longer");
    file.commit();
  }
  CHECK(read_bytes(path) == "new and longer");
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("atomic file: an exception leaves the old file and nothing else") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  write_bytes(path, "old");
  try {
    AtomicFile file(path);
    file.write("half of the");
    CHECK(folder.names().size() == 2);
    throw std::runtime_error("interrupted");
  } catch (const std::runtime_error&) {
  }
  CHECK(read_bytes(path) == "old");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("atomic file: temporary files are recognisable; those in use are left alone, abandoned ones go") {
  const TemporaryFolder folder;
  const std::string expected = ".x.tmp." + std::to_string(::getpid());
  for (const std::string& name : {expected, std::string(".x.tmp.99999999"), std::string(".x.tmp.99999999.1"),
                                  std::string(".x.tmp.note"), std::string(".y.tmp.5"), std::string("x.tmp.5")}) {
    write_bytes(folder.file(name), "of another machine");
  }
  for (const char* const ours : {".x.tmp.7", ".x.tmp.8"}) std::filesystem::create_directories(folder.file(ours));
  write_bytes(folder.file(".x.tmp.7/") + std::string(directory_mark), "");
  write_bytes(folder.file(".x.tmp.7/config.json"), "{}");
  write_bytes(folder.file(".x.tmp.8/notes"), "of a person");
  {
    const Descriptor in_use(::open(folder.file(expected).c_str(), O_RDWR), expected);
    REQUIRE(mark_in_use(in_use, folder.file(expected)));
    AtomicFile file(folder.file("x"));
    file.write("content");
    CHECK(names_in(folder) == NameSet{".x.tmp.8", ".x.tmp.note", expected, expected + ".1", ".y.tmp.5", "x.tmp.5"});
    file.commit();
  }
  CHECK(read_bytes(folder.file("x")) == "content");
  CHECK(read_bytes(folder.file(expected)) == "of another machine");
  { const AtomicFile next(folder.file("x")); }
  CHECK(names_in(folder) == NameSet{".x.tmp.8", ".x.tmp.note", ".y.tmp.5", "x", "x.tmp.5"});
  CHECK(read_bytes(folder.file(".x.tmp.8/notes")) == "of a person");
}

TEST_CASE("atomic directory: what a killed process left goes with the next one of that name, and no other directory") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    const AtomicDirectory left(folder.file("d"));
    write_bytes(left.temporary() + "/config.json", "{}");
    ::_exit(0);
  }
  REQUIRE(::waitpid(child, nullptr, 0) == child);
  std::filesystem::create_directories(folder.file(".d.tmp.77/inner"));
  CHECK(folder.names().size() == 2);
  AtomicDirectory directory(folder.file("d"));
  CHECK(folder.names().size() == 2);
  write_bytes(directory.temporary() + "/config.json", "{}");
  directory.commit();
  CHECK(names_in(folder) == NameSet{".d.tmp.77", "d"});
  CHECK_FALSE(std::filesystem::exists(folder.file("d/") + std::string(directory_mark)));
}

TEST_CASE("atomic file: what is open here is in use until it has its name or is gone") {
  const TemporaryFolder folder;
  {
    AtomicFile first(folder.file("x")), second(folder.file("x"));
    const AtomicDirectory directory(folder.file("d"));
    CHECK_THROWS_AS(AtomicDirectory(folder.file("d")), DataError);  // the same process has the same name for it
    CHECK(folder.names().size() == 3);
    first.write("first");
    second.write("second");
    first.commit();
    second.commit();
  }
  CHECK(read_bytes(folder.file("x")) == "second");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("descriptor: paths that name what is open, and others") {
  const TemporaryFolder folder;
  std::filesystem::create_symlink("/dev/stderr", folder.file("link"));
  std::filesystem::create_symlink("link", folder.file("second"));
  CHECK(named_descriptor("/dev/stdout") == 1);
  CHECK(named_descriptor("/dev/fd/17") == 17);
  CHECK(named_descriptor("/proc/self/fd/3") == 3);
  CHECK(named_descriptor("/proc/" + std::to_string(::getpid()) + "/fd/4") == 4);
  CHECK(named_descriptor(folder.file("link")) == 2);
  CHECK(named_descriptor(folder.file("second")) == 2);
  for (const std::string path : {"-", "", "1", "/dev/null", "/dev/fd/x", "/dev/fd", "/absent/1"}) {
    CAPTURE(path);
    CHECK_FALSE(named_descriptor(path).has_value());
  }
}

TEST_CASE("atomic file, atomic directory: what a signal's handler removes is all that has no name yet") {
  const TemporaryFolder folder;
  AtomicFile done(folder.file("done")), open(folder.file("open"));
  AtomicDirectory directory(folder.file("many"));
  AtomicFile inner(directory.temporary() + "/inner");
  // More names than the kernel gives at once.
  for (int i = 0; i < 200; ++i) write_bytes(directory.temporary() + "/" + std::string(50, 'x') + std::to_string(i), "");
  done.commit();
  { const AtomicFile gone(folder.file("gone")); }
  CHECK(folder.names().size() == 3);
  Temporary::remove_all();
  CHECK(folder.names() == std::vector<std::string>{"done"});
}

TEST_CASE(
    "temporary files: a signal that comes while one is made ends the process when it is registered, and removes it") {
  const TemporaryFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(static_cast<unsigned>(testing::patient_seconds(60)));
    Temporary temporary;
    {
      const Creating creating;
      write_bytes(folder.file("file"), "");
      remove_temporaries_and([](int signal) { ::_exit(signal); }, 7);
      temporary.created(folder.file("file"));
    }
    ::_exit(1);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(folder.names().empty());
}

TEST_CASE("atomic file: symbolic links stay links") {
  const TemporaryFolder folder;
  write_bytes(folder.file("target"), "old");
  std::filesystem::create_symlink("target", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new");
  file.commit();
  CHECK(std::filesystem::is_symlink(folder.file("link")));
  CHECK(read_bytes(folder.file("target")) == "new");
}

TEST_CASE("atomic file: impossible targets are refused at once") {
  const TemporaryFolder folder;
  const auto message = [](const std::string& path) { return message_of([&] { AtomicFile file(path); }); };
  CHECK(message(folder.path().string()) == folder.path().string() + ": is a directory; name a file in it");
  CHECK(contains(message(folder.file("absent/x")), "cannot create a file in " + folder.file("absent")));
  CHECK(contains(message("/dev/null"), "is not a regular file"));
  CHECK(contains(message(folder.file("")), "is "));
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    CHECK(contains(message(folder.file("x")), "Permission denied"));
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  } else {
    CHECK(contains(message("/proc/x"), "/proc/x: cannot create a file in /proc"));  // unwritable even for root
  }
  CHECK(folder.names().empty());
}

TEST_CASE("full disk: a plain file, a model and a token file say so, and the old file stands") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  write_bytes(path, "old");
  const auto plain = [&] {
    AtomicFile file(path);
    file.write(std::string(100'000, 'x'));
    file.commit();
  };
  const auto model = [&] {
    ModelWriter file(path);
    const std::vector<NamedTensor> weights{{"a/weight", Tensor({100, 100}, Real(1))},
                                           {"b/weight", Tensor({100, 100}, Real(2))}};
    file.weights(weights);
    file.commit(start_provenance("test"));
  };
  const auto tokens = [&] {
    TokenFileWriter file(path, text::Tokenizer(byte_tokenizer_model()));
    const std::vector<TokenId> ids(100'000, 65);
    for (int i = 0; i < 10; ++i) file.append(ids);
    file.commit(start_provenance("test"));
  };
  for (const rlim_t limit : {rlim_t{0}, rlim_t{100}, rlim_t{20'000}}) {
    CAPTURE(limit);
    CHECK(message_with_file_limit(limit, plain) == path + ": cannot write: File too large");
    CHECK(message_with_file_limit(limit, model) == path + ": cannot write: File too large");
    CHECK(message_with_file_limit(limit, tokens) == path + ": cannot write: File too large");
    CHECK(read_bytes(path) == "old");
    CHECK(folder.names() == std::vector<std::string>{"x.h5"});
  }
  CHECK(message_with_file_limit(10'000'000, model).empty());
  CHECK(kind_of(path) == FileKind::model);
}

TEST_CASE("atomic file: a commit that fails leaves nothing, and a later file of the same name has all") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x");
  {
    AtomicFile file(path);
    file.write("first");
    std::filesystem::create_directory(path);  // since then
    CHECK(contains(message_of([&] { file.commit(); }), path + ": cannot "));
    CHECK(contains(message_of([&] { file.commit(); }), path + ": cannot "));
  }
  CHECK(folder.names() == std::vector<std::string>{"x"});
  std::filesystem::remove(path);
  AtomicFile next(path);
  next.write("second");
  next.commit();
  CHECK(read_bytes(path) == "second");
  CHECK(folder.names() == std::vector<std::string>{"x"});
}

TEST_CASE("atomic file, atomic directory: one that is done leaves alone what has its temporary name since") {
  const TemporaryFolder folder;
  auto first = std::make_unique<AtomicFile>(folder.file("x"));
  first->write("first");
  first->commit();
  AtomicFile second(folder.file("x"));
  second.write("second");
  first.reset();
  second.commit();
  CHECK(read_bytes(folder.file("x")) == "second");
  auto done = std::make_unique<AtomicDirectory>(folder.file("d"));
  done->commit();
  std::filesystem::remove(folder.file("d"));
  AtomicDirectory next(folder.file("d"));
  done.reset();
  next.commit();
  CHECK(std::filesystem::is_directory(folder.file("d")));
}

TEST_CASE("atomic directory: it appears whole with commit, and a commit that fails leaves nothing") {
  const TemporaryFolder folder;
  const std::string path = folder.file("many");
  {
    AtomicDirectory directory(path + "//");
    write_bytes(directory.temporary() + "/inner", "content");
    CHECK_FALSE(std::filesystem::exists(path));
    directory.commit();
  }
  CHECK(read_bytes(path + "/inner") == "content");
  CHECK(folder.names() == std::vector<std::string>{"many"});
  CHECK(contains(message_of([&] { const AtomicDirectory again(path); }), "exists and is not an empty directory"));
  std::filesystem::remove_all(path);
  {
    AtomicDirectory directory(path);
    write_bytes(directory.temporary() + "/inner", "other");
    write_bytes(path, "in the way");
    CHECK(contains(message_of([&] { directory.commit(); }), path + ": cannot create"));
  }
  CHECK(folder.names() == std::vector<std::string>{"many"});
  CHECK(read_bytes(path) == "in the way");
}

TEST_CASE("output lock: one process at a time has it, under every name of the file") {
  const TemporaryFolder folder;
  write_bytes(folder.file("x"), "");
  std::filesystem::create_symlink("x", folder.file("link"));
  const auto problem = [&](const char* name) {
    return message_of_child([&] { const OutputLock lock(folder.file(name)); });
  };
  CHECK(problem("x").empty());
  {
    const OutputLock lock(folder.file("x"));
    const std::string expected = concatenate(": another run is writing this file (process ", ::getpid(),
                                             "); wait until it ends, or use another name");
    CHECK(problem("x") == folder.file("x") + expected);
    CHECK(problem("link") == folder.file("link") + expected);
    CHECK(problem("y").empty());
    CHECK(names_in(folder) == NameSet{".x.lock", "link", "x"});
  }
  CHECK(problem("x").empty());
  CHECK(names_in(folder) == NameSet{"link", "x"});
}

TEST_CASE("descriptor: bytes that cannot be read are an error, and those beyond the end are none") {
  const TemporaryFolder folder;
  char bytes[8];
  const Descriptor directory(::open(folder.path().c_str(), O_RDONLY), "d");
  CHECK(message_of([&] { directory.read_at(0, bytes, sizeof bytes); }) == "d: cannot read: Is a directory");
  write_bytes(folder.file("x"), "abcde");
  const Descriptor file = Descriptor::open_for_reading(folder.file("x"));
  CHECK(file.read_at(3, bytes, sizeof bytes) == 2);
  CHECK(std::string(bytes, 2) == "de");
  CHECK(file.read_at(9, bytes, sizeof bytes) == 0);
}

TEST_CASE("mapped file: its memory is given back") {
  const TemporaryFolder folder;
  write_bytes(folder.file("x"), "abcde");
  const auto is_mapped = [&] { return contains(read_bytes("/proc/self/maps"), folder.file("x")); };
  {
    const MappedFile file(Descriptor::open_for_reading(folder.file("x")));
    CHECK(file.size() == 5);
    CHECK(std::memcmp(file.data(), "abcde", 5) == 0);
    CHECK(is_mapped());
  }
  CHECK_FALSE(is_mapped());
}
