// The lists of update rules, schedules and objectives: settings as text.
#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "libcore/training/objectives.hpp"
#include "libcore/training/optimizer.hpp"
#include "libcore/training/schedule.hpp"
#include "support/kind_samples.hpp"

using namespace heddle;
using namespace heddle::training;
using namespace heddle::testing;

namespace {

template <class Common>
void check_text(const std::vector<std::string>& names) {
  CHECK(kinds<Common>().names() == names);
  for (const Kind<Common>& kind : kinds<Common>().all) {
    CAPTURE(kind.name);
    CHECK_FALSE(kind.summary.empty());
    CHECK(kind.defaults.name() == kind.name);
    CHECK_NOTHROW(kind.defaults.check());
    CHECK(KindOf<Common>::from(kind.name) == kind.defaults);
    CHECK(KindOf<Common>::from(text_of(kind.defaults)) == kind.defaults);
    std::set<std::string> keys;
    for (const FieldText& field : kind.defaults.settings()) {
      CAPTURE(field.field.name);
      CHECK(keys.insert(field.field.option()).second);
      CHECK_FALSE(field.field.help.empty());
      CHECK(field.field.name != "name");  // name in files of that field of the kind
      const KindOf<Common> moved = with_another(kind.defaults, field);
      CHECK_FALSE(moved == kind.defaults);
      CHECK(KindOf<Common>::from(text_of(moved)) == moved);
      CHECK(differing_fields(moved, kind.defaults) == std::vector<std::string>{field.field.name});
    }
    const KindOf<Common> all = with_others(kind.defaults);
    CHECK(KindOf<Common>::from(text_of(all)) == all);
    CHECK(differing_fields(all, kind.defaults).size() == kind.defaults.settings().size());
  }
}

}  // namespace

TEST_CASE("kinds: every update rule, schedule and objective is what its text says, for each of its settings") {
  check_text<OptimizerSettings>({"adamw", "coupled", "adam", "adagrad", "adadelta", "sgd", "lion", "muon", "learned"});
  check_text<ScheduleSettings>({"cosine", "linear", "constant", "inverse-sqrt", "wsd"});
  check_text<ObjectiveSettings>({"mixed", "causal", "detect", "masked", "bidirectional", "permute", "translate",
                                 "respond", "denoise", "optimizer"});
}

TEST_CASE("kinds: the defaults are those that man pages name") {
  for (const char* const text : {"adamw:beta1=0.9,beta2=0.98,epsilon=1e-8,weight-decay=0.1",
                                 "coupled:beta1=0.9,beta2=0.98,weight-decay=0.1", "adam:beta2=0.98,weight-decay=0",
                                 "adagrad:epsilon=1e-8", "adadelta:rho=0.95,epsilon=1e-6", "sgd:momentum=0.9"}) {
    CAPTURE(text);
    CHECK(OptimizerChoice::from(text) == OptimizerChoice::from(KindText::parse(text).name));
  }
  for (const char* const text :
       {"cosine:final=0.1,warmup=4%", "linear:final=0,warmup=4%", "constant:warmup=4%", "inverse-sqrt:warmup=4%"}) {
    CAPTURE(text);
    CHECK(ScheduleChoice::from(text) == ScheduleChoice::from(KindText::parse(text).name));
  }
  for (const char* const text :
       {"mixed:causal=0.0625,masked=0.3", "masked:probability=0.3,masking=dynamic", "detect:weight=50,probability=0.3",
        "permute:partial-prediction=6",
        "denoise:noise=spans,density=auto,mean-span-length=3,random-roll=false,permute-sentences=true"}) {
    CAPTURE(text);
    CHECK(ObjectiveChoice::from(text) == ObjectiveChoice::from(KindText::parse(text).name));
  }
  CHECK(OptimizerChoice().name() == "adamw");
  CHECK(ScheduleChoice().name() == "cosine");
}

// Settings that are left out where their defaults are other fields' or the tool's.
template <class Common>
void check_defaults(const std::vector<std::string>& texts) {
  std::set<std::string> names;
  for (const std::string& text : texts) {
    CAPTURE(text);
    const KindText parsed = KindText::parse(text);
    names.insert(parsed.name);
    std::set<std::string> keys;
    for (const auto& [key, value] : parsed.settings) keys.insert(key);
    const KindOf<Common> defaults = KindOf<Common>::from(parsed.name);
    for (const FieldText& field : defaults.settings()) {
      CAPTURE(field.field.name);
      CAPTURE(field.text);
      CHECK(keys.contains(field.field.option()));
    }
    CHECK(differing_fields(KindOf<Common>::from(text), defaults).empty());
  }
  CHECK(names.size() == kinds<Common>().names().size());
}

TEST_CASE("kinds: every default of every one") {
  const std::string embeddings = ",embedding-rate=1,embedding-decay=true,exchange=f32",
                    adam = "beta1=0.9,beta2=0.98,epsilon=1e-8,weight-decay=",
                    masking = "masking=dynamic,whole-words=false,segment-pairs=false";
  check_defaults<OptimizerSettings>(
      {"adamw:" + adam + "0.1" + embeddings, "coupled:" + adam + "0.1" + embeddings, "adam:" + adam + "0" + embeddings,
       "adagrad:epsilon=1e-8,weight-decay=0" + embeddings, "adadelta:rho=0.95,epsilon=1e-6,weight-decay=0" + embeddings,
       "sgd:momentum=0.9,weight-decay=0" + embeddings, "lion:beta1=0.9,beta2=0.99,weight-decay=1" + embeddings,
       "muon:momentum=0.95,others=0.15,coupled=false,beta1=0.9,beta2=0.95,epsilon=1e-8,weight-decay=0.1" + embeddings,
       "learned:file=,weight-decay=0" + embeddings});
  check_defaults<ScheduleSettings>({"cosine:warmup=4%,final=0.1", "linear:warmup=4%,final=0", "constant:warmup=4%",
                                    "inverse-sqrt:warmup=4%", "wsd:warmup=4%,decay=0.2,final=0"});
  check_defaults<ObjectiveSettings>(
      {"mixed:causal=0.0625,masked=0.3", "causal", "detect:weight=50,probability=0.3," + masking,
       "masked:probability=0.3," + masking, "bidirectional", "permute:partial-prediction=6," + masking,
       "translate:batch-tokens=auto,max-length=auto", "respond:batch-tokens=auto,max-length=auto,mark= #### ",
       "denoise:noise=spans,density=auto,mean-span-length=3,random-roll=false,permute-sentences=true,batch-tokens=auto",
       "optimizer:unroll=20,horizon=100"});
}

TEST_CASE("kinds: settings out of range are refused with the key") {
  for (const char* const text : {"adamw:beta1=1", "adamw:beta2=-0.1", "adamw:epsilon=0", "adam:weight-decay=-1",
                                 "sgd:momentum=1", "adadelta:rho=1", "adagrad:epsilon=0", "muon:embedding-rate=0"}) {
    CAPTURE(text);
    const std::string key = KindText::parse(text).settings.front().first;
    CHECK_THROWS_WITH_AS(OptimizerChoice::from(text), doctest::Contains((key + ": ").c_str()), UsageError);
  }
  for (const char* const text : {"linear:final=1.5", "cosine:final=-1", "constant:warmup=101%", "linear:warmup=x"}) {
    CAPTURE(text);
    const std::string key = KindText::parse(text).settings.front().first;
    CHECK_THROWS_WITH_AS(ScheduleChoice::from(text), doctest::Contains((key + ": ").c_str()), UsageError);
  }
  for (const char* const text : {"masked:probability=0", "masked:masking=sometimes", "permute:partial-prediction=0",
                                 "detect:weight=0", "denoise:noise=holes", "denoise:density=2"}) {
    CAPTURE(text);
    const std::string key = KindText::parse(text).settings.front().first;
    CHECK_THROWS_WITH_AS(ObjectiveChoice::from(text), doctest::Contains((key + ": ").c_str()), UsageError);
  }
}
