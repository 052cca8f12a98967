# cmake -D OUTPUT=x.cpp -D KIND=map -D "FILES=map.css;map/1.js;map/2.js" -P embed.cmake: writes the source of
# heddle::map_parts(), which has the texts of the files .css and of those .js, each joined in the order of the list.
foreach(path IN LISTS FILES)
  file(READ "${path}" content)
  get_filename_component(ending "${path}" LAST_EXT)
  string(APPEND content_${ending} "${content}")
endforeach()
file(WRITE "${OUTPUT}" "#include \"tools/drawing/pages/page.hpp\"

namespace heddle {

PageParts ${KIND}_parts() {
  return {R\"_style_(${content_.css})_style_\", R\"_script_(${content_.js})_script_\"};
}

}  // namespace heddle
")
