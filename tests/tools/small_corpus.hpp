// A folder with a small text, its tokenizer and its token files, where commands run with the tools on PATH.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "formats/heddle/model_file.hpp"
#include "support/json.hpp"
#include "tools/command.hpp"

namespace heddle::testing {

// One object per line.
inline std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> objects;
  for (const std::string& line : lines_of(text)) objects.push_back(parse_json(line));
  return objects;
}

// A command that must fail with this status, and say this.
struct Refusal {
  std::string command, says;
  int status;
};

class SmallCorpus {
 public:
  SmallCorpus() {
    begin_with("corpus", [&] { write(); });
  }

  Outcome run(const std::string& command) const {
    return run_command("cd '" + (folder_ / "") +
                       "' && PATH='" HEDDLE_TOOLS "':$PATH && export SOURCE_DATE_EPOCH=1700000000\n" + command);
  }
  Outcome must(const std::string& command) const {
    const Outcome outcome = run(command);
    CAPTURE(command);
    CAPTURE(outcome.err);
    REQUIRE(outcome.status == 0);
    return outcome;
  }
  Outcome refused(const std::string& command, int status, const std::string& says) const {
    const Outcome outcome = run(command);
    CAPTURE(command);
    CAPTURE(outcome.err);
    CHECK(outcome.status == status);
    CHECK(contains(outcome.err, says));
    return outcome;
  }
  Outcome refused(const Refusal& refusal) const { return refused(refusal.command, refusal.status, refusal.says); }
  std::string path(const std::string& name) const { return folder_ / name; }

  std::map<std::string, std::vector<float>> weights(const std::string& name,
                                                    formats::FileKind kind = formats::FileKind::model) const {
    std::map<std::string, std::vector<float>> weights;
    for (const formats::NamedTensor& tensor : formats::ModelFile(path(name), kind).weights().read()) {
      weights[tensor.name] = tensor.value.elements();
    }
    return weights;
  }

  // Files whose names begin with a dot: temporary ones that should have gone.
  long leftovers() const {
    long count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "")) {
      count += entry.path().filename().string().starts_with(".") ? 1 : 0;
    }
    return count;
  }

 protected:
  // Fills the folder with the files that make() writes, once per program and name.
  void begin_with(const std::string& name, const std::function<void()>& make) const {
    static std::map<std::string, TemporaryFolder> made;
    constexpr auto all = std::filesystem::copy_options::recursive | std::filesystem::copy_options::overwrite_existing;
    if (const auto place = made.find(name); place != made.end()) {
      std::filesystem::copy(place->second / "", folder_ / "", all);
    } else {
      make();
      std::filesystem::copy(folder_ / "", made[name] / "", all);
    }
  }

 private:
  void write() const {
    std::string train, valid;
    const std::vector<std::string> subjects{"the cat", "a dog", "the old king", "my queen"};
    const std::vector<std::string> verbs{"sees", "follows", "forgets", "sings to"};
    for (int i = 0; i < 400; ++i) {
      const auto pick = [&](const std::vector<std::string>& list, int at) {
        return list[static_cast<std::size_t>(at % 4)];
      };
      (i % 10 == 9 ? valid : train) +=
          pick(subjects, i * i + i / 3) + " " + pick(verbs, i / 4 + i) + " " + pick(subjects, i * 7 + i / 5) + ".\n";
    }
    write_file(folder_ / "train.txt", train);
    write_file(folder_ / "valid.txt", valid);
    must("tokenize -q --train --vocab-size 300 -o tokenizer.h5 train.txt");
    must("tokenize -q -t tokenizer.h5 -o train.h5 train.txt");
    must("tokenize -q -t tokenizer.h5 -o valid.h5 valid.txt");
  }

  TemporaryFolder folder_;
};

// Options of a model that trains in a second.
inline const std::string tiny_shape = " --layers 2 --width 32 --heads 2 --context 16 --batch-size 4 ";
inline const std::string tiny_model = tiny_shape + "--checkpoint-every 5 --log-every 5 ";
inline const std::string tiny_encoder = " --arch encoder" + tiny_model;

// The corpus with a tokenizer that encoders can use.
class EncoderCorpus : public SmallCorpus {
 public:
  explicit EncoderCorpus(const std::string& tokenizer = "--model wordpiece --vocab-size 200") {
    begin_with(tokenizer, [&] {
      must("tokenize -q --train " + tokenizer + " -o pieces.h5 train.txt");
      must("tokenize -q -t pieces.h5 -o train.h5 train.txt");
      must("tokenize -q -t pieces.h5 -o valid.h5 valid.txt");
    });
  }
  nlohmann::json evaluate(const std::string& model) const {
    return parse_json(must("inspect evaluate " + model + " valid.h5 --json").out);
  }
};

}  // namespace heddle::testing
