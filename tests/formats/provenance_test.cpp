#include <doctest/doctest.h>

#include <array>
#include <ctime>
#include <optional>

#include "formats/files.hpp"
#include "formats/files/checksum.hpp"
#include "formats/heddle/file.hpp"
#include "formats/heddle/provenance.hpp"
#include "libcore/base/printable.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

// While it lives, local time is that of this zone.
class TimeZone {
 public:
  explicit TimeZone(const char* zone) {
    if (const char* before = std::getenv("TZ")) before_ = before;
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
  ~TimeZone() {
    before_ ? ::setenv("TZ", before_->c_str(), 1) : ::unsetenv("TZ");
    ::tzset();
  }
  TimeZone(const TimeZone&) = delete;
  TimeZone& operator=(const TimeZone&) = delete;

 private:
  std::optional<std::string> before_;
};

void write_provenance_file(const std::string& path, const Provenance& provenance) {
  OutputFile file(path, FileKind::tensors);
  file.commit(provenance);
}

}  // namespace

TEST_CASE("checksum: XXH3-128 of known texts, in pieces or at once") {
  // From xxh128sum of the xxHash project.
  CHECK(checksum_of("", 0) == "99aa06d3014798d86001c324468d497f");
  const std::string text = "the quick brown fox jumps over the lazy dog";
  Checksum pieces;
  for (const char letter : text) pieces.add(&letter, 1);
  CHECK(pieces.text() == checksum_of(text.data(), text.size()));
  CHECK(pieces.text() != checksum_of(text.data(), text.size() - 1));
}

TEST_CASE("checksum of a file: its size and the same as of its bytes") {
  const TemporaryFolder folder;
  const std::string content(3'000'000, 'x');
  write_bytes(folder.file("x"), content);
  const FileChecksum checksum = checksum_file(folder.file("x"));
  CHECK(checksum.size == 3'000'000);
  CHECK(checksum.xxh128 == checksum_of(content.data(), content.size()));
  CHECK(contains(message_of([&] { checksum_file(folder.file("absent")); }), "cannot open: No such file"));
  CHECK(contains(message_of([&] { checksum_file(folder.path().string()); }), "is a directory"));
}

TEST_CASE("command lines are quoted so that a shell reads them back") {
  const std::array<const char*, 7> words{"printf", "%s|", "plain-word=1", "two words", "it's", "", "a\n\xff'\\b"};
  const std::string line = quote_command_line(words);
  CHECK(line == "printf '%s|' plain-word=1 'two words' 'it'\\''s' '' $'a\\x0a\\xff\\x27\\x5cb'");
  int status = 0;
  CHECK(output_of("bash -c \"$(cat <<'END'\n" + line + "\nEND\n)\"", status) ==
        "plain-word=1|two words|it's||a\n\xff'\\b|");
}

TEST_CASE("paths that are not UTF-8, or of two lines, are found again by the text that stands for them") {
  for (const std::string path :
       {"plain.h5", "two words.h5", "d\xe9/m\xff.h5", "a\nb", "it's\x01", "back\\slash\x02", "'"}) {
    const std::string text = readable_path(path);
    CHECK(is_printable(text));
    CHECK(path_of_readable(text) == path);
  }
  for (const std::string other : {"$'", "$''", "$'\\x4'", "$'\\y41'", "'a'", ""})
    CHECK(path_of_readable(other) == other);
}

TEST_CASE("created_at: ISO 8601, and SOURCE_DATE_EPOCH where it is set") {
  const std::string now = created_at();
  CHECK(now.size() == 20);
  CHECK(now.substr(0, 2) == "20");
  CHECK(now.back() == 'Z');
  const FixedTime fixed;
  CHECK(created_at() == "2023-11-14T22:13:20Z");
  {
    const TimeZone tokyo("JST-9");
    const std::time_t epoch = 1'700'000'000;
    std::tm local{};
    REQUIRE(::localtime_r(&epoch, &local) != nullptr);
    REQUIRE(local.tm_hour == 22 + 9 - 24);
    CHECK(created_at() == "2023-11-14T22:13:20Z");
  }
  ::setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
  CHECK_THROWS_AS(created_at(), UsageError);
  ::setenv("SOURCE_DATE_EPOCH", "1700000000s", 1);
  CHECK_THROWS_WITH_AS(created_at(), "SOURCE_DATE_EPOCH = 1700000000s is not a number of seconds", UsageError);
}

TEST_CASE("provenance: every command back to the text, none twice") {
  const TemporaryFolder folder;
  const std::string text = folder.file("text"), tokenizer = folder.file("tokenizer.h5");
  write_bytes(text, "some text");
  Provenance made_tokenizer = start_provenance("tokenize --train");
  add_input(made_tokenizer, "text", text);
  write_provenance_file(tokenizer, made_tokenizer);
  for (const char* name : {"train.h5", "valid.h5"}) {
    Provenance made_tokens = start_provenance(std::string("tokenize -o ") + name);
    add_input(made_tokens, "tokenizer", tokenizer);
    add_input(made_tokens, "text", text);
    write_provenance_file(folder.file(name), made_tokens);
  }
  Provenance made_model = start_provenance("pretrain");
  add_input(made_model, "train", folder.file("train.h5"));
  add_input(made_model, "valid", folder.file("valid.h5"));
  write_provenance_file(folder.file("model.h5"), made_model);

  const InputFile model(folder.file("model.h5"));
  CHECK(model.header().command_line == "pretrain");
  CHECK(model.header().created_by == created_by());
  const Provenance provenance = model.provenance();
  CHECK(provenance == made_model);
  REQUIRE(provenance.earlier.size() == 3);
  CHECK(provenance.earlier[0].command_line == "tokenize --train");
  CHECK(provenance.earlier[1].command_line == "tokenize -o train.h5");
  CHECK(provenance.earlier[2].inputs.at(0).made_by == 0);
  CHECK(provenance.own.inputs.at(1).made_by == 2);
  CHECK(provenance.earlier[0].inputs.at(0) == ProvenanceInput{"text", text, 9, checksum_of("some text", 9), -1});
  const std::string description = describe(provenance);
  CHECK(description.find("tokenize --train") < description.find("pretrain"));
  CHECK(contains(description, "text: " + text + ", 9 bytes, xxh128 "));
}

TEST_CASE("provenance: equal commands that read other bytes of the same name and size are two steps") {
  const TemporaryFolder folder;
  const FixedTime fixed;
  const std::string text = folder.file("text");
  Provenance made_model = start_provenance("pretrain");
  for (const auto& [name, content] : {std::pair("a.h5", "some text"), {"b.h5", "more text"}, {"c.h5", "some text"}}) {
    write_bytes(text, content);
    Provenance made_tokens = start_provenance("tokenize");
    add_input(made_tokens, "text", text);
    write_provenance_file(folder.file(name), made_tokens);
    add_input(made_model, "train", folder.file(name));
  }
  REQUIRE(made_model.earlier.size() == 2);
  CHECK(made_model.earlier[0].inputs.at(0).xxh128 == checksum_of("some text", 9));
  CHECK(made_model.earlier[1].inputs.at(0).xxh128 == checksum_of("more text", 9));
  REQUIRE(made_model.own.inputs.size() == 3);
  const Index made_by[] = {0, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) CHECK(made_model.own.inputs[i].made_by == made_by[i]);
}

TEST_CASE("provenance: inconsistent columns are refused") {
  ProvenanceTable table = to_table(start_provenance("x"));
  CHECK(from_table(table, "here").own.command_line == "x");
  table.inputs.step = {0};
  CHECK(contains(message_of([&] { from_table(table, "here"); }), "here: columns of different lengths"));
  table.inputs.role = table.inputs.name = table.inputs.xxh128 = {""};
  table.inputs.size = {1};
  for (const Index made_by : {Index{-2}, Index{0}, Index{5}}) {
    table.inputs.made_by = {made_by};
    CHECK(contains(message_of([&] { from_table(table, "here"); }), "belongs to no step"));
  }
  CHECK(contains(message_of([] { from_table(ProvenanceTable{}, "here"); }), "here: "));
}
