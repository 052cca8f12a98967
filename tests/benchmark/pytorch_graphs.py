"""The peer of graphs: PyTorch's speed in training on a graphs file, as one JSON object.

Arguments: FILE gat|graph-transformer|message-passing BATCH STEPS. The model has the defaults of heddle's architecture of
that name: 4 layers of width 64 (GAT with edges in scores and values, 4 heads; Graphormer's biases; GIN with edges). Sums
over edges are index_add and softmax by the largest of each node; the graph transformer has padded batches with dense masks.
Batches are made beforehand, with the shortest paths, and not timed. Threads as OMP_NUM_THREADS says.
"""
import json
import statistics
import sys
import time

import h5py
import numpy
import torch
from torch import nn
from torch.nn import functional

WIDTH, LAYERS, HEADS, EDGE_WIDTH, FURTHEST = 64, 4, 4, 16, 8


class Graphs:
    def __init__(self, path):
        with h5py.File(path) as file:
            self.nodes, self.edges, self.rows, self.sources = (
                file[name][:].astype(int) for name in ("graphs/nodes", "graphs/edges", "edges/rows", "edges/sources"))
            self.node_kinds = self.kinds(file, "nodes", self.nodes[-1])
            self.edge_kinds = self.kinds(file, "edges", self.edges[-1])
            self.targets = file["targets/values"][:, 0]
            self.of_nodes = len(self.targets) == self.nodes[-1] and len(self.nodes) != len(self.targets) + 1

    @staticmethod
    def kinds(file, part, count):
        if f"{part}/categories" not in file:
            return numpy.zeros((count, 1), int)
        return file[f"{part}/categories"][:].astype(int)


def column_starts(kinds):
    """The categories of all columns as rows of one table."""
    sizes = kinds.max(axis=0) + 1
    return kinds + numpy.concatenate([[0], numpy.cumsum(sizes)[:-1]]), int(sizes.sum())


def batches(graphs, size, dense):
    """Index tensors of the graphs, `size` at a time."""
    node_kinds, _ = column_starts(graphs.node_kinds)
    edge_kinds, _ = column_starts(graphs.edge_kinds)
    result = []
    for first in range(0, len(graphs.nodes) - 1, size):
        last = min(first + size, len(graphs.nodes) - 1)
        begin, end = graphs.nodes[first], graphs.nodes[last]
        edges = slice(graphs.edges[first], graphs.edges[last])
        degrees = numpy.diff(graphs.rows[begin:end + 1])
        owner = numpy.repeat(numpy.arange(last - first), numpy.diff(graphs.nodes[first:last + 1]))
        target = numpy.repeat(numpy.arange(end - begin), degrees)
        # Sources are numbered within their graph.
        offset = numpy.repeat(graphs.nodes[first:last] - begin, numpy.diff(graphs.edges[first:last + 1]))
        source = graphs.sources[edges] + offset
        batch = {"graphs": last - first, "owner": owner, "source": source, "target": target,
                 "nodes": node_kinds[begin:end], "edges": edge_kinds[edges],
                 "degrees": numpy.minimum(degrees, FURTHEST),
                 "values": graphs.targets[begin:end] if graphs.of_nodes else graphs.targets[first:last]}
        if dense:
            batch.update(pairs(batch, graphs.nodes[first:last + 1] - begin))
        result.append({name: torch.as_tensor(value) for name, value in batch.items()})
    return result


def pairs(batch, starts):
    """Distances [graphs, longest, longest], where each node is in the padded batch, and the edges on one shortest path."""
    sizes = numpy.diff(starts)
    longest = int(sizes.max())
    distance = numpy.full((len(sizes), longest, longest), FURTHEST + 1)
    steps = []  # (pair, edge, share)
    for g, begin in enumerate(starts[:-1]):
        inside = numpy.flatnonzero((batch["target"] >= begin) & (batch["target"] < starts[g + 1]))
        out = {}
        for edge in inside:
            out.setdefault(batch["source"][edge] - begin, []).append((batch["target"][edge] - begin, edge))
        for root in range(sizes[g]):
            seen, queue = {root: (0, [])}, [root]
            for node in queue:
                for other, edge in out.get(node, []):
                    if other not in seen:
                        seen[other] = (seen[node][0] + 1, seen[node][1] + [edge])
                        queue.append(other)
            for node, (far, path) in seen.items():
                distance[g, node, root] = min(far, FURTHEST)
                steps += [((g * longest + node) * longest + root, edge, 1 / far) for edge in path]
    place = numpy.concatenate([g * longest + numpy.arange(size) for g, size in enumerate(sizes)])
    pair, edge, share = (numpy.array(column) for column in zip(*steps))
    return {"distance": distance, "place": place, "pair": pair, "edge": edge, "share": share.astype("f4")}


def softmax_over_edges(scores, target, nodes):
    index = target[:, None].expand_as(scores)
    largest = torch.full((nodes, scores.shape[1]), -1e30).scatter_reduce(0, index, scores, "amax")
    weights = torch.exp(scores - largest[target])
    return weights / torch.zeros(nodes, scores.shape[1]).index_add(0, target, weights)[target]


class Gat(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.value = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WIDTH)
        self.edge, self.edge_value = nn.Linear(EDGE_WIDTH, HEADS, bias=False), nn.Linear(EDGE_WIDTH, WIDTH, bias=False)
        self.scores = nn.Parameter(0.1 * torch.randn(2, HEADS, WIDTH // HEADS))

    def forward(self, x, edges, batch):
        nodes = len(x)
        loop = torch.arange(nodes)
        source, target = torch.cat([batch["source"], loop]), torch.cat([batch["target"], loop])
        edges = torch.cat([edges, torch.zeros(nodes, EDGE_WIDTH)])
        z = self.value(self.norm(x)).view(nodes, HEADS, -1)
        to, of = (z * self.scores[0]).sum(2), (z * self.scores[1]).sum(2)
        weights = softmax_over_edges(functional.leaky_relu(to[target] + of[source] + self.edge(edges), 0.2), target, nodes)
        said = weights[:, :, None] * (z[source] + self.edge_value(edges).view(-1, HEADS, WIDTH // HEADS))
        heard = torch.zeros(nodes, WIDTH).index_add(0, target, said.flatten(1))
        return x + functional.elu(heard)


class Gin(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.edge = nn.LayerNorm(WIDTH), nn.Linear(EDGE_WIDTH, WIDTH, bias=False)
        self.epsilon = nn.Parameter(torch.zeros(1))
        self.update = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, edges, batch):
        h = self.norm(x)
        said = functional.relu(h[batch["source"]] + self.edge(edges))
        heard = torch.zeros_like(h).index_add(0, batch["target"], said)
        return x + self.update((1 + self.epsilon) * h + heard)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.stacked, self.output = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, bias):
        n, t, w = x.shape
        q, k, v = (part.view(n, t, HEADS, w // HEADS).transpose(1, 2)
                   for part in self.stacked(self.norms[0](x)).chunk(3, dim=2))
        weights = torch.softmax(q @ k.transpose(2, 3) * (w // HEADS) ** -0.5 + bias, dim=3)
        x = x + self.output((weights @ v).transpose(1, 2).reshape(n, t, w))
        return x + self.down(functional.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Model(nn.Module):
    def __init__(self, graphs, arch):
        super().__init__()
        self.dense, self.of_nodes = arch == "graph-transformer", graphs.of_nodes
        self.node_table = nn.Embedding(column_starts(graphs.node_kinds)[1], WIDTH)
        self.edge_table = nn.Embedding(column_starts(graphs.edge_kinds)[1], EDGE_WIDTH)
        self.layers = nn.ModuleList({"gat": Gat, "message-passing": Gin, "graph-transformer": Block}[arch]()
                                    for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 1)
        if self.dense:
            self.degree = nn.Embedding(FURTHEST + 1, WIDTH)
            self.distance, self.path = nn.Embedding(FURTHEST + 2, HEADS), nn.Linear(EDGE_WIDTH, HEADS, bias=False)

    def padded(self, x, edges, batch):
        n, longest, _ = batch["distance"].shape
        on_path = self.path(edges)[batch["edge"]] * batch["share"][:, None]
        bias = torch.zeros(n * longest * longest, HEADS).index_add(0, batch["pair"], on_path)
        bias = bias.view(n, longest, longest, HEADS) + self.distance(batch["distance"])
        there = torch.zeros(n * longest, dtype=torch.bool).index_fill(0, batch["place"], True).view(n, 1, 1, longest)
        bias = bias.permute(0, 3, 1, 2).masked_fill(~there, -1e9)
        rows = torch.zeros(n * longest, WIDTH).index_copy(0, batch["place"], x).view(n, longest, WIDTH)
        for layer in self.layers:
            rows = layer(rows, bias)
        return rows.view(-1, WIDTH)[batch["place"]]

    def forward(self, batch):
        x, edges = self.node_table(batch["nodes"]).sum(1), self.edge_table(batch["edges"]).sum(1)
        if self.dense:
            x = self.padded(x + self.degree(batch["degrees"]), edges, batch)
        else:
            for layer in self.layers:
                x = layer(x, edges, batch)
        x = self.norm(x)
        if not self.of_nodes:
            count = int(batch["graphs"])
            sizes = torch.zeros(count).index_add(0, batch["owner"], torch.ones(len(x)))
            x = torch.zeros(count, WIDTH).index_add(0, batch["owner"], x) / sizes[:, None]
        return self.head(x)[:, 0]


def main():
    path, arch, size, steps = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    graphs = Graphs(path)
    model = Model(graphs, arch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    made = batches(graphs, size, arch == "graph-transformer")
    rates = []
    for step in range(steps + 2):
        batch = made[step % len(made)]
        start = time.process_time()
        loss = functional.mse_loss(model(batch), batch["values"].float())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rates.append(len(batch["owner"]) / (time.process_time() - start))
    print(json.dumps({"nodes_per_second": statistics.median(rates[2:])}))


main()
