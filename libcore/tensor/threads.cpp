#include "libcore/tensor/threads.hpp"

#include "libcore/base/error.hpp"
#include "libcore/tensor/context.hpp"
#include "libcore/tensor/workers.hpp"

namespace heddle {

void detail::run_tasks(Index count, TaskFunction function, const void* body) {
  const Context& context = Context::current();
  if (context.is_simulated()) return;
  check<Error>(count < (Index{1} << 31), "too many tasks: ", count);
  const bool shared = count > 1 && !thread_state.inside_task &&
                      context.workers().run({count, function, body, {&context, &flop_pairs(), true}});
  if (shared) return;
  for (Index task = 0; task < count; ++task) function(body, task);
}

}  // namespace heddle
