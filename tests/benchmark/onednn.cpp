// The same products through oneDNN in bfloat16, with weights in the layout that it prefers: prints JSON.
#include <dnnl.hpp>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "measure.hpp"
#include "product_shapes.hpp"

using namespace heddle::benchmark;

namespace {

dnnl::memory ones(const dnnl::memory::desc& description, const dnnl::engine& engine) {
  dnnl::memory memory(description, engine);
  auto* halves = static_cast<std::uint16_t*>(memory.get_data_handle());
  std::fill(halves, halves + description.get_size() / 2, std::uint16_t{0x3F80});
  return memory;
}

// FLOP/s
double product_rate(const ProductShape& shape, const dnnl::engine& engine) {
  using Memory = dnnl::memory;
  constexpr auto bf16 = Memory::data_type::bf16;
  const Memory::desc x({shape.rows, shape.inner}, bf16, Memory::format_tag::ab);
  const Memory::desc weight({shape.inner, shape.columns}, bf16, Memory::format_tag::any);
  const Memory::desc y({shape.rows, shape.columns}, bf16, Memory::format_tag::ab);
  const dnnl::matmul::primitive_desc plan(dnnl::matmul::desc(x, weight, y), engine);
  const dnnl::matmul product(plan);
  dnnl::stream stream(engine);
  const std::unordered_map<int, Memory> operands{{DNNL_ARG_SRC, ones(plan.src_desc(), engine)},
                                                 {DNNL_ARG_WEIGHTS, ones(plan.weights_desc(), engine)},
                                                 {DNNL_ARG_DST, ones(plan.dst_desc(), engine)}};
  return shape.operations() / median_seconds(5, [&] {
           product.execute(stream, operands);
           stream.wait();
         });
}

}  // namespace

int main() {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  nlohmann::ordered_json json;
  for (const ProductShape& shape : product_shapes) {
    json["onednn_bf16_gflops " + shape.name()] = product_rate(shape, engine) * 1e-9;
  }
  std::cout << json.dump() << std::endl;
}
