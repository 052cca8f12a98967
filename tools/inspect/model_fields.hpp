// Fields of options that say which part of a model is looked at.
#pragma once

#include <string>

#include "libcore/analysis/embed.hpp"
#include "libcore/base/visit.hpp"

namespace heddle {

// The field of --base.
inline Field base_field() {
  return Field("base", "base model of an adapter, if it is not in the adapter's directory").not_empty().takes("MODEL");
}

// The field of --layer, which analysis::chosen_layers() resolves; `which` describes the layers that there are,
// `several` what happens to several of them.
inline Field layer_field(const std::string& which, const std::string& several = "are averaged") {
  return Field("layer", which + "; negative numbers count from the last; several, or all, " + several)
      .word(-1, "last")
      .word(analysis::all_layers, "all")
      .not_empty()
      .takes("N,...");
}

}  // namespace heddle
