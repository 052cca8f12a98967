// Where results go.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

namespace heddle::cli {

// Throws UsageError where an output is the same file as an input, under whatever name, which writing would destroy, or
// as another output. Empty paths, "-" and inputs that do not exist are nobody's.
void keep_inputs(const std::vector<std::string>& inputs, std::initializer_list<std::string> outputs);

}  // namespace heddle::cli
