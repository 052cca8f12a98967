#include "tools/cli/answer_precision.hpp"

#include "libcore/parallel/divided.hpp"
#include "tools/cli/choose_precision.hpp"

namespace heddle::cli {

AnswerPrecision::AnswerPrecision(PrecisionChoice wanted, const Arguments& arguments) {
  const parallel::Group& group = parallel::dividing();
  std::vector<PrecisionChoice> chosen{wanted};
  if (group.is_first()) chosen = {choose_precision(wanted, arguments)};
  group.broadcast(chosen);
  if (chosen.front() == PrecisionChoice::bf16) scope_.emplace(Precision::bf16);
}

}  // namespace heddle::cli
