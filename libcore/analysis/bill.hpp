// Cost of a training run on rented or owned machines: time, energy and money.
#pragma once

#include <optional>

namespace heddle::analysis {

// A chip computes; a device is what has a price, and holds one chip or several.
struct Machines {
  double chips = 0, devices = 0;  // exactly one is given, the other is 0
  double chips_per_device = 1;
  double flops_per_chip = 0;         // FLOP/s at most; 0: not known
  double utilization = 1;            // fraction of these that is reached
  double watts_per_chip = 0;         // 0: not known
  double price_per_device_hour = 0;  // 0: not known
};

// Either is given, the other is 0.
struct Work {
  double tokens = 0, days = 0;
  double flops_per_token = 0;  // training FLOPs; 0: not known
};

struct Bill {
  double chips = 0, devices = 0;             // whole devices are rented
  std::optional<double> flops_per_second{};  // all chips, at the given utilization
  std::optional<double> tokens{}, flops{};
  std::optional<double> hours{};
  std::optional<double> kilowatt_hours{};
  std::optional<double> price{};
};

// Computes every entry that the inputs determine. Throws UsageError where neither chips nor devices, or both, are
// given.
Bill bill_for(const Machines& machines, const Work& work);

}  // namespace heddle::analysis
