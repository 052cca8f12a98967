#include "libcore/parallel/divided.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <tuple>

#include "libcore/base/error.hpp"
#include "libcore/parallel/thread_group.hpp"

using namespace heddle;
using namespace heddle::parallel;

namespace divided_tests {

namespace {

struct Mixed {
  double number = 0;
  std::string text;
  std::vector<std::vector<float>> rows;
  auto parts() { return std::tie(number, text, rows); }
  auto parts() const { return std::tie(number, text, rows); }
  bool operator==(const Mixed&) const = default;
};

Mixed of(std::size_t place) {
  Mixed result{static_cast<double>(place) / 3, std::string(place % 4, 'x') + std::string(1, '\0'), {}};
  for (std::size_t row = 0; row < place % 3; ++row) result.rows.emplace_back(place % 5, static_cast<float>(row));
  return result;
}

}  // namespace

TEST_CASE("divided: what was packed is unpacked") {
  Packer packer;
  for (std::size_t i = 0; i < 20; ++i) packer(of(i));
  packer(std::int8_t{-3});
  Unpacker unpacker(packer.bytes());
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK_FALSE(unpacker.is_at_end());
    Mixed read{1, "old", {{1}}};
    unpacker(read);
    CHECK(read == of(i));
  }
  std::int8_t last = 0;
  unpacker(last);
  CHECK(last == -3);
  CHECK(unpacker.is_at_end());
}

TEST_CASE("divided: each rank computes a part and gets all") {
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{11}}) {
      CAPTURE(count);
      std::vector<Mixed> expected;
      for (std::size_t place = 0; place < count; ++place) expected.push_back(of(place));
      std::vector<std::size_t> computed(static_cast<std::size_t>(ranks), 0);
      std::vector<char> equal(computed.size(), 0);
      on_ranks(ranks, [&](const Group& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        std::vector<Mixed> results(count);
        std::vector<std::size_t> own;
        complete(group, results, own, [&] {
          for (std::size_t place = rank; place < count; place += static_cast<std::size_t>(ranks)) {
            results[place] = of(place);
            own.push_back(place);
            ++computed[rank];
          }
        });
        equal[rank] = results == expected;
      });
      CHECK(equal == std::vector<char>(computed.size(), 1));
      CHECK(std::accumulate(computed.begin(), computed.end(), std::size_t{0}) == count);
      CHECK(computed.front() == (count + computed.size() - 1) / computed.size());
    }
  }
}

TEST_CASE("divided: all ranks throw what the first of them that fails throws") {
  const auto thrown = [](const std::function<void(int rank)>& work) {
    std::vector<std::string> messages(3);
    on_ranks(3, [&](const Group& group) {
      std::string& message = messages[static_cast<std::size_t>(group.rank())];
      try {
        together(group, [&] { work(group.rank()); });
        message = "nothing";
      } catch (const NumericError& error) {
        message = concatenate("numeric: ", error.what());
      } catch (const DataError& error) {
        message = concatenate("data: ", error.what());
      } catch (const UsageError& error) {
        message = concatenate("usage: ", error.what());
      } catch (const Error& error) {
        message = concatenate(error.exit_status(), ": ", error.what());
      } catch (const std::length_error& error) {  // failure of this rank itself
        message = concatenate("1: ", error.what());
      }
    });
    CHECK(messages == std::vector<std::string>(3, messages.front()));
    return messages.front();
  };
  CHECK(thrown([](int) {}) == "nothing");
  CHECK(thrown([](int rank) { check<DataError>(rank != 1, "line 3"); }) == "data: line 3");
  CHECK(thrown([](int rank) { check<NumericError>(rank == 0, "rank ", rank); }) == "numeric: rank 1");
  CHECK(thrown([](int rank) { check<UsageError>(rank != 2, "what"); }) == "usage: what");
  CHECK(thrown([](int rank) {
          if (rank == 2) throw Error("stopped", 143);
        }) == "143: stopped");
  CHECK(thrown([](int) { throw std::length_error("too long"); }) == "1: too long");
}

TEST_CASE("divided: a thread divides work where it says so") {
  CHECK(dividing().is_alone());
  on_ranks(2, [](const Group& group) {
    {
      const Divided outer(group);
      REQUIRE(&dividing() == &group);
      {
        const Divided inner(alone());
        REQUIRE(dividing().is_alone());
      }
      REQUIRE(&dividing() == &group);
    }
    REQUIRE(dividing().is_alone());
  });
}

}  // namespace divided_tests
