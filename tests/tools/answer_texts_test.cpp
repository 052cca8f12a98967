// Texts in batches: where these end, and what is answered of one with an error.
#include "tools/lines/answer_texts.hpp"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace heddle;

namespace answer_texts_tests {

namespace {

using Strings = std::vector<std::string>;

// The batches of a file's lines, each joined, and the errors of answers to the lines named here.
struct Answered {
  Strings batches;
  std::string error;
  int calls = 0;
};

template <class Error>
struct Failing {
  std::string when_made = "", when_answered = "";
};

template <class Error = DataError>
Answered answered(const Batching& batching, const Failing<Error>& failing = {}) {
  const std::string file = std::filesystem::temp_directory_path() / ("answer_texts_" + std::to_string(::getpid()));
  std::ofstream(file) << "a\nb\nc\nd\ne\n";
  Answered result;
  try {
    answer_texts(
        cli::Input(file), batching,
        [&](const InputText& text) {
          check<Error>(text.text != failing.when_made, "cannot be made");
          return text.text;
        },
        [&](const Strings& texts) {
          ++result.calls;
          std::string batch;
          for (const std::string& text : texts) batch += text;
          check<Error>(failing.when_answered.empty() || batch.find(failing.when_answered) == batch.npos,
                       "cannot be answered");
          result.batches.push_back(batch);
        });
  } catch (const Error& error) {
    result.error = std::string(error.what());
    if (result.error.starts_with(file)) result.error.erase(0, file.size());
  }
  std::filesystem::remove(file);
  return result;
}

}  // namespace

TEST_CASE("answers: a batch ends with its last text, or when its texts and 16 bytes for each are enough") {
  CHECK(answered({.texts = 2}).batches == Strings{"ab", "cd", "e"});
  CHECK(answered({.texts = 5}).batches == Strings{"abcde"});
  CHECK(answered({.bytes = 35}).batches == Strings{"abc", "de"});
  CHECK(answered({.bytes = 34}).batches == Strings{"ab", "cd", "e"});
  CHECK(answered({.texts = 2, .bytes = 35}).batches == Strings{"ab", "cd", "e"});
  CHECK(answered({}).batches == Strings{"abcde"});
}

TEST_CASE("answers: the texts before a bad one are answered, and an error of numbers names it") {
  const Answered unmade = answered<DataError>({.texts = 3}, {.when_made = "e"});
  CHECK(unmade.batches == Strings{"abc", "d"});
  CHECK(unmade.error == "cannot be made");
  const Answered bad = answered<DataError>({.texts = 2}, {.when_answered = "d"});
  CHECK(bad.batches == Strings{"ab", "c"});
  CHECK(bad.error == "cannot be answered");
  CHECK(bad.calls == 4);
  const Answered diverged = answered<NumericError>({.texts = 2}, {.when_answered = "d"});
  CHECK(diverged.batches == Strings{"ab", "c"});
  CHECK(diverged.error == ":4: cannot be answered");
  // One text alone is answered once.
  const Answered alone = answered<NumericError>({.texts = 1}, {.when_answered = "c"});
  CHECK(alone.batches == Strings{"a", "b"});
  CHECK(alone.error == ":3: cannot be answered");
  CHECK(alone.calls == 3);
  CHECK(answered<DataError>({.texts = 1}, {.when_answered = "a"}).calls == 1);
  // Answers that could not be written are not written again.
  CHECK(answered<cli::WriteError>({.texts = 2}, {.when_answered = "b"}).calls == 1);
}

}  // namespace answer_texts_tests
