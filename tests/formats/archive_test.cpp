#include <doctest/doctest.h>

#include <boost/archive/xml_oarchive.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "formats/archives/hdf5_archive.hpp"
#include "formats/archives/json_archive.hpp"
#include "formats/archives/text_archive.hpp"
#include "formats/files.hpp"
#include "formats/heddle/file.hpp"
#include "libcore/models/config.hpp"
#include "libcore/training/objectives.hpp"
#include "support/kind_samples.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

enum class Colour { red, dark_green };

struct Inner {
  Index depth = 3;
  std::vector<double> values;
  bool operator==(const Inner&) const = default;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("depth", "a number in a section").range(1, 10), self.depth);
    visitor(Field("values", "numbers in a section"), self.values);
  }
};

struct Everything {
  bool flag = false;
  Index count = 0;
  double rate = 0;
  std::string word;
  Colour colour = Colour::red;
  std::vector<Index> ids;
  std::vector<double> numbers;
  std::vector<std::string> words;
  Inner inner;
  bool operator==(const Everything&) const = default;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("flag", "a boolean"), self.flag);
    visitor(Field("count", "an integer"), self.count);
    visitor(Field("rate", "a real number"), self.rate);
    visitor(Field("word", "a text"), self.word);
    visitor(Field("colour", "an enumeration"), self.colour);
    visitor(Field("ids", "integers"), self.ids);
    visitor(Field("numbers", "real numbers"), self.numbers);
    visitor(Field("words", "texts"), self.words);
    visitor(Field("inner_part", "a section"), self.inner);
  }
};

// A class of Boost's kind, which knows nothing of visit().
struct Foreign {
  Index first = 0;
  std::string second;
  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& make_nvp("first", first);
    archive& make_nvp("second", second);
  }
};

struct Newer {
  Index count = 0, added_later = 7;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("count", ""), self.count);
    visitor(Field("added_later", ""), self.added_later);
  }
};

struct Older {
  Index count = 5;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("count", "").range(0, 100), self.count);
  }
};

struct OtherType {
  std::string count = "many";
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("count", ""), self.count);
  }
};

struct OtherShape {
  std::vector<double> ids;
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("ids", ""), self.ids);
  }
};

struct OtherColour {
  std::string colour = "mauve";
  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("colour", ""), self.colour);
  }
};

}  // namespace

template <>
struct heddle::Names<Colour> {
  static constexpr std::pair<Colour, std::string_view> list[] = {{Colour::red, "red"},
                                                                 {Colour::dark_green, "dark-green"}};
};

BOOST_CLASS_IMPLEMENTATION(Foreign, boost::serialization::object_serializable)
BOOST_CLASS_TRACKING(Foreign, boost::serialization::track_never)

namespace {

template <class T>
void save(const std::string& path, const T& object) {
  OutputFile file(path, FileKind::tensors);
  save_fields(file.root().create_group("object"), object);
  file.commit(start_provenance("test"));
}

template <class T>
T load(const std::string& path) {
  T object;
  load_fields(InputFile(path).root().group("object"), object);
  return object;
}

Everything extremes() {
  Everything object{.flag = true,
                    .count = std::numeric_limits<Index>::min(),
                    .rate = std::numeric_limits<double>::denorm_min(),
                    .word = "Ünïcödé \U0001F9F6 with\nlines and \"quotes\"",
                    .colour = Colour::dark_green,
                    .ids = {std::numeric_limits<Index>::max(), -1, 0},
                    .numbers = {std::numeric_limits<double>::infinity(), -0.0, 0.1},
                    .words = {"", "a", "", std::string(1000, 'x'), "Ġthe"},
                    .inner = {10, {1e308}}};
  return object;
}

}  // namespace

TEST_CASE("HDF5 archive: every kind of field comes back, at its extremes and when empty") {
  const TemporaryFolder folder;
  for (const Everything& object : {Everything{}, extremes()}) {
    save(folder.file("x.h5"), object);
    CHECK(load<Everything>(folder.file("x.h5")) == object);
  }
  Everything object;
  object.rate = -std::numeric_limits<double>::infinity();
  object.word = std::string(200'000, 'y');  // larger than an HDF5 object header
  object.numbers = {std::nan("")};
  save(folder.file("x.h5"), object);
  const auto loaded = load<Everything>(folder.file("x.h5"));
  CHECK(loaded.rate == object.rate);
  CHECK(loaded.word == object.word);
  CHECK(std::isnan(loaded.numbers.at(0)));
}

TEST_CASE("HDF5 archive: many long lists of words are compact and quick") {
  const TemporaryFolder folder;
  Everything object;
  for (int i = 0; i < 50'000; ++i) object.words.push_back("piece" + std::to_string(i * 7919 % 50'000));
  object.words[123] = std::string(256, '-');
  save(folder.file("x.h5"), object);
  CHECK(load<Everything>(folder.file("x.h5")).words == object.words);
  CHECK(std::filesystem::file_size(folder.file("x.h5")) < 1'000'000);
}

TEST_CASE("HDF5 archive: text that no file can hold is refused") {
  const TemporaryFolder folder;
  Everything object;
  object.word = std::string("a\0b", 3);
  CHECK_THROWS_AS(save(folder.file("x.h5"), object), DataError);
  object.word = "\xff";
  CHECK_THROWS_AS(save(folder.file("x.h5"), object), DataError);
  object.word = "";
  object.words = {"fine", "\xc3"};
  CHECK(contains(message_of([&] { save(folder.file("x.h5"), object); }), "words would hold text that is not UTF-8"));
  CHECK(folder.names().empty());
}

TEST_CASE("HDF5 archive: fields that a file lacks keep their defaults, fields that it has too many are named") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  save(path, Older{.count = 9});
  CHECK(load<Newer>(path).count == 9);
  CHECK(load<Newer>(path).added_later == 7);
  save(path, Newer{});
  CHECK(message_of([&] { load<Older>(path); }) ==
        path +
            ": /object: has a field 'added_later', which this version of heddle does not support; use the version that "
            "wrote the file");
  save(path, Everything{});
  CHECK(contains(message_of([&] { load<Older>(path); }), "has a field "));
}

TEST_CASE("HDF5 archive: wrong types, unknown names and values out of range are data errors with their place") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  save(path, OtherType{});
  CHECK(message_of([&] { load<Older>(path); }) == path + ": /object: attribute count is not a 64-bit integer");
  save(path, Older{});
  CHECK(contains(message_of([&] { load<OtherType>(path); }), "attribute count is not text"));
  save(path, Older{.count = 101});
  CHECK(contains(message_of([&] { load<Older>(path); }), path + ": /object: count = 101 must be from 0 to 100"));
  save(path, OtherShape{.ids = {1.5}});
  CHECK(message_of([&] { load<Everything>(path); }) == path + ": /object/ids: holds float64, not int64");
  save(path, OtherColour{});
  CHECK(contains(message_of([&] { load<Everything>(path); }),
                 path + ": /object: colour: 'mauve' is not one of red, dark-green"));
  Everything object;
  object.inner.depth = 11;
  save(path, object);
  CHECK(contains(message_of([&] { load<Everything>(path); }),
                 path + ": /object/inner_part: depth = 11 must be from 1 to 10"));
}

namespace {

template <class Common>
void check_kinds(const std::string& path) {
  for (const Kind<Common>& kind : kinds<Common>().all) {
    CAPTURE(kind.name);
    for (const KindOf<Common>& object : {kind.defaults, heddle::testing::with_others(kind.defaults)}) {
      save(path, object);
      CHECK(load<KindOf<Common>>(path) == object);  // into the first kind of the list
    }
  }
}

// Fields as a file may have them.
struct StoredKind {
  std::string name;
  std::vector<std::pair<std::string, std::string>> texts;
  static void visit(auto& self, auto& visitor) {
    visitor(Field("name", ""), self.name);
    for (auto& [key, text] : self.texts) visitor(Field(key, ""), text);
  }
};

}  // namespace

TEST_CASE("HDF5 archive: every update rule, schedule and objective comes back to the last bit") {
  const TemporaryFolder folder;
  check_kinds<training::OptimizerSettings>(folder.file("x.h5"));
  check_kinds<training::ScheduleSettings>(folder.file("x.h5"));
  check_kinds<training::ObjectiveSettings>(folder.file("x.h5"));
  for (const Kind<models::CommonConfig>& kind : kinds<models::CommonConfig>().all) {
    save(folder.file("x.h5"), models::ModelConfig(kind.defaults));
    CHECK(load<models::ModelConfig>(folder.file("x.h5")) == kind.defaults);
  }
}

TEST_CASE("HDF5 archive: a kind that is not known, its wrong values and those of another kind are data errors") {
  const TemporaryFolder folder;
  const std::string path = folder.file("x.h5");
  save(path, StoredKind{"adamx", {}});
  CHECK(contains(message_of([&] { load<training::OptimizerChoice>(path); }),
                 path + ": /object: optimizer: 'adamx' is not one of adamw, "));
  save(path, StoredKind{"sgd", {{"rho", "x"}}});
  CHECK(contains(message_of([&] { load<training::OptimizerChoice>(path); }), path + ": /object: has a field 'rho'"));
  save(path, StoredKind{"masked", {{"masking", "sometimes"}}});
  CHECK(contains(message_of([&] { load<training::ObjectiveChoice>(path); }),
                 path + ": /object: masking: 'sometimes' is not one of dynamic, static"));
  save(path, StoredKind{"linear", {{"warmup", "soon"}}});
  CHECK(contains(message_of([&] { load<training::ScheduleChoice>(path); }),
                 path + ": /object: warmup: 'soon' is not a number of steps"));
  training::OptimizerChoice sgd = training::OptimizerChoice::from("sgd");
  sgd->weight_decay = 101;
  save(path, sgd);
  CHECK(contains(message_of([&] { load<training::OptimizerChoice>(path); }),
                 path + ": /object: weight_decay = 101 must be from 0 to 100"));
}

TEST_CASE("archives are Boost archives: they take classes with a serialize() of their own") {
  const TemporaryFolder folder;
  OutputFile output(folder.file("x.h5"), FileKind::tensors);
  {
    Hdf5OutputArchive archive(output.root().create_group("object"));
    const Foreign foreign{4, "four"};
    archive << make_nvp("foreign", foreign);
  }
  output.commit(start_provenance("test"));
  Foreign foreign;
  const InputFile input(folder.file("x.h5"));
  Hdf5InputArchive archive(input.root().group("object"));
  archive >> make_nvp("foreign", foreign);
  archive.finish();
  CHECK(foreign.first == 4);
  CHECK(foreign.second == "four");
}

TEST_CASE("the adaptor serves Boost's own archives too") {
  std::ostringstream text;
  {
    boost::archive::xml_oarchive archive(text);
    const Older object{.count = 42};
    archive << make_nvp("object", object);
  }
  CHECK(contains(text.str(), "<count>42</count>"));
}

TEST_CASE("JSON archive: keys in the order of the fields, structs as objects") {
  Everything object = extremes();
  object.words = {"a", "b"};
  const Json answer = to_json(object);
  CHECK(answer["flag"] == true);
  CHECK(answer["count"] == std::numeric_limits<Index>::min());
  CHECK(answer["colour"] == "dark-green");
  CHECK(answer["inner_part"]["depth"] == 10);
  CHECK(answer.begin().key() == "flag");
  CHECK(to_json(Older{}).dump() == R"({"count":5})");
  CHECK(Json::parse(answer.dump())["word"] == object.word);
}

namespace {

struct Limited {
  Index limit = 0, start = -1, count = 0;
  static void visit(auto& self, auto& visitor) {
    visitor(Field("limit", "").word(0, "none"), self.limit);
    visitor(Field("start", "").word(-1, "auto"), self.start);
    visitor(Field("count", ""), self.count);
  }
};

}  // namespace

TEST_CASE("JSON archive: a number that stands for a word is written as the word") {
  CHECK(to_json(Limited{}).dump() == R"({"limit":"none","start":"auto","count":0})");
  CHECK(to_json(Limited{.limit = 3, .start = 0}).dump() == R"({"limit":3,"start":0,"count":0})");
}

TEST_CASE("text archive: a configuration file") {
  Everything object;
  object.rate = 0.1;
  object.words = {"a", "b"};
  CHECK(archive_text(object) ==
        "flag = false\ncount = 0\nrate = 0.1\nword = \ncolour = red\nids = \nnumbers = \nwords = a,b\n\n"
        "# inner-part\ndepth = 3\nvalues = \n");
  CHECK(text_of(1e-5) == "1e-05");
  CHECK(std::stod(text_of(1.0 / 3)) == 1.0 / 3);
}
