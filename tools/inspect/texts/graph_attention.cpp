#include "tools/inspect/texts/graph_attention.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>
#include <set>

#include "libcore/analysis/attention_patterns.hpp"
#include "libcore/analysis/embed.hpp"
#include "libcore/analysis/node_contributions.hpp"
#include "libcore/analysis/weight_levels.hpp"
#include "libcore/base/printable.hpp"
#include "libcore/base/strings.hpp"
#include "libcore/base/values.hpp"
#include "libcore/tensor/processors.hpp"
#include "tools/cli/streams.hpp"
#include "tools/cli/text_table.hpp"
#include "tools/drawing/pages/page.hpp"
#include "tools/inspect/json_answer.hpp"
#include "tools/inspect/texts/attention_export.hpp"
#include "tools/inspect/texts/graph_input.hpp"
#include "tools/inspect/texts/graph_view.hpp"

namespace heddle {

namespace {

using formats::Json;

// The nodes as a text has its tokens: their numbers from 1, and what they are.
TokenText nodes_of(const GivenGraph& graph) {
  TokenText nodes{.name = "graph"};
  nodes.pieces = node_names(graph.record, graph.schema);
  nodes.ids.resize(nodes.pieces.size());
  std::iota(nodes.ids.begin(), nodes.ids.end(), TokenId{1});
  nodes.labels = nodes.pieces;
  return nodes;
}

// [1, heads, nodes, nodes]: the weight of a query, a node that edges lead to, for a key, that they come from.
Tensor dense(const models::EdgeAttentionMap& map) {
  const EdgeRows& edges = *map.edges;
  const Index nodes = edges.nodes(), heads = map.weights.shape()[1];
  Tensor weights({1, heads, nodes, nodes}, Real(0));
  for (Index e = 0; e < edges.edges(); ++e) {
    const auto edge = static_cast<std::size_t>(e);
    for (Index head = 0; head < heads; ++head) {
      weights[(head * nodes + edges.targets[edge]) * nodes + edges.sources[edge]] += map.weights[e * heads + head];
    }
  }
  return weights;
}

bool is_all_finite(const Tensor& weights) {
  return analysis::are_finite({weights.data(), static_cast<std::size_t>(weights.size())});
}

void check_room(const std::vector<models::EdgeAttentionMap>& maps, const std::set<Index>& chosen, Index nodes) {
  const double heads = static_cast<double>(maps.front().weights.shape()[1]), side = static_cast<double>(nodes);
  const double bytes = static_cast<double>(chosen.size()) * heads * side * side * sizeof(Real);
  check<DataError>(bytes < 0.6 * available_memory(), "the attention weights take ", std::llround(bytes * 1e-9),
                   " GB; choose fewer layers with --layer");
}

AttentionReport read_graph_attention(const models::EdgeAttentionMaps& model, const GivenGraph& graph,
                                     const GraphQuestion& question) {
  const data::Graph* const only = &graph.graph;
  const std::vector<models::EdgeAttentionMap> maps = model.edge_attention_maps(data::joined({&only, 1}));
  check<DataError>(!maps.empty(), question.model, ": the model has no layer that attends");
  const Index heads = maps.front().weights.shape()[1];
  const std::set<Index> chosen = analysis::chosen_layers(question.layers, 1, std::ssize(maps));
  check<UsageError>(question.head <= heads, "--head ", question.head, ": the layers have heads 1 to ", heads);
  check_room(maps, chosen, graph.graph.nodes);
  const bool all_heads = question.head == AttentionGroup::all_heads;
  AttentionGroup group{.name = "self",
                       .query = 0,
                       .key = 0,
                       .only_head = question.head,
                       .chosen = {chosen.begin(), chosen.end()},
                       .heads = all_heads ? heads : 1,
                       .numbers = {chosen.begin(), chosen.end()}};
  for (const Index number : chosen) {
    const models::EdgeAttentionMap& map = maps[static_cast<std::size_t>(number) - 1];
    const Tensor weights = all_heads ? dense(map) : one_head(dense(map), question.head);
    if (!is_all_finite(weights)) group.not_finite.push_back(number);
    group.layers.push_back({map.name, models::AttentionMap::Text::own, models::AttentionMap::Text::own, {weights}});
  }
  return {{nodes_of(graph)}, {std::move(group)}};
}

std::string head_name(const AttentionGroup& group, Index head) {
  const Index number = group.head_number(head);
  return number == AttentionGroup::mean_head ? "mean" : std::to_string(number);
}

std::string node_label(const TokenText& nodes, Index at) {
  return fmt::format("{} {}", at + 1, nodes.labels[static_cast<std::size_t>(at)]);
}

// Mean attention of a head's nodes to themselves, to their neighbours and to others, and its entropy.
std::vector<std::string> shares_of_head(const Tensor& weights, const std::vector<NodePair>& pairs, bool has_others) {
  const analysis::HeadPattern pattern = analysis::head_pattern(weights);
  double beside = 0, apart = 0;
  for (const NodePair& pair : pairs) (pair.is_edge ? beside : apart) += mean_weight(weights, pair) * pair.ways;
  const auto nodes = static_cast<double>(weights.shape()[0]);
  std::vector<std::string> row{fmt::format("{:.2f}", pattern.own), fmt::format("{:.2f}", beside / nodes)};
  if (has_others) row.push_back(fmt::format("{:.2f}", apart / nodes));
  row.push_back(fmt::format("{:.2f}", pattern.bits));
  return row;
}

void write_heads_and_links(const AttentionReport& report, const GivenGraph& graph, Index top) {
  const AttentionGroup& group = report.groups.front();
  const std::vector<NodePair> pairs = pairs_of(graph, report);
  const bool has_others = std::ranges::any_of(pairs, [](const NodePair& pair) { return !pair.is_edge; });
  std::vector<std::vector<std::string>> heads{{"layer", "head", "itself", "neighbours"}};
  if (has_others) heads.front().emplace_back("others");
  heads.front().emplace_back("bits");
  struct Link {
    std::string layer, head;
    analysis::AttentionLink link;
  };
  std::vector<Link> links;
  for (std::size_t layer = 0; layer < group.layers.size(); ++layer) {
    for (Index head = 0; head < group.heads; ++head) {
      const Tensor weights = group.weights(layer, head);
      const std::string number = std::to_string(group.numbers[layer]), name = head_name(group, head);
      std::vector<std::string>& row = heads.emplace_back(std::vector{number, name});
      for (std::string& cell : shares_of_head(weights, pairs, has_others)) row.push_back(std::move(cell));
      for (const auto& link : analysis::strongest_links(weights, top)) {
        if (link.weight > 0) links.push_back({number, name, link});
      }
    }
  }
  std::cout << graph.title() << "\n" << text_table(heads, std::string(heads.front().size(), 'r'));
  std::ranges::stable_sort(links, std::greater{}, [](const Link& of) { return of.link.weight; });
  std::vector<std::vector<std::string>> rows{{"weight", "layer", "head", "from", "to"}};
  for (const auto& [layer, head, link] : links) {
    if (std::ssize(rows) > top) break;
    rows.push_back({format_fixed(static_cast<double>(link.weight), 4), layer, head,
                    node_label(report.texts[0], link.query), node_label(report.texts[0], link.key)});
  }
  if (rows.size() > 1) std::cout << "\nstrongest links\n" << text_table(rows, "rrrll");
}

Json graph_json(const GivenGraph& graph) {
  return {{"file", graph.file}, {"number", graph.number + 1}, {"id", graph.record.id}};
}

int show_attention(const GraphQuestion& question, const cli::Arguments& arguments) {
  const auto body = load_graph_body<models::EdgeAttentionMaps>(question.model, question.base, "inspect attention");
  const auto& model = *body->as<models::EdgeAttentionMaps>();
  const GivenGraph graph = read_graph(question.file, question.graph, model.features());
  const AttentionReport report = read_graph_attention(model, graph, question);
  const std::string& path = question.output;
  if (question.json) {
    Json json = as_json(report, question.model);
    json["graph"] = graph_json(graph);
    std::cout << dump(json);
  } else if (path.empty()) {
    write_heads_and_links(report, graph, question.top);
  } else if (path.ends_with(".h5")) {
    write_attention_file(path, report, arguments);
  } else if (path.ends_with(".tsv")) {
    write_attention_table(path, report);
  } else if (is_page_name(path)) {
    write_graph_attention_page(path, graph, report, question.model, question.top);
  } else {
    draw_graph_attention(path, graph, report, question.top);
  }
  const std::string problem = not_finite(report, question.model);
  if (problem.empty()) return 0;
  arguments.warn(problem);
  return NumericError(problem).exit_status();
}

// --- what an answer rests on ---

struct AnswerShares {
  analysis::NodeContributions contributions;
  std::string label;  // tasks with classes only
  TokenText nodes;

  // "log-odds of the class yes: 1.25"
  std::string answer() const {
    const std::string value = format_fixed(contributions.answer, 3);
    return label.empty() ? "number: " + value : "log-odds of the class " + printable(label) + ": " + value;
  }
};

AnswerShares shares_of(const models::TaskModel& model, const GivenGraph& graph, const GraphQuestion& question) {
  const models::Task task = model.task().task;
  check<DataError>(answered_by(task) == models::Answered::whole, question.model,
                   ": has several answers for a graph, and --of answer is for ", "answers for a whole graph");
  const Index nodes = graph.graph.nodes;
  check<DataError>(nodes > 1, graph.file, ": ", graph.title(), ": has one node, and nothing is left without it");
  check<DataError>(nodes <= most_sketched_nodes, graph.file, ": ", graph.title(), ": has ", nodes,
                   " nodes; --of answer, which leaves out one after another, is for at most ", most_sketched_nodes);
  AnswerShares shares{{}, "", nodes_of(graph)};
  shares.contributions = analysis::node_contributions(model, graph.graph);
  if (model.task().has_classes()) {
    shares.label = model.task().labels[static_cast<std::size_t>(shares.contributions.label)];
  }
  return shares;
}

// Nodes in the order of their shares, the largest first.
std::vector<Index> by_share(const std::vector<double>& shares) {
  std::vector<Index> order(shares.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, std::greater{},
                           [&](Index node) { return std::abs(shares[static_cast<std::size_t>(node)]); });
  return order;
}

void write_shares(const AnswerShares& shares, const GivenGraph& graph, Index top) {
  std::cout << graph.title() << "\n" << shares.answer() << "\n\nfalls without a node\n";
  std::vector<std::vector<std::string>> rows{{"by", "node"}};
  for (const Index node : by_share(shares.contributions.of_nodes)) {
    if (std::ssize(rows) > top) break;
    rows.push_back({format_fixed(shares.contributions.of_nodes[static_cast<std::size_t>(node)], 4),
                    node_label(shares.nodes, node)});
  }
  std::cout << text_table(rows, "rl");
}

Json shares_json(const AnswerShares& shares, const GivenGraph& graph, const std::string& model) {
  Json answer = shares.label.empty() ? Json{{"number", shares.contributions.answer}}
                                     : Json{{"label", shares.label}, {"log_odds", shares.contributions.answer}};
  Json nodes = Json::array();
  for (std::size_t i = 0; i < shares.nodes.pieces.size(); ++i) {
    nodes.push_back(
        {{"node", i + 1}, {"name", shares.nodes.pieces[i]}, {"falls_by", shares.contributions.of_nodes[i]}});
  }
  return {{"model", model}, {"graph", graph_json(graph)}, {"answer", std::move(answer)}, {"nodes", std::move(nodes)}};
}

void write_shares_table(const std::string& path, const AnswerShares& shares) {
  cli::Output output(path);
  output.stream() << "node\tname\tfalls_by\n";
  for (std::size_t i = 0; i < shares.nodes.pieces.size(); ++i) {
    output.stream() << i + 1 << '\t' << shares.nodes.pieces[i] << '\t' << format(shares.contributions.of_nodes[i])
                    << '\n';
  }
  output.close();
}

int show_answer(const GraphQuestion& question) {
  const std::string& path = question.output;
  check<UsageError>(!path.ends_with(".h5"), path, ": --of answer is written to .html, .svg, .png, .pdf and .tsv files");
  const auto loaded = load_graph_model<models::NodeVectors>(question.model, question.base, "--of answer");
  const models::TaskModel& model = *loaded.model;
  const GivenGraph graph =
      read_graph(question.file, question.graph, model.body().as<models::NodeVectors>()->features());
  const AnswerShares shares = shares_of(model, graph, question);
  double largest = 0;
  for (const double share : shares.contributions.of_nodes) largest = std::max(largest, std::abs(share));
  const std::string legend = concatenate(shares.answer(), "; orange nodes raise it, blue ones lower it, by ",
                                         format_fixed(largest, 3), " at most");
  if (question.json) {
    std::cout << dump(shares_json(shares, graph, question.model));
  } else if (path.empty()) {
    write_shares(shares, graph, question.top);
  } else if (path.ends_with(".tsv")) {
    write_shares_table(path, shares);
  } else if (is_page_name(path)) {
    write_node_shares_page(path, graph, shares.contributions.of_nodes, legend, question.model);
  } else {
    draw_node_shares(path, graph, shares.contributions.of_nodes, legend);
  }
  return 0;
}

}  // namespace

int show_graph(const GraphQuestion& question, const cli::Arguments& arguments) {
  return question.of_answer ? show_answer(question) : show_attention(question, arguments);
}

}  // namespace heddle
