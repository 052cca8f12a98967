#include "libcore/nn/relative_segments.hpp"

#include "libcore/ops/attention_offsets.hpp"
#include "libcore/ops/heads.hpp"

namespace heddle::nn {

RelativeSegments::RelativeSegments(const Scope& scope, Index heads, Index head_width, double stddev)
    : vectors_(scope.parameter("weight", {2, heads * head_width}, Initializer::normal(stddev), Decay::yes)),
      bias_(scope.parameter("bias", {heads, head_width}, Initializer::normal(stddev), Decay::no)) {}

ops::SegmentTerm RelativeSegments::operator()(const Variable& query, std::shared_ptr<const TokenIds> queries,
                                              std::shared_ptr<const TokenIds> keys) const {
  const Variable of_heads = view(vectors_, [heads = query.shape()[1]](const Tensor& t) {
    return t.as(DType::real).split(-1, heads).swapped(0, 1);
  });
  return {ops::offset_products(ops::shift_heads(query, bias_, 1), of_heads), std::move(queries), std::move(keys)};
}

}  // namespace heddle::nn
