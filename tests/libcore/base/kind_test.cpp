// Kinds with settings: their text, their fields, and what is wrong in either.
#include "libcore/base/kind.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace heddle;

namespace kind_test {

enum class Grain { fine, coarse };

// "3 of 4"
struct Ratio {
  Index part = 1, whole = 2;
  std::string text() const { return concatenate(part, " of ", whole); }
  static Ratio from_text(std::string_view text) {
    const std::size_t of = text.find(" of ");
    check<UsageError>(of != text.npos, "'", text, "' is no ratio, such as 1 of 2");
    return {parse_index(text.substr(0, of)), parse_index(text.substr(of + 4))};
  }
};

// Base of all kinds of the list.
struct Tool {
  Index turns = 3;

  virtual ~Tool() = default;
  virtual void validate() const {}
  virtual double cost() const = 0;

  static void visit(auto& self, auto& visitor) {
    visitor(Field("turns", "how often it is used").range(1, 1000).word(0, "none"), self.turns);
  }
};

}  // namespace kind_test

template <>
struct heddle::Names<kind_test::Grain> {
  static constexpr std::pair<kind_test::Grain, std::string_view> list[] = {{kind_test::Grain::fine, "fine"},
                                                                           {kind_test::Grain::coarse, "coarse"}};
};

namespace heddle {

template <>
const KindList<kind_test::Tool>& kinds();

}  // namespace heddle

namespace kind_test {

struct Saw final : Tool {
  static constexpr const char* kind_name = "saw";
  double tooth_width = 0.1;
  bool is_new = true;
  std::string maker = "a, b";
  Index cuts = 0;

  double cost() const override { return tooth_width; }

  static void visit(auto& self, auto& visitor) {
    visitor(Field("tooth_width", "width of a tooth").above(0, 10), self.tooth_width);
    visitor(Field("is_new", "never used"), self.is_new);
    visitor(Field("maker", "who made it"), self.maker);
    visitor(Field("cuts", "how much it has cut").computed(), self.cuts);
    Tool::visit(self, visitor);
  }
};

struct Sander final : Tool {
  static constexpr const char* kind_name = "sander";
  Grain grain = Grain::coarse;
  Ratio ratio;
  Sander() { turns = 7; }

  double cost() const override { return 5; }
  void validate() const override {
    check<UsageError>(grain == Grain::coarse || turns > 1, "turns = ", turns, " is too few for grain = fine");
  }

  static void visit(auto& self, auto& visitor) {
    visitor(Field("grain", "of its paper"), self.grain);
    visitor(Field("ratio", "of its gear"), self.ratio);
    Tool::visit(self, visitor);
  }
};

struct Pencil final : Tool {
  static constexpr const char* kind_name = "pencil";
  double cost() const override { return 0; }
  static void visit(auto&, auto&) {}
};

using ToolKind = KindOf<Tool>;

// The kind as text, as a user would write all of it.
std::string text_of(const ToolKind& kind) {
  std::string text = kind.name(), separator = ":";
  for (const FieldText& field : kind.settings()) {
    text += separator + field.field.option() + "=" + replaced(field.text, ",", "\\,");
    separator = ",";
  }
  return text;
}

}  // namespace kind_test

namespace heddle {

template <>
const KindList<kind_test::Tool>& kinds() {
  static const KindList<kind_test::Tool> list{"tool",
                                              {{"saw", "cuts", kind_test::Saw()},
                                               {"sander", "smooths", kind_test::Sander()},
                                               {"pencil", "marks", kind_test::Pencil()}}};
  return list;
}

}  // namespace heddle

using namespace kind_test;

namespace {

using KindSettings = std::vector<std::pair<std::string, std::string>>;

// A kind's view of a file: the values of fields by name, as text.
struct Stored {
  std::vector<std::pair<std::string, std::string>> fields;

  template <class T>
  void operator()(const Field& field, const T& value) {
    fields.emplace_back(field.name, field_text(field, value));
  }
};

struct Restoring {
  const Stored& stored;
  std::vector<std::string> asked{};

  template <class T>
  void operator()(const Field& field, T& value) {
    asked.push_back(field.name);
    for (const auto& [name, text] : stored.fields) {
      if (name == field.name) value = parse_field<T>(field, text);
    }
  }
};

}  // namespace

TEST_CASE("kind text: a name, settings in their order, commas behind a backslash") {
  CHECK(KindText::parse("saw").name == "saw");
  CHECK(KindText::parse("saw").settings.empty());
  const KindText parts = KindText::parse("rnn:cell=lstm,attention=linear:a=1\\,b=x=2,empty=,path=a\\b");
  CHECK(parts.name == "rnn");
  CHECK(parts.settings ==
        KindSettings{{"cell", "lstm"}, {"attention", "linear:a=1,b=x=2"}, {"empty", ""}, {"path", "a\\b"}});
}

TEST_CASE("kind text: what is no setting is refused with the way to write one, and so is a key that is given twice") {
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {"saw:", ""}, {"saw:turns", "turns"}, {"saw:turns=1,", ""}, {"saw:=3", "=3"}, {"saw:maker=a,b", "b"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(KindText::parse(text),
                         concatenate("'", text, "': '", part,
                                     "' is not a setting; write NAME:KEY=VALUE,…, and a comma inside a value as \\,")
                             .c_str(),
                         UsageError);
  }
  CHECK_THROWS_WITH_AS(KindText::parse("saw:turns=1,maker=x,turns=1"),
                       "'saw:turns=1,maker=x,turns=1': turns is given twice", UsageError);
  CHECK_THROWS_WITH_AS(KindText::parse("saw:tooth-width=1,tooth_width=2"),
                       "'saw:tooth-width=1,tooth_width=2': tooth_width is given twice", UsageError);
}

TEST_CASE("kind: from a name with settings, by keys with dashes or underscores") {
  CHECK(ToolKind().name() == "saw");
  const ToolKind saw = ToolKind::from("saw:tooth-width=0.25,is_new=no,maker=x\\,y\\,,turns=none");
  REQUIRE(saw.as<Saw>() != nullptr);
  CHECK(saw.as<Sander>() == nullptr);
  CHECK(saw.as<Saw>()->tooth_width == 0.25);
  CHECK_FALSE(saw.as<Saw>()->is_new);
  CHECK(saw.as<Saw>()->maker == "x,y,");
  CHECK(saw->turns == 0);
  CHECK(saw->cost() == 0.25);
  const ToolKind sander = ToolKind::from("sander:ratio=3 of 4,grain=fine");
  CHECK(sander.as<Sander>()->ratio.whole == 4);
  CHECK(sander.as<Sander>()->grain == Grain::fine);
  CHECK(sander->turns == 7);  // its own default
  CHECK(ToolKind::from("saw")->turns == 3);
  CHECK(kinds<Tool>().find("saw").defaults == ToolKind());
  CHECK(saw.has("tooth_width"));
  CHECK(saw.has("tooth-width"));
  CHECK_FALSE(saw.has("grain"));
}

TEST_CASE("kind: unknown names and keys are refused with those that there are, and whose a key is") {
  CHECK_THROWS_WITH_AS(ToolKind::from("sow"), "tool: 'sow' is not one of saw, sander, pencil; did you mean 'saw'?",
                       UsageError);
  CHECK_THROWS_WITH_AS(ToolKind::from("saw:size=3"), "saw has no key 'size'; it has tooth-width, is-new, maker, turns",
                       UsageError);
  CHECK_THROWS_WITH_AS(ToolKind::from("saw:tooth_widht=3"),
                       "saw has no key 'tooth-widht'; it has tooth-width, is-new, maker, turns; did you mean "
                       "'tooth-width'?",
                       UsageError);
  CHECK_THROWS_WITH_AS(ToolKind::from("saw:grain=fine"),
                       "saw has no key 'grain', which is one of sander; it has tooth-width, is-new, maker, turns",
                       UsageError);
  CHECK_THROWS_WITH_AS(ToolKind::from("pencil:turns=1"),
                       "pencil has no key 'turns', which is one of saw, sander; it has none", UsageError);
}

TEST_CASE("kind: a text that is no value of its key is refused with the key") {
  for (const auto& [text, message] : std::vector<std::pair<const char*, const char*>>{
           {"saw:turns=x", "turns: 'x' is not a whole number; it must be from 1 to 1000, or none"},
           {"saw:turns=0", "turns: 0 is out of range; it must be from 1 to 1000, or none"},
           {"saw:tooth_width=0", "tooth-width: 0 is out of range; it must be more than 0 and at most 10"},
           {"saw:is-new=perhaps", "is-new: 'perhaps' is not true or false"},
           {"sander:grain=fime", "grain: 'fime' is not one of fine, coarse; did you mean 'fine'?"},
           {"sander:ratio=half", "ratio: 'half' is no ratio, such as 1 of 2"}}) {
    CAPTURE(text);
    CHECK_THROWS_WITH_AS(ToolKind::from(text), message, UsageError);
  }
  ToolKind saw;
  CHECK_THROWS_AS(saw.set("turns", "x"), UsageError);
  CHECK(saw == ToolKind());
}

TEST_CASE("kind: what is inconsistent or out of range is found by check()") {
  CHECK_NOTHROW(ToolKind::from("sander:grain=fine").check());
  CHECK_THROWS_WITH_AS(ToolKind::from("sander:grain=fine,turns=1").check(), "turns = 1 is too few for grain = fine",
                       UsageError);
  ToolKind saw;
  saw->turns = 1001;
  CHECK_THROWS_WITH_AS(saw.check(), "`turns` = 1001 must be from 1 to 1000, or none", UsageError);
}

TEST_CASE("kind: copies are their own") {
  ToolKind saw = ToolKind::from("saw:turns=4"), copy = saw, assigned;
  assigned = saw;
  copy->turns = 5;
  assigned.as<Saw>()->maker = "other";
  CHECK(saw->turns == 4);
  CHECK(saw.as<Saw>()->maker == "a, b");
  CHECK(assigned->turns == 4);
  assigned = ToolKind(Sander());
  CHECK(assigned.name() == "sander");
}

TEST_CASE("kind: equal are those of one name and the same fields, to the last bit") {
  CHECK(ToolKind::from("saw") == ToolKind(Saw()));
  CHECK_FALSE(ToolKind::from("saw") == ToolKind::from("sander"));
  CHECK_FALSE(ToolKind::from("saw:is-new=false") == ToolKind());
  ToolKind one, other;
  for (const double width : {0.1, 1.0 / 3, 1e-300, 5e-324, 0.1 + 0.2}) {
    CAPTURE(width);
    one.as<Saw>()->tooth_width = other.as<Saw>()->tooth_width = width;
    CHECK(one == other);
    other.as<Saw>()->tooth_width = std::nextafter(width, 1.0);
    CHECK_FALSE(one == other);
  }
}

TEST_CASE("kind: from() reads what fields() gives, to the last bit") {
  std::vector<ToolKind> all;
  for (const Kind<Tool>& kind : kinds<Tool>().all) all.push_back(kind.defaults);
  for (const double width : {0.1 + 0.2, 1.0 / 3, 1e-300, 5e-324, 10.0}) {
    Saw saw;
    saw.tooth_width = width;
    saw.is_new = false;
    saw.maker = ",a\\b,=:,";
    saw.turns = 0;
    all.push_back(saw);
  }
  Sander sander;
  sander.grain = Grain::fine;
  sander.ratio = {-3, std::numeric_limits<Index>::max()};
  all.push_back(sander);
  for (const ToolKind& kind : all) {
    CAPTURE(text_of(kind));
    CHECK(ToolKind::from(text_of(kind)) == kind);
  }
  CHECK(text_of(ToolKind()) == "saw:tooth-width=0.1,is-new=true,maker=a\\, b,turns=3");
}

TEST_CASE("kind: a visit stores the name and the fields, and restores them into any other kind") {
  for (const char* const text : {"saw:tooth-width=0.3,maker=x", "sander:grain=fine,ratio=5 of 6", "pencil"}) {
    const ToolKind kind = ToolKind::from(text);
    Stored stored;
    visit_fields(kind, stored);
    CHECK(stored.fields.front() == std::pair<std::string, std::string>("name", kind.name()));
    for (const Kind<Tool>& other : kinds<Tool>().all) {
      CAPTURE(text);
      CAPTURE(other.name);
      ToolKind restored = other.defaults;
      Restoring restoring{stored};
      visit_fields(restored, restoring);
      CHECK(restored == kind);
      CHECK(restoring.asked.size() == stored.fields.size());
    }
  }
}

TEST_CASE("kind: a visit of its own name keeps the fields that a file does not have; another name begins anew") {
  ToolKind kind = ToolKind::from("sander:turns=9,grain=fine");
  const Stored same{{{"name", "sander"}, {"grain", "coarse"}}}, other{{{"name", "saw"}}}, unknown{{{"name", "plane"}}};
  Restoring first{same}, second{other}, third{unknown};
  visit_fields(kind, first);
  CHECK(kind == ToolKind::from("sander:turns=9"));
  visit_fields(kind, second);
  CHECK(kind == ToolKind::from("saw"));
  CHECK_THROWS_AS(visit_fields(kind, third), UsageError);
  CHECK(kind == ToolKind::from("saw"));
}

TEST_CASE("kinds: help has every kind with its defaults") {
  const std::vector<KindHelp> help = kinds<Tool>().help();
  REQUIRE(help.size() == 3);
  CHECK(help[0].summary == "cuts");
  CHECK(help[0].keys() == std::vector<std::string>{"tooth-width", "is-new", "maker", "turns"});
  CHECK(help[1].fields[0].text == "coarse");
  CHECK(help[1].fields[0].field.texts == std::vector<std::string>{"fine", "coarse"});
  CHECK(help[1].fields[2].text == "7");
  CHECK(help[2].fields.empty());
}

TEST_CASE("kind: what the program sets is a field of files, but no setting") {
  ToolKind saw = ToolKind::from("saw:turns=2");
  saw.as<Saw>()->cuts = 17;
  Stored stored;
  visit_fields(std::as_const(saw), stored);
  CHECK(std::ranges::count(stored.fields, std::pair<std::string, std::string>("cuts", "17")) == 1);
  ToolKind again;
  Restoring restoring{stored};
  visit_fields(again, restoring);
  CHECK(again.as<Saw>()->cuts == 17);
  CHECK(again == saw);
  CHECK_FALSE(ToolKind::from("saw:turns=2") == saw);

  CHECK_FALSE(saw.has("cuts"));
  CHECK_THROWS_WITH_AS(ToolKind::from("saw:cuts=3"), "saw has no key 'cuts'; it has tooth-width, is-new, maker, turns",
                       UsageError);
  for (const FieldText& setting : saw.settings()) CHECK(setting.field.name != "cuts");
  for (const KindHelp& kind : kinds<Tool>().help()) CHECK(std::ranges::count(kind.keys(), "cuts") == 0);
}
