// Graphs files: everything that training, convert and inspect read of them.
#include "formats/heddle/graphs_file.hpp"

#include <algorithm>

#include "fuzz/target.hpp"

namespace heddle::fuzz {

void graphs_file(std::string_view input) {
  const std::string path = write_input("graphs.h5", input);
  read_or_refuse([&] {
    const formats::GraphsFile file(path);
    constexpr Index most_graphs = 100;
    for (Index i = 0; i < std::min(file.size(), most_graphs); ++i) {
      read_or_refuse([&] {
        const data::GraphRecord record = file.record(i);
        expect(file.graph(i) == record.graph, "another graph");
        expect(file.values(i).size() == record.targets.size(), "other labels");
        expect(file.group(i) == record.group, "another group");
      });
    }
    file.verify();
  });
}

}  // namespace heddle::fuzz
