#include "tools/training/model_options.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <variant>

#include "tools/training/resume.hpp"

namespace heddle {

namespace {

constexpr const char* change_advice = " now; use the previous value, or --restart to start over";

using Value = std::variant<bool, Index, double, std::string>;

// Calls visit(field, value) for the fields that an architecture has, whatever their types.
template <class Visit>
void for_each_field(models::ModelConfig& config, const Visit& visit) {
  models::detail::Erased<const Visit, false> erased(visit);
  config.visit_own(erased);
}

std::map<std::string, Value> values_of(models::ModelConfig& config) {
  std::map<std::string, Value> values;
  for_each_field(config, [&](const Field& field, auto& value) { values.emplace(field.name, value); });
  return values;
}

// The first architecture that has a field.
std::map<std::string, Value> values_of(std::vector<models::ModelConfig>& configs) {
  std::map<std::string, Value> values;
  for (models::ModelConfig& config : configs) values.merge(values_of(config));
  return values;
}

// "; rope with --arch encoder": where an architecture's default is not that of the first one.
std::string other_defaults(const std::string& name) {
  std::optional<std::string> first;
  std::map<std::string, std::vector<std::string>> others;
  for (const models::Architecture& entry : models::architectures()) {
    models::ModelConfig defaults = entry.defaults;
    for_each_field(defaults, [&](const Field& field, const auto& value) {
      if (field.name != name) return;
      const std::string text = text_of_value(field, value);
      if (!first) first = text;
      if (text != *first) others[text].push_back(entry.name);
    });
  }
  std::string note;
  for (const auto& [text, architectures] : others) {
    note += concatenate("; ", text, " with --arch ", join(architectures, " or "));
  }
  return note;
}

template <class T>
const T& as(const std::map<std::string, Value>& values, const Field& field) {
  return std::get<T>(values.at(field.name));
}

}  // namespace

ModelOptions::ModelOptions() : arch_(models::architectures().front().name) {
  for (const models::Architecture& entry : models::architectures()) configs_.push_back(entry.defaults);
}

Field ModelOptions::qualified(Field field) const {
  std::vector<std::string> having;
  for (models::ModelConfig& config : configs_) {
    for_each_field(config, [&](const Field& own, auto&) {
      if (own.name != field.name) return;
      having.push_back("arch=" + config.arch());
      // A number may be a word to some of them only.
      for (const auto& word : own.words) {
        if (field.word_for(word.first) == nullptr) field.words.push_back(word);
      }
    });
  }
  field.help += other_defaults(field.name);
  if (having.size() < configs_.size() && field.needed.empty()) return std::move(field).needs(having);
  return field;
}

models::ModelConfig ModelOptions::chosen(const cli::Arguments& arguments, const models::ModelConfig* base) const {
  check<UsageError>(base == nullptr || !arguments.given("arch") || arch_ == base->arch(), "--arch ", arch_,
                    ": the preset is of the architecture ", base == nullptr ? "" : base->arch(),
                    "; leave out --arch or --preset");
  models::ModelConfig config = base != nullptr ? *base : models::ModelConfig::of(arch_);
  const auto values = values_of(configs_);
  for_each_field(config, [&]<class T>(const Field& field, T& value) {
    if (arguments.given(field.name)) value = as<T>(values, field);
  });
  return config;
}

std::string ModelOptions::text(const cli::Arguments& arguments) const {
  models::ModelConfig config = chosen(arguments, nullptr);
  std::string text = "arch " + config.arch();
  for_each_field(config, [&](const Field& field, const auto& value) {
    text += concatenate("\n", field.option(), " ", text_of_value(field, value));
  });
  return text;
}

void ModelOptions::check_unchanged(const std::string& now, const std::string& then, const std::string& path) {
  const std::vector<std::string> new_lines = split(now, '\n'), old_lines = split(then, '\n');
  for (std::size_t i = 0; i < std::min(new_lines.size(), old_lines.size()); ++i) {
    if (new_lines[i] == old_lines[i]) continue;
    const auto value = [](const std::string& line) {
      return line.empty() ? "that of --from" : line.substr(line.find(' ') + 1);
    };
    const std::string& named = new_lines[i].empty() ? old_lines[i] : new_lines[i];
    throw UsageError(concatenate(path, ": --", named.substr(0, named.find(' ')), " was ", value(old_lines[i]),
                                 " and is ", value(new_lines[i]), change_advice));
  }
}

void ModelOptions::show(models::ModelConfig config) {
  arch_ = config.arch();
  const auto shown = values_of(config);
  for (models::ModelConfig& own : configs_) {
    for_each_field(own, [&]<class T>(const Field& field, T& value) {
      if (shown.contains(field.name)) value = as<T>(shown, field);
    });
  }
}

void ModelOptions::check_agrees(const models::ModelConfig& config, const cli::Arguments& arguments,
                                const std::string& reason, const std::set<std::string>& except) const {
  check<UsageError>(!arguments.given("arch") || arch_ == config.arch(), "--arch ", reason);
  const auto values = values_of(configs_);
  models::ModelConfig own = config;
  const auto has = values_of(own);
  for (const auto& [name, value] : values) {
    if (!arguments.given(name) || except.contains(name)) continue;
    check<UsageError>(has.contains(name), "--", Field(name, "").option(), " is not for --arch ", config.arch());
    check<UsageError>(has.at(name) == value, "--", Field(name, "").option(), " ", reason);
  }
}

void ModelOptions::check_unchanged(models::ModelConfig now, models::ModelConfig then, const std::string& path) {
  check<UsageError>(now.arch() == then.arch(), path, ": --arch was ", then.arch(), " and is ", now.arch(),
                    change_advice);
  const auto before = values_of(then);
  for_each_field(now, [&]<class T>(const Field& field, const T& value) {
    const T& old = as<T>(before, field);
    check<UsageError>(value == old, path, ": --", field.option(), " was ", text_of_value(field, old), " and is ",
                      text_of_value(field, value), change_advice);
  });
}

}  // namespace heddle
