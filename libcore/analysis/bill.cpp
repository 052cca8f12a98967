#include "libcore/analysis/bill.hpp"

#include <cmath>

#include "libcore/base/error.hpp"

namespace heddle::analysis {

namespace {

constexpr double seconds_per_hour = 3600, hours_per_day = 24;

// The training of these tokens, or what these days suffice for.
void add_run(const Work& work, Bill& bill) {
  if (work.days > 0) bill.hours = hours_per_day * work.days;
  if (work.tokens > 0) bill.tokens = work.tokens;
  if (work.flops_per_token <= 0) return;
  if (bill.tokens) bill.flops = *bill.tokens * work.flops_per_token;
  if (!bill.flops_per_second) return;
  if (bill.hours) {
    bill.flops = *bill.hours * seconds_per_hour * *bill.flops_per_second;
    bill.tokens = *bill.flops / work.flops_per_token;
  } else if (bill.flops) {
    bill.hours = *bill.flops / *bill.flops_per_second / seconds_per_hour;
  }
}

}  // namespace

Bill bill_for(const Machines& machines, const Work& work) {
  check<UsageError>((machines.chips > 0) != (machines.devices > 0),
                    "give either the number of chips or the number of devices");
  check<UsageError>(work.tokens == 0 || work.days == 0, "give either tokens or days");
  Bill bill;
  bill.devices = machines.devices > 0 ? machines.devices : std::ceil(machines.chips / machines.chips_per_device);
  bill.chips = machines.chips > 0 ? machines.chips : machines.devices * machines.chips_per_device;
  if (machines.flops_per_chip > 0) bill.flops_per_second = bill.chips * machines.flops_per_chip * machines.utilization;
  add_run(work, bill);
  if (!bill.hours) return bill;
  if (machines.watts_per_chip > 0) bill.kilowatt_hours = bill.chips * machines.watts_per_chip * *bill.hours / 1000;
  if (machines.price_per_device_hour > 0) bill.price = bill.devices * machines.price_per_device_hour * *bill.hours;
  return bill;
}

}  // namespace heddle::analysis
