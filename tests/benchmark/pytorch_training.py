"""The peer of training.cpp: PyTorch's speed on the same decoder, as one JSON object.

Arguments: layers heads width vocab batch time steps f32|bf16 (bf16: autocast). Threads as OMP_NUM_THREADS says. With
WORLD_SIZE, RANK, MASTER_ADDR and MASTER_PORT set, one of several ranks of DistributedDataParallel (gloo).
"""
import contextlib
import json
import os
import resource
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.attention_norm = nn.LayerNorm(width)
        self.feed_forward_norm = nn.LayerNorm(width)
        self.stacked = nn.Linear(width, 3 * width)
        self.output = nn.Linear(width, width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x, future):
        n, t, w = x.shape
        q, k, v = (part.view(n, t, self.heads, w // self.heads).transpose(1, 2)
                   for part in self.stacked(self.attention_norm(x)).chunk(3, dim=2))
        scores = (q @ k.transpose(2, 3)) * (w // self.heads) ** -0.5
        mixed = torch.softmax(scores.masked_fill(future, float("-inf")), dim=3) @ v
        x = x + self.output(mixed.transpose(1, 2).reshape(n, t, w))
        return x + self.down(functional.gelu(self.up(self.feed_forward_norm(x))))


class Decoder(nn.Module):
    def __init__(self, layers, heads, width, vocab, time_steps):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(time_steps, width)
        nn.init.normal_(self.tokens.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.future = torch.ones(time_steps, time_steps, dtype=torch.bool).triu(1)  # no buffer: gloo cannot send bool

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        for layer in self.layers:
            x = layer(x, self.future)
        return functional.linear(self.norm(x), self.tokens.weight)


def precision(name):
    return torch.autocast("cpu", dtype=torch.bfloat16) if name == "bf16" else contextlib.nullcontext()


def main():
    layers, heads, width, vocab, batch, time_steps, steps = map(int, sys.argv[1:8])
    model = Decoder(layers, heads, width, vocab, time_steps)
    ranks = int(os.environ.get("WORLD_SIZE", 1))
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds = []
    for _ in range(steps + 2):
        window = torch.randint(vocab, (batch, time_steps + 1))
        start = time.perf_counter()
        with precision(sys.argv[8]):
            logits = model(window[:, :-1])
            loss = functional.cross_entropy(logits.float().flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    if ranks > 1 and torch.distributed.get_rank() > 0:
        return
    kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"tokens_per_second": ranks * batch * time_steps / statistics.median(seconds[2:]),
                      "peak_memory_mb": kilobytes * 1.024e-3}))


main()
