#!/usr/bin/env python3
"""What PyTorch computes, in double precision, of layers of graphs, by dense matrices of all pairs of nodes.

    make_expected.py > expected.json

The file has inputs and results, so that the test that reads it needs no PyTorch; made with PyTorch 1.13.
"""
import json

import torch
from torch.nn import functional as F

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

NODES, WIDTH, HEADS, HEAD_WIDTH, FEATURES = 6, 5, 2, 3, 4
# (target, source) of each edge, in order of targets; node 3 hears nobody, nobody hears node 5.
EDGES = [(0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (2, 3), (4, 3), (5, 4), (5, 0)]


def normal(*shape, stddev=0.7):
    """Numbers of three decimals, which the file holds exactly."""
    return (torch.randn(*shape) * stddev * 1000).round() / 1000


def dense(features, loops):
    """Which pairs are edges, and what these say: [nodes, nodes] and [nodes, nodes, features]."""
    is_edge, said = torch.zeros(NODES, NODES, dtype=torch.bool), torch.zeros(NODES, NODES, FEATURES)
    for number, (target, source) in enumerate(EDGES):
        is_edge[target, source] = True
        said[target, source] = features[number]
    return (is_edge | torch.eye(NODES, dtype=torch.bool) if loops else is_edge), said


def heads(x):
    return x.reshape(*x.shape[:-1], HEADS, HEAD_WIDTH)


def attend(scores, is_edge, values):
    """scores [target, source, head], values [source, head, width]"""
    weights = torch.softmax(scores.masked_fill(~is_edge[:, :, None], -torch.inf), 1)
    return torch.einsum("ijh,jhw->ihw", weights, values)


def gat(x, features, p, average=False):
    is_edge, said = dense(features, loops=True)
    z = heads(F.linear(x, p["value/weight"], p["value/bias"]))
    left, right = (z * p["query_vector"]).sum(-1), (z * p["key_vector"]).sum(-1)
    scores = F.leaky_relu(left[:, None] + right[None] + F.linear(said, p["edge/weight"]), 0.2)
    y = attend(scores, is_edge, z)
    return y.mean(1) if average else y.flatten(1)


def gatv2(x, features, p):
    is_edge, said = dense(features, loops=True)
    query = heads(F.linear(x, p["query/weight"], p["query/bias"]))
    value = heads(F.linear(x, p["value/weight"], p["value/bias"]))
    inner = F.leaky_relu(query[:, None] + value[None] + heads(F.linear(said, p["edge/weight"])), 0.2)
    return attend((inner * p["weight"]).sum(-1), is_edge, value).flatten(1)


def gat_edge_values(x, features, p):
    is_edge, said = dense(features, loops=True)
    z = heads(F.linear(x, p["value/weight"], p["value/bias"]))
    left, right = (z * p["query_vector"]).sum(-1), (z * p["key_vector"]).sum(-1)
    scores = F.leaky_relu(left[:, None] + right[None] + F.linear(said, p["edge/weight"]), 0.2)
    weights = torch.softmax(scores.masked_fill(~is_edge[:, :, None], -torch.inf), 1)
    values = z[None] + heads(F.linear(said, p["edge_value/weight"]))
    return torch.einsum("ijh,ijhw->ihw", weights, values).flatten(1)


def transformer(x, features, p):
    is_edge, said = dense(features, loops=True)
    query, key, value = (heads(F.linear(x, p[n + "/weight"], p[n + "/bias"])) for n in ("query", "key", "value"))
    scores = torch.einsum("ihw,jhw->ijh", query, key) / HEAD_WIDTH ** 0.5 + F.linear(said, p["edge/weight"])
    return F.linear(attend(scores, is_edge, value).flatten(1), p["output/weight"], p["output/bias"])


def network(x, p):
    up = F.relu(F.linear(x, p["feed_forward/up/weight"], p["feed_forward/up/bias"]))
    return F.linear(up, p["feed_forward/down/weight"], p["feed_forward/down/bias"])


def gin(x, features, p):
    is_edge, _ = dense(features, loops=False)
    return network((1 + p["epsilon"]) * x + is_edge.double() @ x, p)


def gine(x, features, p):
    is_edge, said = dense(features, loops=False)
    messages = F.relu(x[None] + F.linear(said, p["edge/weight"])) * is_edge[:, :, None]
    return network((1 + p["epsilon"]) * x + messages.sum(1), p)


def both_ends(x, features, p):
    is_edge, said = dense(features, loops=False)
    target = F.linear(x, p["target/weight"], p["target/bias"])
    source = F.linear(x, p["source/weight"], p["source/bias"])
    messages = F.relu(target[:, None] + source[None] + F.linear(said, p["edge/weight"]))
    largest = messages.masked_fill(~is_edge[:, :, None], -torch.inf).amax(1)
    heard = torch.where(is_edge.any(1)[:, None], largest, torch.zeros(()))
    return F.linear(x, p["own/weight"], p["own/bias"]) + F.linear(heard, p["heard/weight"])


ALL = HEADS * HEAD_WIDTH
LINEAR = lambda name, out, inputs: {name + "/weight": (out, inputs), name + "/bias": (out,)}
EDGE = lambda out: {"edge/weight": (out, FEATURES)}
VECTORS = {"query_vector": (HEADS, HEAD_WIDTH), "key_vector": (HEADS, HEAD_WIDTH)}
NETWORK = {"epsilon": (1,), **LINEAR("feed_forward/up", 2 * WIDTH, WIDTH), **LINEAR("feed_forward/down", WIDTH, 2 * WIDTH)}
LAYERS = {
    "gat": (gat, {**LINEAR("value", ALL, WIDTH), **EDGE(HEADS), **VECTORS}),
    "gat_average": (lambda *a: gat(*a, average=True), {**LINEAR("value", ALL, WIDTH), **EDGE(HEADS), **VECTORS}),
    "gatv2": (gatv2, {**LINEAR("query", ALL, WIDTH), **LINEAR("value", ALL, WIDTH), **EDGE(ALL),
                      "weight": (HEADS, HEAD_WIDTH)}),
    "transformer": (transformer, {**LINEAR("query", ALL, WIDTH), **LINEAR("key", ALL, WIDTH),
                                  **LINEAR("value", ALL, WIDTH), **EDGE(HEADS), **LINEAR("output", WIDTH, ALL)}),
    "gin": (gin, NETWORK),
    "gine": (gine, {**EDGE(WIDTH), **NETWORK}),
    "both_ends": (both_ends, {**LINEAR("target", WIDTH, WIDTH), **LINEAR("source", WIDTH, WIDTH), **EDGE(WIDTH),
                              **LINEAR("own", WIDTH, WIDTH), "heard/weight": (WIDTH, WIDTH)}),
    "gat_edge_values": (gat_edge_values, {**LINEAR("value", ALL, WIDTH), **EDGE(HEADS), **VECTORS,
                                          "edge_value/weight": (ALL, FEATURES)}),
}


def rounded(tensor):
    return json.loads(json.dumps(tensor.tolist()), parse_float=lambda text: float(f"{float(text):.12g}"))


def main():
    x, features = normal(NODES, WIDTH), normal(len(EDGES), FEATURES)
    result = {"edges": EDGES, "x": x.tolist(), "features": features.tolist(), "layers": {}}
    for name, (layer, shapes) in LAYERS.items():
        inputs = {"x": x.clone().requires_grad_(), "features": features.clone().requires_grad_()}
        parameters = {key: normal(*shape).requires_grad_() for key, shape in shapes.items()}
        y = layer(inputs["x"], inputs["features"], parameters)
        dy = normal(*y.shape)
        (y * dy).sum().backward()
        gradients = {key: rounded(value.grad) for key, value in {**inputs, **parameters}.items() if value.grad is not None}
        result["layers"][name] = {"parameters": {key: value.tolist() for key, value in parameters.items()},
                                  "y": rounded(y.detach()), "dy": dy.tolist(), "gradients": gradients}
    print(json.dumps(result))


main()
