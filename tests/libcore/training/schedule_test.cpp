#include "libcore/training/schedule.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace heddle;
using namespace heddle::training;

TEST_CASE("schedules: warm-up, peak and end as the formulas say (SPEC A11)") {
  const auto made = [](const std::string& name) {
    const bool falls = name == "linear" || name == "cosine";
    return Schedule(ScheduleChoice::from(name + ":warmup=10" + (falls ? ",final=0.25" : "")), 2, 110);
  };
  for (const std::string& name : kinds<ScheduleSettings>().names()) {
    CAPTURE(name);
    const Schedule schedule = made(name);
    CHECK(schedule.rate(0) == doctest::Approx(0.2));
    CHECK(schedule.rate(4) == doctest::Approx(1.0));
    CHECK(schedule.rate(9) == doctest::Approx(2.0));
  }
  const auto rate = [&](const char* name, Index step) { return made(name).rate(step); };
  CHECK(rate("constant", 109) == 2);
  // The tenth step has the peak, the 110th the end; the 35th and the 60th are a quarter and half of the way there.
  CHECK(rate("linear", 59) == doctest::Approx(1.25));
  CHECK(rate("linear", 109) == doctest::Approx(0.5));
  CHECK(rate("cosine", 34) == doctest::Approx(0.5 + 1.5 * 0.5 * (1 + std::sqrt(0.5))));
  CHECK(rate("cosine", 59) == doctest::Approx(1.25));
  CHECK(rate("cosine", 109) == doctest::Approx(0.5));
  CHECK(rate("inverse-sqrt", 39) == doctest::Approx(1.0));
  // The last twenty of the hundred steps after the peak fall to zero.
  CHECK(rate("wsd", 89) == doctest::Approx(2.0));
  CHECK(rate("wsd", 99) == doctest::Approx(1.0));
  CHECK(rate("wsd", 109) == doctest::Approx(0.0));
  CHECK(Schedule(ScheduleChoice::from("wsd:warmup=10,decay=0.5,final=0.5"), 2, 110).rate(84) == doctest::Approx(1.5));
}

TEST_CASE(
    "schedules: defaults are a tenth of the peak and a warm-up of a twenty-fifth of the steps; no warm-up starts at "
    "the peak") {
  ScheduleChoice choice;
  const Schedule schedule(choice, 1, 1000);
  CHECK(schedule.rate(39) == doctest::Approx(1));
  CHECK(schedule.rate(38) < 1);
  CHECK(schedule.rate(999) == doctest::Approx(0.1));
  choice->warmup = {};
  CHECK(Schedule(choice, 1, 1000).rate(0) == doctest::Approx(1));
}

TEST_CASE("schedules: the last step has the final rate in the shortest runs, too; a single step has the peak") {
  ScheduleChoice choice;
  const auto rates = [&](Index warmup, Index steps) {
    choice->warmup = {warmup};
    std::vector<double> list;
    for (Index step = 0; step < steps; ++step) list.push_back(Schedule(choice, 1, steps).rate(step));
    return list;
  };
  for (const char* const falling : {"linear:final=0.25", "cosine:final=0.25"}) {
    choice = ScheduleChoice::from(falling);
    CHECK(rates(0, 1) == std::vector<double>{1});
    CHECK(rates(0, 2) == std::vector<double>{1, 0.25});
    CHECK(rates(0, 3) == std::vector<double>{1, 0.625, 0.25});
    CHECK(rates(1, 2) == std::vector<double>{1, 0.25});
    CHECK(rates(2, 3) == std::vector<double>{0.5, 1, 0.25});
    CHECK(rates(2, 2) == std::vector<double>{0.5, 1});
  }
}

TEST_CASE("warmup: steps or a percentage of them, as text") {
  CHECK(Warmup::from_text("2000") == Warmup{.steps = 2000});
  CHECK(Warmup::from_text("2000").of(10) == 2000);
  CHECK(Warmup::from_text("3%").of(1000) == 30);
  CHECK(Warmup::from_text("0.5%").of(1999) == 9);
  CHECK(Warmup::from_text("1%").of(100) == 1);  // 0.01 * 100 is a little more or less in binary
  CHECK(Warmup::from_text("7%").of(300) == 21);
  CHECK(Warmup::from_text("2.3%").of(3000) == 69);  // as doubles 2.3 * 3000 / 100 is less
  CHECK(Warmup::from_text("0.57%").of(10'000) == 57);
  for (const char* text : {"2000", "3%", "0.5%", "0", "100%"}) CHECK(Warmup::from_text(text).text() == text);
  for (const char* text : {"", "%", "-1", "-1%", "101%", "1.5", "3 %", "x", "3%%", "nan%"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(Warmup::from_text(text), UsageError);
  }
}
