#include "tools/tokenize/pair_lines.hpp"

#include <algorithm>

#include "libcore/base/strings.hpp"

namespace heddle {

namespace {

constexpr double megabyte = 1e6;

}  // namespace

PairLines::File::File(const cli::Arguments& arguments, const std::string& name, bool warn)
    : path_(name), input_(warn ? arguments.open_text(name) : cli::Input(name)) {}

std::optional<std::string_view> PairLines::File::next() {
  const auto line = lines_.next();
  if (!line) return std::nullopt;
  checksum_.add(line->text.data(), line->text.size());
  checksum_.add(line->ending.data(), line->ending.size());
  return lines_.number() == 1 ? without_byte_order_mark(line->text) : line->text;
}

formats::ProvenanceInput PairLines::File::as_input(const std::string& role) const {
  return {role, formats::readable_path(path_), input_.position(), checksum_.text()};
}

PairLines::PairLines(const cli::Arguments& arguments, const std::vector<std::string>& names, bool warn)
    : first_(arguments, names.front(), warn), progress_(arguments, "MB") {
  if (names.size() > 1) second_.emplace(arguments, names[1], warn);
  const auto size = first_.input().size(), more = second_ ? second_->input().size() : 0;
  if (size && more) total_ = static_cast<double>(*size + *more) / megabyte;
}

std::optional<PairLine> PairLines::next() {
  show_progress();
  const auto line = first_.next();
  if (!second_) return line ? std::optional(split(*line)) : std::nullopt;
  const auto other = second_->next();
  if (line && other) {
    return PairLine{{*line, {&first_.name(), {first_.line(), 1}}}, {*other, {&second_->name(), {second_->line(), 1}}}};
  }
  if (!line && !other) return std::nullopt;
  const File &longer = line ? first_ : *second_, &shorter = line ? *second_ : first_;
  throw DataError(concatenate(longer.name(), ": has more lines than ", shorter.name(), ", which ends after line ",
                              shorter.line(), "; line N of one must belong to line N of the other"));
}

PairLine PairLines::split(std::string_view line) const {
  const auto tabs = std::ranges::count(line, '\t');
  const PairPlace place{&first_.name(), {first_.line(), 1}};
  if (tabs != 1) {
    return {{"", place},
            {"", place},
            concatenate(place.where(), ": has ", tabs, " tabs; a line must be SOURCE, one tab and TARGET")};
  }
  const std::size_t tab = line.find('\t');
  return {{line.substr(0, tab), place},
          {line.substr(tab + 1), {&first_.name(), {first_.line(), static_cast<Index>(tab) + 2}}}};
}

void PairLines::show_progress() {
  if (progress_.due()) progress_.update(static_cast<double>(bytes()) / megabyte, total_);
}

Index PairLines::bytes() const {
  return first_.input().position() + (second_ ? second_->input().position() : 0);
}

std::string PairLines::shown_names() const {
  return second_ ? first_.name() + " and " + second_->name() : first_.name();
}

void PairLines::add_inputs(formats::Provenance& provenance, Index left_out) const {
  const std::string note = left_out == 0 ? "" : concatenate(", ", counted(left_out, "pair", "pairs"), " left out");
  formats::add_input(provenance, first_.as_input((second_ ? "source" : "pairs") + note));
  if (second_) formats::add_input(provenance, second_->as_input("target" + note));
}

}  // namespace heddle
