#include <doctest/doctest.h>

#include "heddle/ops/attention.hpp"
#include "support/naive_attention.hpp"

using namespace heddle;
using namespace heddle::testing;

TEST_CASE("mask: the range of keys is exactly the set that the convention allows") {
  const Index key_time = 7;
  Index checked = 0;
  for (const bool causal : {false, true}) {
    for (const Index window : {0, 1, 3, 6, 50}) {
      for (const Index length : {-1, 0, 1, 5, 7, 9}) {
        for (const Index offset : {0, 2, 6, 30}) {
          Mask mask{.causal = causal, .window = window, .query_offsets = {0, offset}};
          if (length >= 0) mask.key_lengths = {7, length};
          CAPTURE(causal);
          CAPTURE(window);
          CAPTURE(length);
          CAPTURE(offset);
          for (Index query = 0; query < key_time; ++query) {
            const Mask::Range range = mask.keys_of(1, query, key_time);
            REQUIRE(range.begin <= range.end);
            for (Index key = 0; key < key_time; ++key) {
              REQUIRE((range.begin <= key && key < range.end) == may_attend(mask, 1, query, key));
            }
            REQUIRE((range.begin == range.end || (range.begin >= 0 && range.end <= key_time)));
            ++checked;
          }
        }
      }
    }
  }
  CHECK(checked == 2 * 5 * 6 * 4 * 7);
}
