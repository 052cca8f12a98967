// Precompiled header of the tests, like cmake/precompiled.hpp of the sources.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "../../cmake/precompiled.hpp"
