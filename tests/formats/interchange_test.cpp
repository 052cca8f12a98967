// Files are for other programs too: HDF5's own tools and h5py, where they are installed.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <regex>

#include "formats/files.hpp"
#include "formats/heddle/token_file.hpp"
#include "formats/library.hpp"
#include "formats/samples.hpp"
#include "support/skips.hpp"

using namespace heddle;
using namespace heddle::formats;
using namespace heddle::tests;

namespace {

bool runs(const std::string& command) {
  int status = 0;
  output_of(command, status);
  if (status != 0) testing::skipped("`" + command + "` does not run here");
  return status == 0;
}

}  // namespace

TEST_CASE("h5ls and h5dump show a model file as it is meant") {
  if (!runs("h5ls --version") || !runs("h5dump --version")) return;
  const FixedTime fixed;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  write_sample_model(path, start_provenance("pretrain --train 'my tokens.h5'"));
  int status = 0;
  const std::string list = output_of("h5ls -r " + path, status);
  CHECK(status == 0);
  CHECK(contains(list, "/weights/decoder/0/attention/query/weight Dataset {8, 8}"));
  CHECK(contains(list, "/tokenizer/pieces"));
  const std::string header = output_of("h5dump -A -g /config " + path, status);
  CHECK(status == 0);
  CHECK(contains(header, "ATTRIBUTE \"layers\""));
  CHECK(contains(header, "H5T_STD_I64LE"));
  const std::string root = output_of("h5dump -a /command_line " + path, status);
  CHECK(contains(root, "pretrain --train 'my tokens.h5'"));
  const std::string pieces = output_of("h5dump -d /tokenizer/pieces -s 65 -c 2 " + path, status);
  CHECK(contains(pieces, "\"A\", \"B\""));
  const std::string losses = output_of("h5dump -d /history/loss " + path, status);
  CHECK(std::regex_search(losses, std::regex("5\\.5, 5\\.25, nan")));
}

TEST_CASE("h5dump prints bfloat16 as the numbers that they are, and int8 with its scales") {
  if (!runs("h5dump --version")) return;
  const TemporaryFolder folder;
  const std::string path = folder.file("model.h5");
  const auto dump = [&](WeightType type, const std::string& name) {
    ModelWriter file(path);
    file.tokenizer(byte_tokenizer_model());
    file.weights(
        std::vector<NamedTensor>{{"weight", convert(Tensor({2, 3}, {0.5f, -1.25f, 3e38f, 1e-3f, 0, 127}), type)}});
    file.commit(start_provenance("test"));
    int status = 0;
    const std::string text = output_of("h5dump -y -d " + name + " " + path, status);
    CHECK(status == 0);
    return text;
  };
  CHECK(contains(dump(WeightType::bf16, "/weights/weight"), "0.5, -1.25, 3.00406e+38,"));
  CHECK(contains(dump(WeightType::bf16, "/weights/weight"), "0.000999451, 0, 127"));
  CHECK(contains(dump(WeightType::int8, "/weights/weight"), "0, 0, 127,"));
  CHECK(contains(dump(WeightType::int8, "/weights/weight.scales"), "2.3622e+36, 1"));
}

TEST_CASE("a model that h5repack wrote anew is the same model") {
  if (!runs("h5repack --version")) return;
  const TemporaryFolder folder;
  write_sample_model(folder.file("model.h5"), start_provenance("pretrain"));
  int status = 0;
  const auto repack = [&](const std::string& options) {
    output_of("h5repack " + options + folder.file("model.h5") + " " + folder.file("again.h5"), status);
    REQUIRE(status == 0);
  };
  const auto check_same = [&] {
    const ModelFile model(folder.file("again.h5"));
    CHECK(model.verify().empty());
    CHECK(model.config<SampleConfig>() == SampleConfig{.layers = 3});
    const std::vector<NamedTensor> mapped = model.map_weights();
    CHECK(mapped.at(0).value.elements() == sample_weights().at(0).value.elements());
  };
  repack("-L ");
  check_same();
  repack("");  // in the structures of HDF5 1.6
  CHECK(contains(message_of([&] { ModelFile file(folder.file("again.h5")); }), "has a superblock of version 0"));
  const Trust trust;
  check_same();
}

TEST_CASE("h5py reads weights, tokens, documents and checksums") {
  const std::string python = runs("/usr/bin/python3 -c 'import h5py'") ? "/usr/bin/python3" : "python3";
  if (!runs(python + " -c 'import h5py'")) return;
  const TemporaryFolder folder;
  write_sample_model(folder.file("model.h5"), start_provenance("pretrain"));
  write_sample_model(folder.file("bf16.h5"), start_provenance("convert"), WeightType::bf16);
  write_sample_model(folder.file("int8.h5"), start_provenance("convert"), WeightType::int8);
  {
    TokenFileWriter file(folder.file("tokens.h5"), text::Tokenizer(byte_tokenizer_model()), {.compress = true});
    file.append(std::vector<TokenId>{72, 105});
    file.end_document();
    file.append(std::vector<TokenId>{33});
    file.commit(start_provenance("tokenize"));
  }
  write_bytes(folder.file("read.py"), R"(
import h5py
f = h5py.File("model.h5")
assert f.attrs["kind"] == b"model", f.attrs["kind"]
assert f["config"].attrs["layers"] == 3
assert f["weights/embedding/weight"].shape == (257, 8)
assert f["weights/embedding/weight"].dtype == "float32"
assert list(f["weights"]) == ["embedding", "decoder", "temperature"], list(f["weights"])
assert f["tokenizer/pieces"].asstr()[65] == "A"
assert f["provenance/command_line"].asstr()[-1] == "pretrain"
for name, places in ("bf16.h5", 2 ** -8), ("int8.h5", 1 / 254):
    r = h5py.File(name)["weights/embedding"]
    w = r["weight"][:].astype("float32")
    if "weight.scales" in r: w *= r["weight.scales"][:][:, None]
    assert abs(w - f["weights/embedding/weight"][:]).max() <= places * abs(w).max()
t = h5py.File("tokens.h5")
d = t["documents"]
assert [bytes(t["tokens"][d[i]:d[i+1]].astype("uint8")) for i in range(2)] == [b"Hi", b"!"]
try:
    import xxhash
except ImportError:
    xxhash = None
if xxhash:
    w = f["weights/embedding/weight"]
    assert xxhash.xxh3_128(w[:].tobytes()).hexdigest() == w.attrs["xxh128"].decode()
f.close()
with h5py.File("model.h5", "r+") as f:
    del f["training"]
)");
  int status = 0;
  const std::string output = output_of("cd " + folder.path().string() + " && " + python + " read.py", status);
  CHECK(output.empty());
  CHECK(status == 0);
  const ModelFile model(folder.file("model.h5"));
  CHECK_FALSE(model.has_training());
  CHECK(model.verify().empty());
}
