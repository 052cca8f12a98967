#include "tools/inspect/files/weight_table.hpp"

#include <map>
#include <tuple>
#include <vector>

#include "libcore/base/strings.hpp"
#include "tools/cli/text_table.hpp"

namespace heddle {

namespace {

// decoder/3/norm/gain is "decoder/", "3", "/norm/gain"; a name without a number is all in the first part.
struct NumberedName {
  std::string front, number, back;
};

struct Row {
  NumberedName first;
  std::string last_number;
  std::string shape, type;
  Index tensors = 0, parameters = 0;

  std::string name() const {
    const std::string range = tensors > 1 ? first.number + ".." + last_number : first.number;
    return first.front + range + first.back;
  }
};

bool is_number(const std::string& part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
}

NumberedName take_apart(const std::string& name) {
  std::size_t begin = 0;
  for (const std::string& part : split(name, '/')) {
    if (is_number(part)) return {name.substr(0, begin), part, name.substr(begin + part.size())};
    begin += part.size() + 1;
  }
  return {name, "", ""};
}

// Whether `next` numbers the layer after the one that `last` numbers.
bool follows(const std::string& last, const std::string& next) {
  constexpr std::size_t most_digits = 9;
  return last.size() <= most_digits && next.size() <= most_digits && std::stol(next) == std::stol(last) + 1;
}

std::vector<Row> rows_of(std::span<const formats::TensorInfo> weights) {
  std::vector<Row> rows;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> places;
  for (const formats::TensorInfo& tensor : weights) {
    const NumberedName name = take_apart(tensor.name);
    const std::string shape = concatenate(tensor.shape), type(name_of(tensor.dtype));
    std::size_t& place = places.try_emplace({name.front, name.back, shape, type}, rows.size()).first->second;
    const bool continues =
        place < rows.size() && is_number(name.number) && follows(rows[place].last_number, name.number);
    if (!continues) {
      place = rows.size();
      rows.push_back({name, "", shape, type});
    }
    Row& row = rows[place];
    row.last_number = name.number;
    ++row.tensors;
    row.parameters += tensor.shape.size();
  }
  return rows;
}

}  // namespace

std::string weight_table(std::span<const formats::TensorInfo> weights) {
  std::vector<std::vector<std::string>> table;
  Index parameters = 0;
  for (const Row& row : rows_of(weights)) {
    table.push_back({row.name(), row.shape, row.type, grouped(row.parameters)});
    parameters += row.parameters;
  }
  table.push_back({grouped(static_cast<Index>(weights.size())) + " tensors", "", "", grouped(parameters)});
  return text_table(table, "lllr");
}

}  // namespace heddle
