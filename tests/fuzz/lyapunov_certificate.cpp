// Certificates: refused, or a proof, which no point may contradict.
#include "formats/symbolic/certificate_file.hpp"
#include "fuzz/target.hpp"
#include "libcore/symbolic/falsifier.hpp"

void heddle::fuzz::lyapunov_certificate(std::string_view input) {
  read_or_refuse([&] {
    const formats::JsonDocument document(std::string(input), "x");
    const symbolic::Certificate certificate = formats::read_certificate(formats::JsonNode(document));
    if (!certificate.box.empty()) return;  // branch and bound may take long
    symbolic::check_certificate(certificate);
    const symbolic::System system = symbolic::read_system(certificate.system);
    const symbolic::LyapunovProblem problem(system, symbolic::read_infix(certificate.function, system.names));
    if (problem.functions) return;
    expect(!symbolic::negative_point(problem.function, {100, 1, 1, 0}), "a false certificate");
    expect(!symbolic::negative_point(problem.decrease, {100, 1, 1, 0}), "a false certificate");
  });
}
