#include "rows.hpp"

#include "product_shapes.hpp"

namespace heddle::benchmark {

namespace {

using Rows = std::vector<Row>;

void add(Rows& rows, const Rows& more) {
  rows.insert(rows.end(), more.begin(), more.end());
}

const Rows limits{
    {"limits", "multiply-adds from registers, one thread", "GFLOP/s", "limits: fma_gflops_1", {}},
    {"limits", "multiply-adds from registers", "GFLOP/s", "limits: fma_gflops", {}},
    {"limits", "matrix units, bf16, from registers, one thread", "GFLOP/s", "limits: matrix_unit_gflops_1", {}},
    {"limits", "matrix units, bf16, from registers", "GFLOP/s", "limits: matrix_unit_gflops", {}},
    {"limits", "reading memory, one thread", "GB/s", "limits: read_gb_s_1", {}},
    {"limits", "reading memory", "GB/s", "limits: read_gb_s", {}},
    {"limits", "reading memory, four streams per thread", "GB/s", "limits: read_4_streams_gb_s", {}},
};

Rows products() {
  Rows rows;
  for (const ProductShape& shape : product_shapes) {
    const std::string name = shape.name();
    rows.push_back({"products",
                    "f32, " + name + ", against OpenBLAS",
                    "GFLOP/s",
                    "limits: heddle_f32_gflops " + name,
                    {"OpenBLAS: sgemm_gflops " + name}});
    rows.push_back({"products",
                    "bf16, " + name + ", against oneDNN with packed weights",
                    "GFLOP/s",
                    "limits: heddle_bf16_gflops " + name,
                    {"oneDNN: onednn_bf16_gflops " + name}});
  }
  return rows;
}

// The rows of one model, with the advantage over PyTorch that is asked in f32. In bf16 it is 1.5 for all.
Rows training(const std::string& model, const std::string& what, double target) {
  const std::string quantity = ": tokens_per_second", pytorch = model + " PyTorch ";
  return {{"training",
           what + ", f32",
           "tokens/s",
           model + " heddle f32" + quantity,
           {pytorch + "f32" + quantity, pytorch + "f32, OpenBLAS's choice" + quantity},
           target},
          {"training",
           what + ", bf16",
           "tokens/s",
           model + " heddle bf16" + quantity,
           {pytorch + "bf16" + quantity, pytorch + "bf16, passive" + quantity},
           1.5}};
}

// AdamW may take 1.3 times as long as its memory traffic does.
constexpr double update_share = 1 / 1.3;

const Rows more_training{
    {"training",
     "GPT-2 124M, 4 x 64, f32, against llm.c",
     "tokens/s",
     "124m-short heddle f32: tokens_per_second",
     {"124m-short llm.c f32: tokens_per_second"},
     5},
    {"training",
     "GPT-2 124M, 4 x 256, f32, of sgemm's rate",
     "GFLOP/s",
     "124m heddle f32: gflops",
     {"OpenBLAS: sgemm_gflops 2048x2048x2048"},
     0.8},
    {"training", "6 x 384, 12 x 256, bf16, arithmetic (stretch)", "GFLOP/s", "small heddle bf16: gflops", {"= 800"}, 1},
    {"training",
     "AdamW on 124M, at 28 bytes per parameter, of reading",
     "GB/s",
     "124m heddle f32: update_gb_s",
     {"limits: read_gb_s", "limits: read_4_streams_gb_s"},
     update_share},
    {"memory",
     "most memory of training 124M, 4 x 256, f32",
     "MB",
     "124m heddle f32: peak_memory_mb",
     {"124m PyTorch f32: peak_memory_mb"},
     1,
     Better::less},
    {"memory",
     "most memory of training 124M, 4 x 256, bf16",
     "MB",
     "124m heddle bf16: peak_memory_mb",
     {"124m PyTorch bf16: peak_memory_mb"},
     1,
     Better::less},
};

// Adapters of rank 8 against the fine-tuning of all weights.
Rows adapters(const std::string& shape, const std::string& precision) {
  const std::string what = "adapters of rank 8, " + shape + ", " + precision + ", over whole fine-tuning";
  const std::string of = "adapters " + shape + " " + precision + " rank ";
  return {{"adapters", what, "tokens/s", of + "8: tokens_per_second", {of + "0: tokens_per_second"}, 1.25},
          {"adapters", what, "MB", of + "8: peak_memory_mb", {of + "0: peak_memory_mb"}, 1, Better::less}};
}

// A classifier of texts that are tokens already; the whole process reads, cuts, and writes besides.
Rows classifying(const std::string& shape) {
  const std::string of = "classifying " + shape + " ", quantity = ": texts_per_second";
  return {{"classifying",
           "SST-2's test set, " + shape + ", f32",
           "texts/s",
           of + "heddle" + quantity,
           {of + "PyTorch" + quantity, of + "ONNX Runtime f32" + quantity},
           1},
          {"classifying",
           "the same, int8",
           "texts/s",
           of + "heddle int8" + quantity,
           {of + "ONNX Runtime int8" + quantity},
           1.1},
          {"classifying", "the same, whole process", "s", of + "heddle, whole process: seconds", {}}};
}

// One line against what memory allows, with the share that is asked.
Row decoding(const std::string& weights, double share) {
  const std::string ours = "decoding heddle " + weights + ": tokens_per_second";
  return {"decoding",
          "one line, " + weights + ", of the bandwidth's limit",
          "tokens/s",
          ours,
          {ours + "_limit", ours + "_4_streams"},
          share};
}

// Against llama.cpp with weights of the same bits.
Rows beside_llama(const std::string& weights, double share) {
  const std::string ours = "decoding heddle " + weights + ": ", theirs = "decoding llama.cpp " + weights + ": ";
  const std::string one = "tokens_per_second", prompt = "prompt_tokens_per_second";
  return {{"decoding", "one line, " + weights + ", against llama.cpp", "tokens/s", ours + one, {theirs + one}, share},
          {"decoding",
           "prompt of 256, " + weights + ", against llama.cpp",
           "tokens/s",
           ours + prompt,
           {theirs + prompt},
           1.1}};
}

const Rows more_decoding{
    {"decoding",
     "one line, f32, against peers",
     "tokens/s",
     "decoding heddle f32: tokens_per_second",
     {"decoding CTranslate2 f32: tokens_per_second"}},
    {"decoding",
     "one line, int8, against CTranslate2's int8",
     "tokens/s",
     "decoding heddle int8: tokens_per_second",
     {"decoding CTranslate2 int8: tokens_per_second"}},
    {"decoding",
     "prompt of 256, f32, against 950",
     "tokens/s",
     "decoding heddle f32: prompt_tokens_per_second",
     {"= 950"},
     1},
    {"decoding",
     "prompt of 256, f32, against CTranslate2",
     "tokens/s",
     "decoding heddle f32: prompt_tokens_per_second",
     {"decoding CTranslate2 f32: prompt_tokens_per_second"},
     1},
    {"decoding",
     "prompt of 256, bf16, against CTranslate2's int8",
     "tokens/s",
     "decoding heddle bf16: prompt_tokens_per_second",
     {"decoding CTranslate2 int8: prompt_tokens_per_second"},
     1},
    {"decoding",
     "16 lines at once, f32, over one line",
     "tokens/s",
     "decoding heddle f32: lines_tokens_per_second",
     {"decoding heddle f32: tokens_per_second"},
     8},
};

const Rows tools{
    {"tokenizing",
     "GPT-2's vocabulary, one thread",
     "MB/s",
     "encoding heddle: mb_per_second",
     {"encoding tiktoken: mb_per_second", "encoding gpt-tokenizer: mb_per_second",
      "encoding SentencePiece: mb_per_second"},
     3},
    {"tokenizing",
     "two threads over one, on twenty times the text",
     "MB/s",
     "encoding more heddle 2: mb_per_second",
     {"encoding more heddle 1: mb_per_second"},
     1.8},
    {"tokenizing",
     "learning 8,000 BPE pieces",
     "s",
     "learning heddle: seconds",
     {"learning SentencePiece: seconds"},
     2,
     Better::less},
    {"start-up", "--version", "ms", "start-up version: milliseconds", {"= 50"}, 1, Better::less},
    {"start-up", "inspect of a model of 500 MB", "ms", "start-up inspect: milliseconds", {"= 50"}, 1, Better::less},
};

}  // namespace

std::vector<Row> report_rows() {
  Rows rows = limits;
  add(rows, products());
  add(rows, training("124m", "GPT-2 124M, 4 x 256", 1.2));
  add(rows, training("small", "6 x 384, 12 x 256", 1.3));
  add(rows, training("nano", "4 x 128, 12 x 64", 2));
  add(rows, more_training);
  for (const char* shape : {"3x192", "4x256", "12x768"}) {
    for (const char* precision : {"f32", "bf16"}) add(rows, adapters(shape, precision));
  }
  for (const char* shape : {"4x256", "6x512"}) add(rows, classifying(shape));
  add(rows, {decoding("f32", 0.95), decoding("bf16", 0.95), decoding("int8", 0.95), decoding("q8", 0.95),
             decoding("q4", 0.8)});
  for (const char* weights : {"f32", "bf16", "q8"}) add(rows, beside_llama(weights, 1.2));
  add(rows, beside_llama("q4", 1.1));
  add(rows, more_decoding);
  add(rows, tools);
  return rows;
}

}  // namespace heddle::benchmark
