// What cmake/precompiled.hpp is to libcore, to formats and tools.
#pragma once

#include <boost/archive/detail/interface_iarchive.hpp>
#include <boost/archive/detail/interface_oarchive.hpp>
#include <boost/archive/detail/iserializer.hpp>
#include <boost/archive/detail/oserializer.hpp>
#include <boost/serialization/level.hpp>
#include <boost/serialization/nvp.hpp>
#include <boost/serialization/tracking.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "precompiled.hpp"
