#include "libcore/analysis/bill.hpp"

#include <doctest/doctest.h>

#include "libcore/base/error.hpp"

using namespace heddle;
using namespace heddle::analysis;

TEST_CASE("bill: what XLNet cost, by the chips of a device (SPEC 7.8)") {
  const auto price = [](double chips_per_device, double days) {
    const Bill bill =
        bill_for({.chips = 512, .chips_per_device = chips_per_device, .price_per_device_hour = 8}, {.days = days});
    CHECK(bill.hours == 24 * days);
    return *bill.price;
  };
  CHECK(price(8, 2.5) == 30720);
  CHECK(price(4, 2.5) == 61440);
  CHECK(price(8, 5.5) == 67584);
  CHECK(price(4, 5.5) == 135168);
}

TEST_CASE("bill: devices and chips say the same, and whole devices are paid for") {
  const Bill devices = bill_for({.devices = 3, .chips_per_device = 4, .price_per_device_hour = 2}, {.days = 0.5});
  CHECK(devices.chips == 12);
  CHECK(*devices.price == 3 * 2 * 12);
  const Bill chips = bill_for({.chips = 9, .chips_per_device = 4, .price_per_device_hour = 2}, {.days = 0.5});
  CHECK(chips.devices == 3);
  CHECK(*chips.price == *devices.price);
}

TEST_CASE("bill: tokens take hours, and days are enough for tokens") {
  const Machines machines{.chips = 10, .flops_per_chip = 1e12, .utilization = 0.5, .watts_per_chip = 300};
  const Bill of_tokens = bill_for(machines, {.tokens = 36e9, .flops_per_token = 1000});
  CHECK(*of_tokens.flops_per_second == 5e12);
  CHECK(*of_tokens.flops == 36e12);
  CHECK(*of_tokens.hours == doctest::Approx(7.2 / 3600));
  CHECK(*of_tokens.kilowatt_hours == doctest::Approx(10 * 0.3 * 7.2 / 3600));
  CHECK(!of_tokens.price);
  const Bill of_days = bill_for(machines, {.days = 2, .flops_per_token = 1000});
  CHECK(*of_days.tokens == doctest::Approx(2 * 86400 * 5e12 / 1000));
  CHECK(*of_days.flops == doctest::Approx(2 * 86400 * 5e12));
}

TEST_CASE("bill: what does not follow is left out, and contradictions are refused") {
  const Bill bill = bill_for({.chips = 8, .watts_per_chip = 100}, {.tokens = 1e9, .flops_per_token = 1e6});
  CHECK(*bill.flops == 1e15);
  CHECK(!bill.hours);  // the speed of the chips is not known
  CHECK(!bill.kilowatt_hours);
  CHECK_THROWS_AS(bill_for({}, {.days = 1}), UsageError);
  CHECK_THROWS_AS(bill_for({.chips = 8, .devices = 1}, {.days = 1}), UsageError);
  CHECK_THROWS_AS(bill_for({.chips = 8}, {.tokens = 1, .days = 1}), UsageError);
}
