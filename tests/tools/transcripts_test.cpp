// Terminal sessions as files in transcripts/: each plays commands with the real executables in a folder with
// SmallCorpus's files, and is compared line by line. A new black-box test that needs no arithmetic is a transcript.
//
//     # a comment
//     < name.csv              writes a file with the lines up to the next line that is ">"
//     $ command               a shell command, and then what it prints, standard error after standard output;
//     a line with … in it     … stands for any text
//     [2]                     its status, where that is not 0
//     ? command               leaves out the rest of the file where this fails, and says so
#include <algorithm>

#include "tools/small_corpus.hpp"

using namespace heddle;
using namespace heddle::testing;

namespace transcripts_tests {

namespace {

// Whether the text is the pattern, in which … stands for any text.
bool matches(const std::string& text, const std::string& pattern) {
  const std::string any = "…";
  std::size_t at = 0, from = 0;
  bool is_first = true;
  while (true) {
    const std::size_t end = pattern.find(any, from);
    const std::string part = pattern.substr(from, end == pattern.npos ? end : end - from);
    if (end == pattern.npos && !is_first) return text.size() >= at + part.size() && text.ends_with(part);
    if (end == pattern.npos) return text == part;
    const std::size_t found = is_first ? (text.starts_with(part) ? 0 : text.npos) : text.find(part, at);
    if (found == text.npos) return false;
    at = found + part.size();
    from = end + any.size();
    is_first = false;
  }
}

class Transcript {
 public:
  Transcript(const SmallCorpus& corpus, const std::string& path) : corpus_(corpus), lines_(lines_of(read_file(path))) {}

  void play() {
    while (at_ < lines_.size()) {
      const std::string line = lines_[at_++];
      if (line.starts_with("< ")) {
        std::string content;
        while (at_ < lines_.size() && lines_[at_] != ">") content += lines_[at_++] + "\n";
        ++at_;
        write_file(corpus_.path(line.substr(2)), content);
      }
      if (line.starts_with("? ") && corpus_.run(line.substr(2)).status != 0) return skipped("fails: " + line.substr(2));
      if (line.starts_with("$ ")) play(line.substr(2));
    }
    CHECK(commands_ > 0);
  }

 private:
  bool begins_something() const {
    std::size_t next = at_;
    while (next < lines_.size() && lines_[next].empty()) ++next;
    if (next == lines_.size()) return true;
    const std::string& line = lines_[next];
    return line.starts_with("$ ") || line.starts_with("? ") || line.starts_with("< ") || line.starts_with("# ");
  }

  void play(const std::string& command) {
    CAPTURE(command);
    ++commands_;
    std::vector<std::string> wanted;
    int status = 0;
    for (; at_ < lines_.size() && !begins_something(); ++at_) {
      const std::string& line = lines_[at_];
      if (line.starts_with("[") && line.ends_with("]")) {
        status = std::stoi(line.substr(1));
      } else {
        wanted.push_back(line);
      }
    }
    const Outcome outcome = corpus_.run(command);
    const std::string printed = outcome.out + outcome.err;
    CAPTURE(printed);
    CHECK(outcome.status == status);
    std::vector<std::string> lines = lines_of(printed);
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    REQUIRE(lines.size() == wanted.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      CAPTURE(wanted[i]);
      CHECK(matches(lines[i], wanted[i]));
    }
  }

  const SmallCorpus& corpus_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  int commands_ = 0;
};

}  // namespace

TEST_CASE("transcripts: patterns") {
  CHECK(matches("a b", "a b"));
  CHECK_FALSE(matches("a b", "a"));
  CHECK(matches("made 12 of 13", "made … of …"));
  CHECK(matches("", "…"));
  CHECK_FALSE(matches("made 12 by 13", "made … of …"));
  CHECK_FALSE(matches("x made", "made…"));
  CHECK_FALSE(matches("aa", "a…aa"));
}

TEST_CASE("transcripts: each command prints what it did when it was written down") {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(HEDDLE_TRANSCRIPTS))
    paths.push_back(entry.path().string());
  std::ranges::sort(paths);
  REQUIRE(!paths.empty());
  for (const std::string& path : paths) {
    CAPTURE(path);
    const SmallCorpus corpus;
    Transcript(corpus, path).play();
  }
}

}  // namespace transcripts_tests
