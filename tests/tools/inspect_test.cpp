// inspect from outside: what it says of each kind of file, and how it fails.
#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/resource.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "formats/hdf5/column.hpp"
#include "formats/heddle/load_model.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/samples.hpp"
#include "support/json.hpp"
#include "support/models.hpp"
#include "tools/command.hpp"

using namespace heddle;
namespace hdf5 = heddle::formats::hdf5;
using heddle::testing::contains;
using heddle::testing::lines_in;
using heddle::testing::Outcome;
using heddle::testing::parse_json;
using heddle::testing::read_file;
using heddle::testing::run_command;
using heddle::testing::TemporaryFolder;
using heddle::testing::write_file;
using nlohmann::json;

namespace {

using namespace std::string_literals;

const models::DecoderConfig small_config =
    testing::decoder({.layers = 3, .width = 8, .heads = 2, .context = 16, .vocab_size = 257});

formats::History sample_history() {
  formats::History history;
  for (int i = 1; i <= 40; ++i) {
    history.append({{"step", 10.0 * i}, {"loss", 4.0 / i + 1}});
    if (i % 10 == 0) history.append({{"step", 10.0 * i}, {"valid_loss", 4.0 / i + 1.25}});
  }
  return history;
}

void write_model(const std::string& path, const models::ModelConfig& config,
                 std::span<const formats::NamedTensor> weights) {
  formats::ModelWriter file(path);
  file.config(config);
  file.tokenizer(tests::byte_tokenizer_model());
  file.weights(weights);
  file.history(sample_history());
  file.commit(formats::start_provenance("pretrain"));
}

void write_tokens(const std::string& path, const text::TokenizerModel& model, const std::vector<TokenId>& ids) {
  formats::TokenFileWriter file(path, text::Tokenizer(model));
  file.append(ids, std::ranges::count_if(ids, [](TokenId id) { return id < 256; }));
  file.commit(formats::start_provenance("tokenize"));
}

// A folder with a model that knows nothing (all of its weights are zero), one with random weights, and tokens.
class Workplace {
 public:
  Workplace() : model(small_config, 1) {
    write_model(path("random.h5"), small_config, weights());
    for (const Parameter& parameter : model.parameters().all()) parameter.value().fill(0);
    write_model(path("zero.h5"), small_config, weights());
    std::vector<TokenId> ids;
    for (TokenId i = 0; i < 100; ++i) ids.push_back(i % 10 == 9 ? 256 : 97 + i % 7);
    write_tokens(path("tokens.h5"), tests::byte_tokenizer_model(), ids);
  }

  std::vector<formats::NamedTensor> weights() const { return formats::named_tensors(model.parameters()); }
  // $I is the program.
  Outcome run(const std::string& command) const {
    return run_command("cd " + (folder_ / ".") + "; I=" INSPECT "; " + command);
  }
  json run_json(const std::string& command) const { return parse_json(run(command + " --json").out); }
  std::string path(const std::string& name) const { return folder_ / name; }

  models::Decoder model;

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("inspect: the presets have exactly the parameters of GPT-2's papers") {
  const std::map<std::string, std::pair<long, std::string>> presets{{"gpt2", {124439808, "124,439,808"}},
                                                                    {"gpt2-medium", {354823168, "354,823,168"}},
                                                                    {"gpt2-large", {774030080, "774,030,080"}},
                                                                    {"gpt2-xl", {1557611200, "1,557,611,200"}}};
  for (const auto& [name, count] : presets) {
    CAPTURE(name);
    const Outcome text = run_command(INSPECT " --preset " + name);
    CHECK(text.status == 0);
    CHECK(contains(text.out, "\n" + count.second + " parameters\n"));
    const json answer = parse_json(run_command(INSPECT " --json --preset " + name).out);
    CHECK(answer["parameters"] == count.first);
    CHECK(answer["config"]["vocab_size"] == 50257);
    long sum = 0;
    for (const json& tensor : answer["weights"]) {
      long size = 1;
      for (const long extent : tensor["shape"]) size *= extent;
      sum += size;
    }
    CHECK(sum == count.first);
  }
  rusage children{};
  getrusage(RUSAGE_CHILDREN, &children);
  CHECK(children.ru_maxrss < 200'000);  // kilobytes: the models take addresses, not memory
  CHECK(run_command(INSPECT " --preset nano").status == 0);
  const Outcome unknown = run_command(INSPECT " --preset gpt9");
  CHECK(unknown.status == 2);
  CHECK(contains(unknown.err, "nano, gpt1, gpt2, gpt2-medium"));
}

TEST_CASE("inspect: encoders' presets have their published parameters, and a head apart") {
  const std::map<std::string, std::pair<long, std::string>> presets{{"bert-base", {109482240, "109,482,240"}},
                                                                    {"bert-large", {335141888, "335,141,888"}},
                                                                    {"roberta-base", {124645632, "124,645,632"}}};
  for (const auto& [name, count] : presets) {
    CAPTURE(name);
    const Outcome text = run_command(INSPECT " --preset " + name);
    CHECK(contains(text.out, "\n" + count.second + " parameters\n"));
    CHECK(contains(text.out, " parameters in the head\n"));
    const json answer = parse_json(run_command(INSPECT " --json --preset " + name).out);
    CHECK(answer["parameters"] == count.first);
    const long width = answer["config"]["width"], vocab = answer["config"]["vocab_size"];
    CHECK(answer["head_parameters"] == width * width + 3 * width + vocab);
  }
}

TEST_CASE("inspect: a model file, all of it") {
  const Workplace place;
  const Outcome outcome = place.run("$I random.h5");
  CHECK(outcome.status == 0);
  CHECK(outcome.err.empty());
  for (const char* part :
       {"random.h5: model file, ", "\n4,816 parameters\n", "\n  layers = 3\n",
        "\n  decoder/0..2/attention/query/weight", "\n  52 tensors ", "  4,816\n", "256 <|endoftext|> (end of text)",
        "loss in nats per token", "lowest 1.3500 at step 400", "\n  [1] pretrain\n"}) {
    CAPTURE(part);
    CHECK(contains(outcome.out, part));
  }
  for (const char letter : outcome.out.substr(0, outcome.out.find("\nTokenizer"))) CHECK(letter >= 0);
}

TEST_CASE("inspect: a model file as JSON has the keys that scripts rely on") {
  const Workplace place;
  const json answer = place.run_json("$I random.h5");
  CHECK(answer["kind"] == "model");
  CHECK(answer["parameters"] == place.model.parameters().count());
  CHECK(answer["config"]["layers"] == 3);
  CHECK(answer["config"]["attention"] == "dot");
  REQUIRE(answer["weights"].size() == place.model.parameters().all().size());
  CHECK(answer["weights"][0] ==
        json{{"name", "decoder/embedding/token/weight"}, {"shape", {257, 8}}, {"type", "float32"}});
  CHECK(answer["history"]["step"].size() == 44);
  CHECK(answer["history"]["loss"][0] == 5.0);
  CHECK(answer["history"]["valid_loss"][0].is_null());
  CHECK(answer["tokenizer"]["vocabulary"] == 257);
  CHECK(answer["tokenizer"]["special_tokens"]["<|endoftext|>"] == 256);
  CHECK(answer["provenance"][0]["command_line"] == "pretrain");
}

TEST_CASE("inspect: parts") {
  const Workplace place;
  const std::map<std::string, std::string> titles{{"config", "Configuration\n"},
                                                  {"weights", "Weights\n"},
                                                  {"tokenizer", "Tokenizer\n"},
                                                  {"history", "History\n"},
                                                  {"provenance", "Provenance\n"}};
  for (const auto& [option, title] : titles) {
    const Outcome outcome = place.run("$I random.h5 --" + option);
    CHECK(outcome.status == 0);
    CHECK(outcome.out.starts_with(title));
    for (const auto& [other, text] : titles) CHECK(contains(outcome.out, text) == (other == option));
    CHECK(place.run_json("$I random.h5 --" + option).contains(option));
  }
  const json two = place.run_json("$I random.h5 --config --history");
  CHECK(two.contains("config"));
  CHECK(two.contains("history"));
  CHECK_FALSE(two.contains("weights"));
  const Outcome absent = place.run("$I tokens.h5 --history");
  CHECK(absent.status == 1);
  CHECK(absent.err.starts_with("inspect: tokens.h5: has no history; it is a token file, "));
}

TEST_CASE("inspect: token and tokenizer files") {
  const Workplace place;
  const Outcome tokens = place.run("$I tokens.h5");
  for (const char* part : {"tokens.h5: token file, ", "tokens      100\n", "documents   1\n", "vocabulary  257\n",
                           "text bytes  90\n", "1.111 tokens per byte, 0.900 bytes per token"}) {
    CAPTURE(part);
    CHECK(contains(tokens.out, part));
  }
  const json answer = place.run_json("$I tokens.h5");
  CHECK(answer["kind"] == "tokens");
  CHECK(answer["tokens"] == 100);
  CHECK(answer["documents"] == 1);
  CHECK(answer["vocabulary"] == 257);
  CHECK(answer["text_bytes"] == 90);

  formats::save_tokenizer(place.path("tokenizer.h5"), tests::byte_tokenizer_model(),
                          formats::start_provenance("tokenize"));
  CHECK(contains(place.run("$I tokenizer.h5").out, "kind         byte\n  vocabulary   257\n"));
  const json tokenizer = place.run_json("$I tokenizer.h5");
  CHECK(tokenizer["kind"] == "tokenizer");
  CHECK(tokenizer["tokenizer"]["fingerprint"] == answer["tokenizer"]["fingerprint"]);
}

TEST_CASE("inspect: a model that knows nothing scores the logarithm of its vocabulary") {
  const Workplace place;
  const json score = place.run_json("$I evaluate zero.h5 tokens.h5");
  CHECK(score["tokens"] == 99);
  CHECK(score["nats_per_token"].get<double>() == doctest::Approx(std::log(257)).epsilon(1e-6));
  CHECK(score["perplexity"].get<double>() == doctest::Approx(257).epsilon(1e-5));
  // Per byte of the whole text, including that of the first token, which nothing predicts.
  CHECK(score["bits_per_byte"].get<double>() == doctest::Approx(99 * std::log2(257) / 90).epsilon(1e-6));
  const Outcome text = place.run("$I evaluate zero.h5 tokens.h5");
  CHECK(text.out == "tokens          99\nnats per token  5.54908\nperplexity      257.000\nbits per byte   8.80619\n");
}

TEST_CASE("inspect: the score does not depend on the batch") {
  const Workplace place;
  const json one = place.run_json("$I evaluate random.h5 tokens.h5 --batch-size 1");
  const json many = place.run_json("$I evaluate random.h5 tokens.h5 --batch-size 64 --threads 3");
  CHECK(one["tokens"] == 99);
  CHECK(one["nats_per_token"].get<double>() == doctest::Approx(many["nats_per_token"].get<double>()).epsilon(1e-6));
}

TEST_CASE(
    "inspect evaluate: with a stride every token is still predicted once; a longer one than a window is refused") {
  const Workplace place;
  const json overlapping = place.run_json("$I evaluate random.h5 tokens.h5 --stride 3");
  CHECK(overlapping["tokens"] == 99);
  CHECK(overlapping["nats_per_token"] != place.run_json("$I evaluate random.h5 tokens.h5")["nats_per_token"]);
  const Outcome refused = place.run("$I evaluate random.h5 tokens.h5 --stride 100000");
  CHECK(refused.status == 2);
  CHECK(contains(refused.err, "stride"));
  CHECK(contains(refused.err, "tokens of a window"));
}

TEST_CASE("inspect: tokens that the model cannot score are refused") {
  const Workplace place;
  text::TokenizerModel other = tests::byte_tokenizer_model();
  std::swap(other.pieces[97], other.pieces[98]);
  write_tokens(place.path("other.h5"), other, {97, 98});
  write_tokens(place.path("words.h5"), tests::word_tokenizer_model(8), {1, 2});
  write_tokens(place.path("one.h5"), tests::byte_tokenizer_model(), {97});
  const std::map<std::string, std::string> failures{
      {"other.h5",
       "inspect: other.h5: was made with another tokenizer than the model's; encode it with the model's "
       "tokenizer (tokenize -t zero.h5)\n"},
      {"words.h5",
       "inspect: words.h5: vocabulary of 8 does not match the model's 257; encode it with the model's "
       "tokenizer (tokenize -t zero.h5)\n"},
      {"one.h5", "inspect: one.h5: has 1 token; an evaluation needs at least two\n"},
      {"absent", "inspect: absent: cannot open: No such file or directory\n"}};
  for (const auto& [tokens, message] : failures) {
    const Outcome outcome = place.run("$I evaluate zero.h5 " + tokens);
    CHECK(outcome.status == 1);
    CHECK(outcome.err == message);
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("inspect verify: finds what is wrong, a line each") {
  const Workplace place;
  for (const char* file : {"zero.h5", "tokens.h5"}) {
    const Outcome good = place.run("$I verify " + std::string(file));
    CHECK(good.status == 0);
    CHECK(good.out == std::string(file) + ": no problem found\n");
  }

  std::vector<formats::NamedTensor> weights = place.weights();
  weights.at(1).value = Tensor({4, 4}, Real(1));
  weights.at(2).name = "decoder/extra";
  weights.at(3).value = Tensor(weights[3].value.shape(), std::numeric_limits<Real>::quiet_NaN());
  const std::string shaped = weights[1].name, unknown = weights[3].name;
  write_model(place.path("wrong.h5"), small_config, weights);
  const Outcome wrong = place.run("$I verify wrong.h5");
  CHECK(wrong.status == 1);
  CHECK(lines_in(wrong.out) == 4);
  for (const std::string& part : {shaped + ": has shape [4, 4], but the configuration needs",
                                  "decoder/extra: is not a weight of the configuration"s, ": is missing"s, unknown}) {
    CAPTURE(part);
    CHECK(contains(wrong.out, part));
  }

  write_file(place.path("text"), "text\n");
  const Outcome many = place.run("$I verify zero.h5 text absent wrong.h5 tokens.h5");
  CHECK(many.status == 1);
  CHECK(many.out == "zero.h5: no problem found\n" + wrong.out + "tokens.h5: no problem found\n");
  CHECK(lines_in(many.err) == 2);
  CHECK(contains(many.err, "inspect: text: is plain text"));
  CHECK(contains(many.err, "inspect: absent: cannot open: No such file or directory\n"));

  const Outcome object = place.run("$I verify zero.h5 absent wrong.h5 --json");
  CHECK(object.status == 1);
  CHECK(object.err.empty());
  const json files = parse_json(object.out)["files"];
  REQUIRE(files.size() == 3);
  CHECK(files[0] == json{{"name", "zero.h5"}, {"problems", json::array()}});
  CHECK(files[1]["problems"] == json{"absent: cannot open: No such file or directory"});
  CHECK(files[2]["problems"].size() == 4);
  const std::vector<std::string> lines =
      heddle::testing::lines_of(place.run("$I verify zero.h5 absent wrong.h5 --jsonl").out);
  REQUIRE(lines.size() == 3);
  for (std::size_t i = 0; i < lines.size(); ++i) CHECK(parse_json(lines[i]) == files[i]);
  for (const char* form : {"", " --json", " --jsonl"}) {
    CAPTURE(form);
    CHECK(place.run("$I verify absent zero.h5" + std::string(form)).status == 1);
    CHECK(place.run("$I verify tokens.h5 zero.h5" + std::string(form)).status == 0);
  }
}

TEST_CASE("inspect verify: alone reads weights, and one flipped bit in them is found") {
  const Workplace place;
  const formats::ModelFile file(place.path("random.h5"));
  std::string bytes = read_file(place.path("random.h5"));
  char& letter = bytes.at(static_cast<std::size_t>(file.weights().tensors().back().offset));
  letter = static_cast<char>(letter ^ 1);
  write_file(place.path("flipped.h5"), bytes);
  CHECK(place.run("$I flipped.h5").status == 0);
  const Outcome outcome = place.run("$I verify flipped.h5");
  CHECK(outcome.status == 1);
  CHECK(lines_in(outcome.out) == 1);
  CHECK(contains(outcome.out, file.weights().tensors().back().name));
}

TEST_CASE("inspect: damage anywhere is an error of one line or seen by nobody") {
  const Workplace place;
  for (const char* name : {"random.h5", "tokens.h5"}) {
    const std::string good = read_file(place.path(name));
    for (std::size_t at = 0; at < good.size(); at += good.size() / 40) {
      CAPTURE(at);
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      write_file(place.path("bad.h5"), bad);
      for (const std::string verb : {"show", "verify"}) {
        const Outcome outcome = place.run("$I " + verb + " bad.h5");
        CHECK((outcome.status == 0 || outcome.status == 1));
        CHECK(lines_in(outcome.err) <= 1);
      }
      write_file(place.path("half.h5"), good.substr(0, at));
      const Outcome half = place.run("$I half.h5");
      CHECK(half.status == 1);
      CHECK(lines_in(half.err) == 1);
    }
  }
}

TEST_CASE("inspect: missing, empty and foreign files") {
  const Workplace place;
  const std::map<std::string, std::string> failures{{"absent", "inspect: absent: cannot open"},
                                                    {"text", "inspect: text: is plain text"},
                                                    {"empty", "inspect: empty: is empty"},
                                                    {".", "inspect: .: "},
                                                    {"/dev/null", "inspect: /dev/null: "}};
  write_file(place.path("text"), "text\n");
  write_file(place.path("empty"), "");
  for (const auto& [name, message] : failures) {
    for (const std::string verb : {"", "verify ", "--json "}) {
      CAPTURE(name);
      const Outcome outcome = place.run("$I " + verb + name);
      CHECK(outcome.status == 1);
      CHECK(outcome.err.starts_with(message));
      CHECK(lines_in(outcome.err) == 1);
      CHECK(outcome.out.empty());
    }
  }
}

TEST_CASE("inspect: --trust, an option or a variable as any other, reads structures that heddle does not write") {
  const Workplace place;
  H5Fclose(H5Fcreate(place.path("old.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  CHECK(place.run("$I old.h5").err == "inspect: old.h5: is an HDF5 file, but not a heddle file\n");
  // A file of heddle's that another program has changed.
  write_file(place.path("old.h5"), read_file(place.path("old.h5")) + "heddle");
  const std::string refused =
                        "old.h5: has a superblock of version 0, which heddle does not write; --trust reads a file",
                    read = "old.h5: is an HDF5 file, but not a heddle file";
  for (const auto& [command, message] :
       std::vector<std::pair<std::string, std::string>>{{"$I old.h5", refused},
                                                        {"$I --trust old.h5", read},
                                                        {"HEDDLE_TRUST=1 $I old.h5", read},
                                                        {"HEDDLE_TRUST=1 $I --no-trust old.h5", refused},
                                                        {"HEDDLE_TRUST=perhaps $I old.h5", "HEDDLE_TRUST"}}) {
    CAPTURE(command);
    const Outcome outcome = place.run(command);
    CHECK(outcome.status != 0);
    CHECK(contains(outcome.err, message));
  }
}

TEST_CASE("inspect: --config is the model's; a file of options is named by the environment") {
  const Workplace place;
  write_file(place.path("options.ini"), "json = true\n");
  const json answer = parse_json(place.run("HEDDLE_CONFIG=options.ini $I random.h5 --config").out);
  CHECK(answer["config"]["width"] == 8);
  CHECK_FALSE(answer.contains("weights"));
}

TEST_CASE("inspect profile: accounts for a step's time") {
  const Workplace place;
  const json profile = place.run_json("$I profile random.h5 --batch-size 2");
  double milliseconds = 0, time_fraction = 0;
  std::set<std::string> names;
  for (const json& row : profile.at("operations")) {
    milliseconds += row.at("milliseconds").get<double>();
    time_fraction += row.at("time_fraction").get<double>();
    const std::string part = row.at("part"), operation = row.at("operation");
    names.insert(part + ": " + operation);
    if (operation == "linear") CHECK(row.at("calls").get<double>() == 2 * 3);
    if (part == "feed-forward" && operation == "linear") {  // two products of 32 tokens, 8 and 32 wide, in 3 layers
      CHECK(row.at("gflops").get<double>() * row.at("milliseconds").get<double>() ==
            doctest::Approx(1e-6 * 2 * 32 * 8 * 32 * 2 * 3));
    }
  }
  CHECK(profile.at("tokens_per_second").get<double>() * profile.at("milliseconds").get<double>() ==
        doctest::Approx(1e3 * 2 * 16));
  CHECK(milliseconds == doctest::Approx(profile.at("milliseconds").get<double>()));
  CHECK(time_fraction == doctest::Approx(1));
  for (const char* name : {"attention projections: linear", "feed-forward: linear", "feed-forward: linear backward",
                           "scores and mixing: attention", "scores and mixing: attention backward", "norms: norm",
                           "norms: norm backward", "output head: head and cross-entropy", "token embeddings: embedding",
                           "optimizer: optimizer", "optimizer: gradient norm", ": other"}) {
    CHECK_MESSAGE(names.contains(name), name);
  }
  const Outcome table = place.run("$I profile --preset nano --precision bf16");
  CHECK(table.status == 0);
  CHECK(contains(table.out, "scores and mixing: attention backward"));
}

TEST_CASE("inspect: wrong usage is status 2") {
  const Workplace place;
  for (const char* words :
       {"", "zero.h5 --preset gpt2", "zero.h5 -o x.png", "verify", "verify zero.h5 --weights", "diff zero.h5",
        "diff zero.h5 tokens.h5 random.h5", "profile zero.h5 --weights", "profile zero.h5 --precision f16", "profile",
        "profile zero.h5 --preset nano", "zero.h5 tokens.h5", "zero.h5 random.h5 --history", "history",
        "history zero.h5 -o x.gif", "history zero.h5 -o x.svg --json", "evaluate zero.h5", "zero.h5 --nonsense",
        "embed zero.h5 lines.txt --text a"}) {
    CAPTURE(words);
    const Outcome outcome = place.run("$I " + std::string(words));
    CHECK(outcome.status == 2);
    CHECK(lines_in(outcome.err) == 1);
  }
}

TEST_CASE("inspect: the chart shows both curves where they are") {
  const Workplace place;
  std::string text = place.run("$I random.h5 --history").out;
  text.erase(0, text.find("History"));
  const std::size_t top = text.find('|'), axis = text.find('+');
  REQUIRE(top != std::string::npos);
  REQUIRE(axis != std::string::npos);
  CHECK(text[top + 1] == '.');  // the first loss is the highest
  const std::string plot = text.substr(top, axis - top);
  CHECK(std::ranges::count(plot, 'o') == 4);
  CHECK(contains(text, "step 10 "));
  for (std::size_t begin = 0; begin < text.size(); begin = text.find('\n', begin) + 1) {
    CHECK(text.find('\n', begin) - begin <= 80);
  }
}

TEST_CASE("inspect: a history of one row, or of none") {
  const Workplace place;
  for (const Index rows : {0, 1}) {
    formats::ModelWriter file(place.path("young.h5"));
    formats::History history = sample_history();
    history.truncate(rows);
    file.config(small_config);
    file.tokenizer(tests::byte_tokenizer_model());
    file.weights(place.weights());
    file.history(history);
    file.commit(formats::start_provenance("pretrain"));
    CHECK(place.run("$I young.h5").status == 0);
    CHECK(place.run("$I history young.h5 -o young.svg").status == (rows == 0 ? 1 : 0));
  }
}

TEST_CASE("inspect: a history of extreme numbers is drawn in no time") {
  const Workplace place;
  const double huge = 1.7e308;
  using Points = std::vector<std::pair<double, double>>;
  for (const Points& points : {Points{{1e17, 3}, {1e17 + 32, 2}, {1e17 + 64, 1}}, Points{{1, 1e17}, {2, 1e17 + 16}},
                               Points{{1e17, 1}}, Points{{-huge, 1}, {huge, 2}}, Points{{1, -huge}, {2, huge}},
                               Points{{1, huge}, {1, huge}}, Points{{1e-310, 1e-310}, {2e-310, 3e-310}}}) {
    CAPTURE(points.front().first);
    CAPTURE(points.front().second);
    formats::ModelWriter file(place.path("far.h5"));
    formats::History history;
    for (const auto& [step, loss] : points) {
      history.append({{"step", step}, {"loss", loss}, {"valid_loss", loss}, {"learning_rate", 1e-310}});
    }
    file.config(small_config);
    file.tokenizer(tests::byte_tokenizer_model());
    file.weights(place.weights());
    file.history(history);
    file.commit(formats::start_provenance("pretrain"));
    const std::string limited = "ulimit -t 10; ";
    CHECK(place.run(limited + "$I far.h5").status == 0);
    CHECK(place.run(limited + "$I history far.h5").status == 0);
    for (const char* name : {"far.svg", "far.html", "far.tsv"}) {
      CHECK(place.run(limited + "$I history far.h5 -o " + name).status == 0);
    }
  }
}

TEST_CASE("inspect: lost outputs") {
  const Workplace place;
  CHECK(place.run("$I random.h5 > /dev/full").err ==
        "inspect: standard output: cannot write: No space left on device\n");
  const Outcome closed = place.run("$I --preset gpt2-xl --json | head -n 1; echo ${PIPESTATUS[0]}");
  CHECK(closed.err.empty());
  CHECK((closed.out == "{\n141\n" || closed.out == "{\n0\n"));
}

TEST_CASE("inspect embed: one text's states as HDF5 and as tab-separated text are those of the model") {
  const Workplace place;
  REQUIRE(place.run("$I embed random.h5 --text 'a cat' -o x.h5").status == 0);
  const formats::LoadedModel loaded = formats::load_model(formats::ModelFile(place.path("random.h5")));
  const std::vector<TokenId> ids = loaded.tokenizer.encode("a cat");
  const Tensor wanted = loaded.model->as<models::ContextualVectors>()->hidden(TokenIds({1, 5}, ids)).value();
  const formats::InputFile file(place.path("x.h5"));
  CHECK(file.kind() == formats::FileKind::tensors);
  const hdf5::Dataset hidden = file.root().dataset("hidden");
  REQUIRE(hidden.extents() == std::vector<Index>{5, 8});
  std::vector<float> states(40);
  hidden.read<float>(states);
  for (std::size_t i = 0; i < 40; ++i) CHECK(states[i] == doctest::Approx(wanted[static_cast<Index>(i)]));
  CHECK(formats::read_column<Index>(file.root(), "ids") == std::vector<Index>(ids.begin(), ids.end()));
  CHECK(formats::read_column<std::string>(file.root(), "pieces") == std::vector<std::string>{"a", "Ġ", "c", "a", "t"});
  CHECK(formats::read_column<Index>(file.root(), "texts") == std::vector<Index>{0, 5});
  CHECK(contains(place.run("$I x.h5").out, "inspect embed random.h5 --text 'a cat' -o x.h5"));

  std::istringstream lines(place.run("$I embed random.h5 --text 'a cat'").out);
  std::string piece;
  std::size_t at = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    fields >> piece;
    for (float value; fields >> value; ++at) CHECK(value == states.at(at));
  }
  CHECK(at == 40);
  CHECK(piece == "t");
}

TEST_CASE("inspect embed: a line of vectors for each line of text, whatever the batch") {
  const Workplace place;
  const Outcome lines = place.run("printf 'one\\ntwo words\\n3' | $I embed random.h5 --pooling mean --layer 0,-1");
  CHECK(lines.status == 0);
  CHECK(lines_in(lines.out) == 3);
  CHECK(std::ranges::count(lines.out, '\t') == 3 * 7);
  const std::string alone =
      place.run("for t in one 'two words' 3; do $I embed random.h5 --text \"$t\" --pooling mean --layer 0,3; done").out;
  std::istringstream together(lines.out), apart(alone);
  for (double a = 0, b = 0; apart >> b;) CHECK((together >> a && std::abs(a - b) < 1e-5));
  write_file(place.path("lines.txt"), "one\ntwo\n");
  const std::string last = "$I embed random.h5 lines.txt --pooling last";
  CHECK(place.run(last).out == place
                                   .run("$I embed random.h5 lines.txt | awk 'NF { row = $0 } !NF { print row }' | "
                                        "cut -f2-")
                                   .out);
  CHECK(place.run(last + " -o x.tsv && cat x.tsv").out == place.run(last).out);
  CHECK(place.run(last + " -o x.h5").status == 0);
  CHECK(formats::InputFile(place.path("x.h5")).root().dataset("hidden").extents() == std::vector<Index>{2, 8});
}

TEST_CASE("inspect embed --jsonl and --json: the numbers of the table, an object for each text") {
  const Workplace place;
  write_file(place.path("lines.txt"), "one\ntwo\n");
  const std::string table = place.run("$I embed random.h5 lines.txt --pooling mean").out;
  std::vector<json> objects;
  for (const std::string& line :
       heddle::testing::lines_of(place.run("$I embed random.h5 lines.txt --pooling mean --jsonl").out)) {
    objects.push_back(parse_json(line));
  }
  const std::vector<std::string> rows = heddle::testing::lines_of(table);
  REQUIRE(rows.size() == 2);
  REQUIRE(objects.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::istringstream numbers(rows[i]);
    REQUIRE(objects[i]["vector"].size() == 8);
    for (const auto& value : objects[i]["vector"]) {
      float number = 0;
      REQUIRE((numbers >> number));
      CHECK(value.get<float>() == number);
    }
    float more = 0;
    CHECK_FALSE((numbers >> more));
  }
  const json whole = parse_json(place.run("$I embed random.h5 lines.txt --pooling mean --json").out);
  CHECK(whole["texts"] == json(objects));
  CHECK(parse_json(place.run("$I embed random.h5 --json < /dev/null").out) == json{{"texts", json::array()}});
  const json tokens = parse_json(place.run("$I embed random.h5 --text 'ab c' --jsonl").out);
  CHECK(tokens["pieces"].size() == 4);
  CHECK(tokens["vectors"].size() == 4);
  CHECK(tokens["vectors"][0].size() == 8);
}

TEST_CASE("inspect embed: what cannot be embedded is an error that says where") {
  const Workplace place;
  const Outcome blank = place.run("printf 'one\\n\\nthree\\n' | $I embed random.h5 --pooling mean");
  CHECK(blank.status == 1);
  CHECK(contains(blank.err, "standard input:2: has no token"));
  CHECK(lines_in(blank.out) == 1);
  const Outcome overlong = place.run("$I embed random.h5 --text 'seventeen letters'");
  CHECK(overlong.status == 1);
  CHECK(contains(overlong.err, "--text: the text has 17 tokens, more than the 16 that fit the context; shorten it"));
  const Outcome cut = place.run("$I embed random.h5 --text 'seventeen letters' --overlong truncate");
  CHECK(cut.out == place.run("$I embed random.h5 --text 'seventeen letter'").out);
  CHECK(contains(cut.err, "1 text was longer than the context, and truncated"));
  for (const char* wrong : {"--layer 4", "--json -o x.h5", "-o x.svg", "--top 3", "--json --jsonl"}) {
    CAPTURE(wrong);
    const Outcome outcome = place.run("$I embed random.h5 --text text " + std::string(wrong));
    CHECK(outcome.status == 2);
    CHECK(outcome.out.empty());
  }
  CHECK(place.run("$I random.h5 lines.txt").status == 2);
}

TEST_CASE("inspect neighbours: the pieces most like a word, without itself and special ones") {
  const Workplace place;
  const Tensor table = place.model.token_embeddings();  // zero by now; some get values
  for (const auto& [letter, x, y] : {std::tuple{'a', 2, 0}, {'b', 1, 0}, {'c', 1, 1}, {'d', -1, 0}}) {
    table[letter * 8] = static_cast<Real>(x);
    table[letter * 8 + 1] = static_cast<Real>(y);
  }
  table[256 * 8] = 1;
  write_model(place.path("some.h5"), small_config, place.weights());
  CHECK(place.run("$I neighbours some.h5 a --top 2 --raw").out == "b\t1\nc\t0.707107\n");
  CHECK(place.run("$I neighbours some.h5 a c --top 1 --raw").out == "a\tb\t1\nc\ta\t0.707107\n");
  // Without the mean, which a vector of 256 equal ones is to all.
  for (Index i = 0; i < 257; ++i) table[i * 8 + 2] = 100;
  write_model(place.path("moved.h5"), small_config, place.weights());
  const std::vector<std::string> moved = testing::lines_of(place.run("$I neighbours moved.h5 a --top 300").out);
  CHECK(moved[0].starts_with("b\t0.99"));
  CHECK(moved.back().starts_with("d\t-0.99"));
  CHECK(testing::lines_of(place.run("$I neighbours moved.h5 a --top 300 --raw").out).back().starts_with("d\t0.99"));
  const json answers = place.run_json("$I neighbours some.h5 ab a --top 300 --raw");
  REQUIRE(answers["words"].size() == 2);
  const json& answer = answers["words"][0];
  CHECK(answer["word"] == "ab");
  REQUIRE(answer["neighbours"].size() == 254);
  CHECK(answer["neighbours"].front()["piece"] == "c");
  CHECK(answer["neighbours"].back()["id"] == 'd');
  CHECK(answer["neighbours"].back()["similarity"] == -1);
}
