#include "formats/symbolic/certificate_file.hpp"

#include "formats/files/atomic_file.hpp"
#include "formats/symbolic/certificate_kind.hpp"

namespace heddle::formats {

namespace {

using symbolic::CertificateBlock;

nlohmann::ordered_json blocks_json(const std::vector<CertificateBlock>& blocks) {
  auto list = nlohmann::ordered_json::array();
  for (const CertificateBlock& block : blocks) list.push_back({{"basis", block.basis}, {"gram", block.gram}});
  return list;
}

std::vector<std::string> read_texts(const JsonNode& list) {
  std::vector<std::string> texts;
  for (const JsonNode text : list.list()) texts.emplace_back(text.text());
  return texts;
}

std::vector<CertificateBlock> read_blocks(const JsonNode& list) {
  std::vector<CertificateBlock> blocks;
  for (const JsonNode node : list.list()) {
    node.expect_only({"basis", "gram"});
    CertificateBlock block{.basis = read_texts(node["basis"]), .gram = {}};
    for (const JsonNode row : node["gram"].list()) block.gram.push_back(read_texts(row));
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace

std::string certificate_json(const symbolic::Certificate& certificate) {
  nlohmann::ordered_json json{{certificate_key, 1},
                              {"system", certificate.system},
                              {"function", certificate.function},
                              {"claim", symbolic::claim_text(certificate.claim)},
                              {"positive", blocks_json(certificate.positive)},
                              {"decreasing", blocks_json(certificate.decreasing)}};
  if (!certificate.box.empty()) json["box"] = certificate.box;
  return json.dump() + "\n";
}

void write_certificate(const std::string& path, const symbolic::Certificate& certificate) {
  AtomicFile file(path);
  file.write(certificate_json(certificate));
  file.commit();
}

symbolic::Certificate read_certificate(const JsonNode& root) {
  root.expect_only({certificate_key, "system", "function", "claim", "positive", "decreasing", "box"});
  root[certificate_key].expect(1);
  const symbolic::Claim claim = symbolic::claim_named(root["claim"].text());
  if (claim == symbolic::Claim::nothing) root["claim"].refuse("is not a claim of a certificate");
  return {.system = std::string(root["system"].text()),
          .function = std::string(root["function"].text()),
          .claim = claim,
          .positive = read_blocks(root["positive"]),
          .decreasing = read_blocks(root["decreasing"]),
          .box = root["box"].is_null() ? "" : std::string(root["box"].text())};
}

}  // namespace heddle::formats
