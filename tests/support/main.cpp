// doctest's main, and a deadline for each test case: one that waits for what never comes is named long before whoever
// started the program gives up.
// Both are defined, because the precompiled header has gone past the lines that derive the first from the second.
#define DOCTEST_CONFIG_IMPLEMENT
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "support/patience.hpp"

namespace {

constexpr int seconds_per_case = 300;

const char* running = "";

// In a signal handler only few functions may be called.
void say(const char* text) {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

void give_up(int) {
  say("a test case has not ended in the time that it has (HEDDLE_TEST_PATIENCE=N multiplies it): ");
  say(running);
  say("\n");
  std::_Exit(1);
}

class Deadline : public doctest::IReporter {
 public:
  explicit Deadline(const doctest::ContextOptions&) {}
  void test_run_start() override { std::signal(SIGALRM, give_up); }
  void test_case_start(const doctest::TestCaseData& test) override {
    running = test.m_name;
    begin();
  }
  void test_case_reenter(const doctest::TestCaseData&) override { begin(); }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { ::alarm(0); }

  void report_query(const doctest::QueryData&) override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  static void begin() { ::alarm(static_cast<unsigned>(heddle::testing::patient_seconds(seconds_per_case))); }
};

REGISTER_LISTENER("deadline", 1, Deadline);

}  // namespace
