// Peak rates of this machine, and the fraction that heddle's matrix products reach.
#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/matmul.hpp"
#include "measure.hpp"
#include "product_shapes.hpp"
#include "register_peaks.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct NoOptions {
  template <class Self, class Visitor>
  static void visit(Self&, Visitor&) {}
};

// heddle's own products, with operands as training at this precision has them.
double product_rate(const ProductShape& shape, Precision numbers) {
  const PrecisionScope scope(numbers);
  const DType dtype = activation_dtype();
  const Tensor x = Tensor(Shape{shape.rows, shape.inner}, 0.5f).as(dtype),
               weight = Tensor(Shape{shape.columns, shape.inner}, 0.25f).as(dtype),
               y(Shape{shape.rows, shape.columns}, dtype);
  const double seconds = median_seconds(5, [&] { matmul(matrix(x), transpose(weight), target(y)); });
  return shape.operations() / seconds;
}

// In units of 10^9 a second; left out where the machine has no such thing.
void put(formats::Json& json, const std::string& quantity, double rate) {
  if (rate > 0) json[quantity] = rate * 1e-9;
}

// The limits of the threads in use.
void put_limits(formats::Json& json, const MemoryReader& memory, const std::string& suffix) {
  put(json, "fma_gflops" + suffix, multiply_add_rate());
  put(json, "matrix_unit_gflops" + suffix, matrix_unit_rate());
  put(json, "read_gb_s" + suffix, memory.rate());
  put(json, "read_4_streams_gb_s" + suffix, memory.rate(4));
}

void put_products(formats::Json& json, const ProductShape& shape) {
  put(json, "heddle_f32_gflops " + shape.name(), product_rate(shape, Precision::f32));
  if (bf16_is_supported()) put(json, "heddle_bf16_gflops " + shape.name(), product_rate(shape, Precision::bf16));
}

const cli::About about{.name = "benchmark_limits",
                       .summary = "Measures the machine's limits and rates of matrix products; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    arguments.read<NoOptions>();
    formats::Json json;
    {
      const MemoryReader memory;
      put_limits(json, memory, "");
      const ContextScope one{Context(1)};
      put_limits(json, memory, "_1");
    }
    for (const ProductShape& shape : product_shapes) put_products(json, shape);
    std::cout << json.dump() << std::endl;
  });
}
