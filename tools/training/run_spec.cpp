#include "tools/training/run_spec.hpp"

#include <algorithm>

namespace heddle {

namespace {

// A value of a run, for comparisons: a kind, or a field; `of` is the section.
struct Entry {
  std::string of, name, text;
  bool may_change;
};

class EntryCollector {
 public:
  std::vector<Entry> entries;

  template <class T>
  void operator()(const Field& field, const T& value) {
    if constexpr (requires { value.fields(); }) {
      const std::string of = field.name == "model" ? "arch" : field.name;
      entries.push_back({of, "", value.name(), false});
      for (const FieldText& own : value.settings()) {
        if (own.field.is_content) continue;  // compared as an input
        entries.push_back({of, own.field.name, own.text, own.field.may_change});
      }
    } else if constexpr (Visitable<T>) {
      visit_fields(value, *this);
    } else {
      entries.push_back({"", field.name, field_text(field, value), field.may_change});
    }
  }
};

// The task's come first, since some of the others follow from them: a dropout, what is selected.
std::vector<Entry> entries_of(const RunSpec& spec) {
  EntryCollector collector;
  RunSpec others = spec;
  others.tuning.reset();
  if (spec.tuning) visit_fields(*spec.tuning, collector);
  visit_fields(std::as_const(others), collector);
  return std::move(collector.entries);
}

std::string shown(const std::string& text) {
  return text.empty() ? "not given" : text;
}

}  // namespace

training::TrainingConfig RunSpec::config(PrecisionChoice computed, Index checkpoint_every) const {
  training::TrainingConfig config{optimizer, schedule, training, static_cast<std::uint64_t>(seed), checkpoint_every};
  config.training.precision = computed;
  return config;
}

std::vector<Difference> differences(const RunSpec& now, const RunSpec& then) {
  const std::vector<Entry> before = entries_of(then);
  std::vector<Difference> differences;
  std::string changed_kind = "none";
  for (const Entry& entry : entries_of(now)) {
    const auto old = std::ranges::find_if(
        before, [&](const Entry& other) { return other.of == entry.of && other.name == entry.name; });
    const std::string text = old == before.end() ? "" : old->text;
    if (text == entry.text || entry.of == changed_kind) continue;
    if (!entry.of.empty() && entry.name.empty()) changed_kind = entry.of;
    const std::string& field = entry.name.empty() ? entry.of : entry.name;
    differences.push_back({field, shown(text), shown(entry.text), entry.may_change});
  }
  return differences;
}

std::vector<std::pair<std::string, std::string>> described(const RunSpec& spec) {
  std::vector<std::pair<std::string, std::string>> fields;
  for (const Entry& entry : entries_of(spec)) {
    const std::string& field = entry.name.empty() ? entry.of : entry.name;
    fields.emplace_back(concatenate("`", field, "`"), entry.text);
  }
  return fields;
}

}  // namespace heddle
