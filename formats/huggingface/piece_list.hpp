// A vocabulary as one JSON object from pieces to ids, vocab.json.
#pragma once

#include <string>
#include <vector>

namespace heddle::formats {

// The pieces by their ids, which are unique and start at 0 without gaps. Throws DataError with the file's name.
std::vector<std::string> read_piece_list(const std::string& path);

}  // namespace heddle::formats
