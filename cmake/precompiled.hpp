// Standard headers that much of the code includes, compiled once for all of it. A file includes what it uses
// nevertheless: builds with CMAKE_DISABLE_PRECOMPILE_HEADERS, such as the sanitizers' of .ci/run, find what it forgot.
// Not <iomanip>, nor <filesystem>, which has it: quoted(string) would then be that of std, which is the better match.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
