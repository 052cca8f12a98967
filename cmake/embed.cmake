# cmake -D OUTPUT=x.cpp -D "FILES=a;b" -P embed.cmake: writes the source of heddle::asset(), which has the content of each
# file by its name.
set(source [[
#include "tools/inspect/pages/asset.hpp"

#include "heddle/base/error.hpp"

namespace heddle {

std::string_view asset(std::string_view name) {
]])
foreach(path IN LISTS FILES)
  get_filename_component(name "${path}" NAME)
  file(READ "${path}" content)
  string(APPEND source "  if (name == \"${name}\") return R\"_asset_(${content})_asset_\";\n")
endforeach()
string(APPEND source [[
  throw Error("no asset of this name");
}

}  // namespace heddle
]])
file(WRITE "${OUTPUT}" "${source}")
