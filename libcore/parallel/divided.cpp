#include "libcore/parallel/divided.hpp"

#include <exception>
#include <new>

#include "libcore/base/error.hpp"

namespace heddle::parallel {

namespace {

thread_local const Group* dividing_group = nullptr;

// Exception of a rank's work, encoded for other ranks; kind 0: none.
struct Failure {
  char kind = 0;
  int exit_status = 0;
  std::string message;
  auto parts() { return std::tie(kind, exit_status, message); }
  auto parts() const { return std::tie(kind, exit_status, message); }
};

Failure described(const std::exception_ptr& thrown) {
  if (!thrown) return {};
  try {
    std::rethrow_exception(thrown);
  } catch (const UsageError& error) {
    return {'u', 2, error.what()};
  } catch (const DataError& error) {
    return {'d', 1, error.what()};
  } catch (const NumericError& error) {
    return {'n', 3, error.what()};
  } catch (const Error& error) {
    return {'e', error.exit_status(), error.what()};
  } catch (const std::bad_alloc&) {
    return {'e', 1, "out of memory; use a smaller batch, context or model"};
  } catch (const std::exception& error) {
    return {'e', 1, error.what()};
  }
}

[[noreturn]] void raise(const Failure& failure) {
  switch (failure.kind) {
    case 'u':
      throw UsageError(failure.message);
    case 'd':
      throw DataError(failure.message);
    case 'n':
      throw NumericError(failure.message);
    default:
      throw Error(failure.message, failure.exit_status);
  }
}

}  // namespace

Divided::Divided(const Group& group) : before_(dividing_group) {
  dividing_group = &group;
}

Divided::~Divided() {
  dividing_group = before_;
}

const Group& dividing() {
  return dividing_group == nullptr ? alone() : *dividing_group;
}

void together(const Group& group, const std::function<void()>& work) {
  if (group.is_alone()) return work();
  std::exception_ptr own;
  try {
    work();
  } catch (...) {
    own = std::current_exception();
  }
  Packer packer;
  packer(described(own));
  const std::vector<std::string> all = group.gather(packer.bytes());
  for (int rank = 0; rank < group.size(); ++rank) {
    Failure failure;
    Unpacker unpacker(all[static_cast<std::size_t>(rank)]);
    unpacker(failure);
    if (failure.kind == 0) continue;
    if (rank == group.rank()) std::rethrow_exception(own);
    raise(failure);
  }
}

}  // namespace heddle::parallel
