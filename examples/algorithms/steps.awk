# Steps of an algorithm on random graphs, as tables for convert: PREFIX.nodes.csv and PREFIX.edges.csv.
#
#     awk -v prefix=train -v algorithm=bfs -v nodes=20 -v graphs=50 -v seed=1 -f steps.awk
#
# A pair of nodes has an edge with probability log2(n) / n and a weight between 0.2 and 1 (the graphs of Velickovic et al.
# 2020, "Neural execution of graph algorithms"). Each step is a graph: what is known before it are features, and what it
# adds are labels.
#     bfs           whether a node was reached before, and whether it is after the step
#     bellman-ford  the distance before, and of each edge whether it comes from the predecessor after the step
function random() {
  state = (state * 16807) % 2147483647
  return state / 2147483647
}
function make_graph(  i, j, p) {
  p = log(nodes) / log(2) / nodes
  edges = 0
  for (i = 0; i < nodes; ++i) {
    for (j = i + 1; j < nodes; ++j) {
      if (random() >= p) continue
      weight[edges] = weight[edges + 1] = 0.2 + 0.8 * random()
      from[edges] = i; to[edges++] = j
      from[edges] = j; to[edges++] = i
    }
  }
}
# One step from distance[] to next_distance[]; best[] is the edge that each node is reached by. Whether something changed.
function advance(  e, i, changed, reach) {
  for (i = 0; i < nodes; ++i) { next_distance[i] = distance[i]; best[i] = -1; shortest[i] = infinity }
  for (e = 0; e < edges; ++e) {
    if (distance[from[e]] == infinity) continue
    reach = algorithm == "bfs" ? 0 : distance[from[e]] + weight[e]
    if (reach < shortest[to[e]]) { shortest[to[e]] = reach; best[to[e]] = e }
    if (reach < next_distance[to[e]]) next_distance[to[e]] = reach
  }
  best[source] = -1
  for (i = 0; i < nodes; ++i) changed = changed || next_distance[i] != distance[i]
  return changed
}
function yes(is) { return is ? "yes" : "no" }
function write_step(  e, i, known) {
  ++steps
  for (i = 0; i < nodes; ++i) {
    known = distance[i] < infinity
    if (algorithm == "bfs") print steps, i, yes(known), yes(next_distance[i] < infinity) >node_file
    else print steps, i, yes(known), yes(i == source), known ? distance[i] : 0 >node_file
  }
  for (e = 0; e < edges; ++e) {
    if (algorithm == "bfs") { print steps, from[e], to[e] >edge_file; continue }
    # Of nodes that have a predecessor after the step; the other edges have no label.
    print steps, from[e], to[e], weight[e], best[to[e]] < 0 ? "" : yes(best[to[e]] == e) >edge_file
  }
}
BEGIN {
  OFS = ","; infinity = 1e30; state = 7919 * seed + 1
  node_file = prefix ".nodes.csv"; edge_file = prefix ".edges.csv"
  if (algorithm == "bfs") { print "graph,id,reached,label" >node_file; print "graph,source,target" >edge_file }
  else { print "graph,id,reached,start,distance" >node_file; print "graph,source,target,weight,label" >edge_file }
  for (g = 0; g < graphs; ++g) {
    do make_graph(); while (edges == 0)
    source = int(random() * nodes)
    for (i = 0; i < nodes; ++i) distance[i] = i == source ? 0 : infinity
    while (advance()) {
      write_step()
      for (i = 0; i < nodes; ++i) distance[i] = next_distance[i]
    }
  }
}
