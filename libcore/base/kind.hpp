// Kinds: choices by name from a list, each with its own settings: "adamw:beta2=0.95", "rnn:cell=lstm".
//
// A kind is a struct with a visit() and a `kind_name`, derived from Common, which is what all kinds of the list have.
// KindOf<Common> holds one of them without knowing which, so that files, command lines and help serve all of them, and
// a new kind is a file and a line in its list:
//
//   struct Momentum : UpdateRule {
//     static constexpr const char* kind_name = "momentum";
//     double decay = 0.9;
//     template <class Self, class Visitor> static void visit(Self& self, Visitor& visitor);
//     std::unique_ptr<Optimizer> make(Parameters& parameters) const override;
//   };
#pragma once

#include <algorithm>
#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/base/field_text.hpp"

namespace heddle {

// Visits fields of any struct through one function for each type of value; enumerations and Textual values are texts.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void operator()(const Field& field, bool& value) = 0;
  virtual void operator()(const Field& field, Index& value) = 0;
  virtual void operator()(const Field& field, double& value) = 0;
  virtual void operator()(const Field& field, std::string& value) = 0;
};

using VisitFields = std::function<void(FieldVisitor&)>;

// A field and its value as text.
struct FieldText {
  Field field;
  std::string text;
};
std::vector<FieldText> field_texts(const VisitFields& visit);
// Sets the field of this name, with underscores or dashes, unless the program does. Returns whether there is one.
// Throws UsageError, "NAME: …", for a text that is no value of it.
bool set_field(const VisitFields& visit, std::string_view name, const std::string& text);

// "rnn:cell=lstm,layers=2" in its parts; a comma inside a value is written "\,".
struct KindText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> settings{};

  // Throws UsageError for malformed text and for a key that is given twice.
  static KindText parse(std::string_view text);
};

// A name of a list, for help and messages.
struct KindHelp {
  std::string name, summary;
  std::vector<FieldText> fields;  // its settings, with the defaults

  std::vector<std::string> keys() const;  // in option spelling: source-encoder
};

// Why the kind `name` of the list has no such key, and which it has: "decoder has no key 'cell'; it is a key of rnn,
// …".
std::string unknown_key(const std::vector<KindHelp>& kinds, const std::string& name, const std::string& key);

namespace detail {

// A visitor of any kind as a FieldVisitor.
template <class Visitor, bool constant>
class Erased final : public FieldVisitor {
 public:
  explicit Erased(Visitor& visitor) : visitor_(visitor) {}
  void operator()(const Field& field, bool& value) override { pass_on(field, value); }
  void operator()(const Field& field, Index& value) override { pass_on(field, value); }
  void operator()(const Field& field, double& value) override { pass_on(field, value); }
  void operator()(const Field& field, std::string& value) override { pass_on(field, value); }

 private:
  template <class T>
  void pass_on(const Field& field, T& value) {
    if constexpr (constant) {
      visitor_(field, std::as_const(value));
    } else {
      visitor_(field, value);
    }
  }
  Visitor& visitor_;
};

// The fields of a struct for a FieldVisitor.
struct PassOn {
  FieldVisitor& visitor;

  template <class T>
  void operator()(Field field, T& value) {
    if constexpr (NamedEnumeration<T>) {
      if (field.texts.empty()) field.texts = names_of<T>();
      pass_text(field, value);
    } else if constexpr (Textual<T>) {
      pass_text(field, value);
    } else {
      visitor(field, value);
    }
  }

 private:
  template <class T>
  void pass_text(const Field& field, T& value) {
    const std::string before = field_text(field, value);
    std::string text = before;
    visitor(field, text);
    if (text == before) return;
    try {
      value = parse_field<T>(field, text);
    } catch (const UsageError& error) {
      throw UsageError(field.option() + ": " + error.what());
    }
  }
};

}  // namespace detail

template <class Common>
struct KindList;

// The list of which Common is what its kinds have; specialised where the list is.
template <class Common>
const KindList<Common>& kinds();

template <class Common>
class KindOf {
 public:
  // The defaults of the first kind of the list.
  KindOf() : KindOf(kinds<Common>().all.front().defaults) {}
  template <class Own>
  requires std::derived_from<Own, Common> KindOf(const Own& own) : held_(std::make_unique<Holder<Own>>(own)) {}
  KindOf(const KindOf& other) : held_(other.held_->copy()) {}
  KindOf& operator=(const KindOf& other) {
    held_ = other.held_->copy();
    return *this;
  }

  // "adamw", or "rnn:cell=lstm,layers=2". Throws UsageError for an unknown name or key, and for other texts than the
  // key's.
  static KindOf from(std::string_view text);

  std::string name() const { return held_->name(); }
  const Common* operator->() const { return &held_->common(); }
  Common* operator->() { return &held_->common(); }

  // This kind; null if it is another one.
  template <class Own>
  const Own* as() const {
    return dynamic_cast<const Own*>(&held_->common());
  }
  template <class Own>
  Own* as() {
    return dynamic_cast<Own*>(&held_->common());
  }

  // Calls visitor(Field, value) for the kind's own fields.
  void visit_own(FieldVisitor& visitor) { held_->visit(visitor); }
  // The same, as texts.
  std::vector<FieldText> fields() const {
    KindOf copy(*this);
    return field_texts([&](FieldVisitor& visitor) { copy.visit_own(visitor); });
  }
  // Settings that users may set.
  std::vector<FieldText> settings() const {
    std::vector<FieldText> all = fields();
    std::erase_if(all, [](const FieldText& of) { return of.field.is_computed; });
    return all;
  }
  // Whether it has a setting of this name, with underscores or dashes.
  bool has(std::string_view key) const {
    const std::string wanted = Field(std::string(key), "").option();
    return std::ranges::any_of(settings(), [&](const FieldText& of) { return of.field.option() == wanted; });
  }
  // Throws UsageError for an unknown key, and "KEY: …" for a text that is no value of it.
  void set(const std::string& key, const std::string& text);

  // Throws UsageError for fields out of range and for inconsistent ones.
  void check() const { held_->check(); }

  // Whether name and fields are equal, to the last bit.
  bool operator==(const KindOf& other) const {
    const std::vector<FieldText> own = fields(), others = other.fields();
    return name() == other.name() &&
           std::ranges::equal(own, others, [](const auto& a, const auto& b) { return a.text == b.text; });
  }

  // `name`, which makes the rest what it says, then the kind's fields.
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visit_named(Field("name", kinds<Common>().category).one_of(kinds<Common>().names()), self, visitor);
  }

 protected:
  template <class Self, class Visitor>
  static void visit_named(const Field& field, Self& self, Visitor& visitor) {
    constexpr bool constant = std::is_const_v<Self>;
    detail::Erased<Visitor, constant> erased(visitor);
    std::string name = self.name();
    if constexpr (constant) {
      visitor(field, std::as_const(name));
      KindOf(self).visit_own(erased);
    } else {
      visitor(field, name);
      if (name != self.name()) static_cast<KindOf&>(self) = kinds<Common>().find(name).defaults;
      self.visit_own(erased);
    }
  }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual std::unique_ptr<Held> copy() const = 0;
    virtual std::string name() const = 0;
    virtual Common& common() = 0;
    virtual void visit(FieldVisitor& visitor) = 0;
    virtual void check() const = 0;
  };
  template <class Own>
  struct Holder final : Held {
    explicit Holder(const Own& own) : value(own) {}
    std::unique_ptr<Held> copy() const override { return std::make_unique<Holder>(value); }
    std::string name() const override { return Own::kind_name; }
    Common& common() override { return value; }
    void visit(FieldVisitor& visitor) override {
      detail::PassOn pass_on{visitor};
      Own::visit(value, pass_on);
    }
    void check() const override {
      check_ranges(value);
      value.validate();
    }
    Own value;
  };

  std::unique_ptr<Held> held_;
};

template <class Common>
struct Kind {
  std::string name, summary;
  KindOf<Common> defaults;
};

template <class Common>
struct KindList {
  std::string category;  // "optimizer"
  std::vector<Kind<Common>> all;

  // Throws UsageError, which lists the names, for an unknown one.
  const Kind<Common>& find(std::string_view name) const {
    for (const Kind<Common>& kind : all) {
      if (kind.name == name) return kind;
    }
    throw UsageError(concatenate(category, ": ", not_one_of(name, names())));
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Kind<Common>& kind : all) names.push_back(kind.name);
    return names;
  }
  std::vector<KindHelp> help() const {
    std::vector<KindHelp> help;
    for (const Kind<Common>& kind : all) help.push_back({kind.name, kind.summary, kind.defaults.settings()});
    return help;
  }
};

template <class Common>
void KindOf<Common>::set(const std::string& key, const std::string& text) {
  const bool is_known = set_field([this](FieldVisitor& visitor) { visit_own(visitor); }, key, text);
  if (!is_known) throw UsageError(unknown_key(kinds<Common>().help(), name(), key));
}

template <class Common>
KindOf<Common> KindOf<Common>::from(std::string_view text) {
  const KindText parts = KindText::parse(text);
  KindOf kind = kinds<Common>().find(parts.name).defaults;
  for (const auto& [key, value] : parts.settings) kind.set(key, value);
  return kind;
}

}  // namespace heddle
