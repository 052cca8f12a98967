#include "libcore/tensor/kept_panels.hpp"

#include <algorithm>
#include <list>
#include <unordered_map>
#include <utility>

#include "libcore/tensor/packed_lanes.hpp"
#include "libcore/tensor/workspace.hpp"

namespace heddle {

namespace {

// A right operand whole: the slabs of its depth one after the other, of all lanes each.
class KeptOperand {
 public:
  KeptOperand(const MicroKernel& kernel, const MatrixView& b) : kernel_(kernel), b_(b) {
    const Lanes lanes(kernel, b, false);
    auto* panels = memory_.get<std::byte>(kernel.panel_bytes(lanes.padded(), b.rows));
    const Index step = slab_depth(kernel, b.rows);
    for (Index k = 0; k < b.rows; k += step) {
      lanes.depth_in(k, std::min(b.rows, k + step)).pack(panels + kernel.panel_bytes(lanes.padded(), k));
    }
  }

  bool is(const MicroKernel& kernel, const MatrixView& b) const {
    return &kernel == &kernel_ && b.rows == b_.rows && b.columns == b_.columns && b.stride == b_.stride &&
           b.transposed == b_.transposed && b.dtype == b_.dtype && b.skipped == b_.skipped;
  }
  const std::byte* panels() const { return memory_.data(); }

 private:
  const MicroKernel& kernel_;
  const MatrixView b_;
  Workspace memory_;
};

}  // namespace

class KeptPanels {
 public:
  explicit KeptPanels(std::span<const Tensor> matrices) {
    for (const Tensor& matrix : matrices) operands_[matrix.raw()];
  }

  // Null for a matrix that is none of those.
  const std::byte* find(const MicroKernel& kernel, const MatrixView& b) {
    const auto found = operands_.find(b.data);
    if (found == operands_.end()) return nullptr;
    for (const KeptOperand& kept : found->second) {
      if (kept.is(kernel, b)) return kept.panels();
    }
    return found->second.emplace_back(kernel, b).panels();
  }

  static inline constinit thread_local KeptPanels* current = nullptr;

 private:
  std::unordered_map<const void*, std::list<KeptOperand>> operands_;
};

KeptPanelsScope::KeptPanelsScope(std::span<const Tensor> matrices)
    : panels_(std::make_unique<KeptPanels>(matrices)), before_(std::exchange(KeptPanels::current, panels_.get())) {}
KeptPanelsScope::~KeptPanelsScope() {
  KeptPanels::current = before_;
}

const std::byte* kept_panels(const MicroKernel& kernel, const MatrixView& b) {
  return KeptPanels::current == nullptr ? nullptr : KeptPanels::current->find(kernel, b);
}

}  // namespace heddle
