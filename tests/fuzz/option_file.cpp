// INI files of options.
#include "fuzz/target.hpp"
#include "tools/cli/config_file.hpp"

void heddle::fuzz::option_file(std::string_view input) {
  read_or_refuse([&] {
    for (const cli::ConfigLine& setting : cli::parse_config(input, "x")) {
      expect(!setting.name.empty() && setting.line > 0, "a setting of nothing");
    }
  });
}
