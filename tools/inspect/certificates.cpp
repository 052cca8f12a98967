#include "tools/inspect/certificates.hpp"

#include "formats/files/lines.hpp"
#include "formats/heddle/problems.hpp"
#include "formats/symbolic/certificate_file.hpp"
#include "tools/cli/streams.hpp"

namespace heddle {

std::vector<std::string> certificate_problems(const std::string& path) {
  cli::Input input(path);
  const std::string text = cli::read_all(input, std::size_t{256} << 20);
  formats::Problems problems;
  formats::for_each_line(text, path, [&](std::string_view line, const formats::Place& place) {
    if (line.find_first_not_of(" \t") == line.npos) return;
    problems.watch([&] {
      const formats::JsonDocument document{std::string(line), path, place.line};
      try {
        check_certificate(formats::read_certificate(formats::JsonNode(document)));
      } catch (const DataError& error) {
        throw DataError(concatenate(place, ": ", error.what()));
      }
    });
  });
  return problems.list();
}

}  // namespace heddle
