// Weights that many products have in common, packed once.
#pragma once

#include <memory>
#include <span>

#include "libcore/tensor/tensor.hpp"

namespace heddle {

class KeptPanels;

// While it lives, products that the calling thread begins pack a right operand that is one of these matrices at its
// first product only, and keep that: 4 bytes for each element, or 2 where products are in bfloat16. The elements must
// stay as they are. Results have the same bits.
class KeptPanelsScope {
 public:
  explicit KeptPanelsScope(std::span<const Tensor> matrices);
  ~KeptPanelsScope();
  KeptPanelsScope(const KeptPanelsScope&) = delete;
  KeptPanelsScope& operator=(const KeptPanelsScope&) = delete;

 private:
  const std::unique_ptr<KeptPanels> panels_;
  KeptPanels* const before_;
};

}  // namespace heddle
