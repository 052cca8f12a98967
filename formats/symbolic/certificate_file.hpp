// Certificates of Lyapunov functions as JSON files.
#pragma once

#include <string>

#include "formats/json/node.hpp"
#include "libcore/symbolic/certificate.hpp"

namespace heddle::formats {

std::string certificate_json(const symbolic::Certificate& certificate);
void write_certificate(const std::string& path, const symbolic::Certificate& certificate);
// Throws DataError for JSON of another form. What it claims is not checked (symbolic::check_certificate).
symbolic::Certificate read_certificate(const JsonNode& root);

}  // namespace heddle::formats
