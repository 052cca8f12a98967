// Rewrites the library's messages about fields (libcore/base/fields_in_messages.hpp) with the names of a tool's
// options.
#pragma once

#include <string>
#include <string_view>

#include "tools/cli/options.hpp"

namespace heddle::cli {

// The text with fields as the command line has them: "`kv_heads` = 3" becomes "--kv-heads 3", and the flag
// "`tie_embeddings` = false" becomes "--no-tie-embeddings". A setting that has no option of its own is "the key cell of
// --arch", and with a value "--arch NAME:cell=cho". Other fields stand without backquotes, with dashes: "kv-heads = 3".
std::string rendered(std::string_view text, const OptionTable& table);

// The table with its help texts rendered.
OptionTable with_rendered_help(const OptionTable& table);

}  // namespace heddle::cli
