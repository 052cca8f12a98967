#include "formats/symbolic/certificate_file.hpp"

#include "libcore/base/error.hpp"
#include "symbolic_solver.hpp"

using namespace heddle::symbolic;
using heddle::DataError;

namespace {

Claim checked(const std::string& text) {
  const heddle::formats::JsonDocument document(text, "c.json");
  return check_certificate(heddle::formats::read_certificate(heddle::formats::JsonNode(document)));
}

std::string certificate_text(const std::string& system, const std::string& function) {
  const Judgement judgement = heddle::testing::judged(Verifier(), system, function);
  REQUIRE(judgement.certificate);
  return heddle::formats::certificate_json(*judgement.certificate);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a certificate is checked without the solver") {
  const std::string text = certificate_text("x' = -x + y/3; y' = -x - y", "x^2 + x*y + 3*y^2");
  CHECK(checked(text) == Claim::global);
  CHECK(checked(replaced(text, "globally asymptotically stable", "stable")) == Claim::global);  // claims less
}

TEST_CASE("a certificate that proves less than it claims is refused") {
  const std::string text = certificate_text("x' = y; y' = -x", "x^2 + y^2");
  CHECK(checked(text) == Claim::stable);
  CHECK_THROWS_AS(checked(replaced(text, "\"stable\"", "\"globally asymptotically stable\"")), DataError);
  CHECK_THROWS_AS(checked(replaced(text, "\"stable\"", "\"true\"")), DataError);
  CHECK_THROWS_AS(checked(replaced(text, "x' = y", "x' = 2*y")), DataError);
  CHECK_THROWS_AS(checked(replaced(text, "[[\"1\"]]", "[[\"1\",\"2\"]]")), DataError);
  CHECK_THROWS_AS(checked(replaced(text, "[[\"1\"]]", "[]")), DataError);
  CHECK_THROWS_AS(checked(replaced(text, "[[\"1\"]]", "[[\"1/0\"]]")), DataError);
}

TEST_CASE("one damaged byte: refused, or still a proof of what it then says") {
  const std::string text = certificate_text("x' = -x + y/3; y' = -x - y", "x^2 + x*y + 3*y^2");
  int accepted = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'0', '9', '-', 'x', ' '}) {
      if (text[at] == byte) continue;
      std::string damaged = text;
      damaged[at] = byte;
      try {
        checked(damaged);
      } catch (const DataError&) {
        continue;
      }
      ++accepted;
      const heddle::formats::JsonDocument document(damaged, "c.json");
      const Certificate certificate = heddle::formats::read_certificate(heddle::formats::JsonNode(document));
      const System system = read_system(certificate.system);
      const LyapunovProblem problem(system, read_infix(certificate.function, system.names));
      CHECK_FALSE(negative_point(problem.function, {300, 3, 1, 0}));
      CHECK_FALSE(negative_point(problem.decrease, {300, 3, 1, 0}));
    }
  }
  CHECK(accepted < 40);
}
