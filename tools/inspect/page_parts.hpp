// The pages of inspect, in the folders pages/ of its rooms.
#pragma once

#include "tools/drawing/pages/page.hpp"

namespace heddle {

PageParts align_parts();
PageParts attention_parts();
PageParts explain_parts();
PageParts graph_parts();
PageParts history_parts();
PageParts map_parts();
PageParts tokens_parts();

}  // namespace heddle
