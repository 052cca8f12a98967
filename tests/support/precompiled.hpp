// What cmake/precompiled.hpp is to the sources, to the tests.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "../../cmake/precompiled.hpp"
