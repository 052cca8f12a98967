# cmake -D OUTPUT=x.cpp -D FOLDER=pages -D "FILES=a.js;b/1.js;b/2.js" -P embed.cmake: writes the source of heddle::asset(),
# which has the content of each file by its name. Files of a subfolder are one asset, joined in the order of the list:
# those of b are b.js.
set(source [[
#include "tools/inspect/pages/asset.hpp"

#include "libcore/base/error.hpp"

namespace heddle {

std::string_view asset(std::string_view name) {
]])
foreach(path IN LISTS FILES)
  string(REGEX REPLACE "/.*[.]" "." name "${path}")
  file(READ "${FOLDER}/${path}" content)
  string(APPEND content_${name} "${content}")
  list(APPEND names "${name}")
endforeach()
list(REMOVE_DUPLICATES names)
foreach(name IN LISTS names)
  string(APPEND source "  if (name == \"${name}\") return R\"_asset_(${content_${name}})_asset_\";\n")
endforeach()
string(APPEND source [[
  throw Error("no asset of this name");
}

}  // namespace heddle
]])
file(WRITE "${OUTPUT}" "${source}")
