// OpenBLAS's products in single precision on its own threads, with the kernel that OPENBLAS_CORETYPE names: what
// anybody's could reach. Prints JSON.
#include <cblas.h>

#include <iostream>

#include "formats/archives/json_archive.hpp"
#include "libcore/tensor/blas.hpp"
#include "libcore/tensor/threads.hpp"
#include "measure.hpp"
#include "product_shapes.hpp"
#include "tools/cli/run.hpp"

using namespace heddle;
using namespace heddle::benchmark;

namespace {

struct Options {
  bool kernel = false;

  template <class Self, class Visitor>
  static void visit(Self& self, Visitor& visitor) {
    visitor(Field("kernel", "print the rate of the first product, and the kernel's name"), self.kernel);
  }
};

// 10^9 operations per second.
double sgemm_rate(const ProductShape& shape) {
  const auto rows = static_cast<int>(shape.rows), columns = static_cast<int>(shape.columns),
             inner = static_cast<int>(shape.inner);
  const Tensor x(Shape{shape.rows, shape.inner}, 0.5f), weight(Shape{shape.columns, shape.inner}, 0.25f),
      y(Shape{shape.rows, shape.columns}, 0.0f);
  openblas_set_num_threads(thread_count());
  return shape.operations() * 1e-9 / median_seconds(5, [&] {
           cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, inner, 1, x.data(), inner, weight.data(),
                       inner, 0, y.data(), columns);
         });
}

const cli::About about{.name = "benchmark_sgemm",
                       .summary = "Measures OpenBLAS's matrix products; prints JSON.",
                       .synopsis = {"[options]"},
                       .operands = {}};

}  // namespace

int main(int argc, char** argv) {
  return cli::run(argc, argv, about, [](cli::Arguments& arguments) {
    const auto options = arguments.read<Options>();
    if (options.kernel) {
      std::cout << sgemm_rate(product_shapes[0]) << " " << describe_blas().kernel << std::endl;
      return;
    }
    formats::Json json;
    for (const ProductShape& shape : product_shapes) json["sgemm_gflops " + shape.name()] = sgemm_rate(shape);
    std::cout << json.dump() << std::endl;
  });
}
