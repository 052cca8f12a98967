#include "libcore/tensor/profile.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "libcore/tensor/matmul.hpp"

using namespace heddle;

namespace {

// Entry with this part and name; fails if there is none.
Profile::Entry entry_of(const Profile& profile, const std::string& part, const std::string& name) {
  for (const Profile::Entry& entry : profile.entries()) {
    if (entry.part == part && entry.name == name) return entry;
  }
  FAIL("no entry ", part, ": ", name);
  return {};
}

}  // namespace

TEST_CASE("profile: sections belong to the innermost part that they began in, and work to the innermost section") {
  const Profile profile;
  {
    const Section none("product");
    count_matmul(1, 1, 1);
  }
  const Part outer("outer");
  for (int i = 0; i < 2; ++i) {
    const Section section("product");
    count_matmul(2, 3, 5);
    const Part inner("inner");
    Section inside("product");
    inside.add_bytes(7);
    count_matmul(1, 1, 4);
  }
  CHECK(Part::current() == std::string("outer"));
  CHECK(profile.entries().size() == 3);
  CHECK(entry_of(profile, "", "product").flops == 2);
  CHECK(entry_of(profile, "outer", "product").calls == 2);
  CHECK(entry_of(profile, "outer", "product").flops == 2 * 2 * 30);
  CHECK(entry_of(profile, "inner", "product").flops == 2 * 2 * 4);
  CHECK(entry_of(profile, "inner", "product").bytes == 14);
}
