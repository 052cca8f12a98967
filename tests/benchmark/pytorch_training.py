"""The peer of training.cpp: PyTorch's speed on the same decoder. Arguments: layers heads width vocab batch time steps.

Prints tokens per second, the median over the steps. Two threads per OMP_NUM_THREADS; f32 throughout.
"""
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
        self.register_buffer("future", torch.ones(time_steps, time_steps, dtype=torch.bool).triu(1))

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight
        for layer in self.layers:
            x = layer(x, self.future)
        return self.norm(x) @ self.tokens.weight.t()


def main():
    layers, heads, width, vocab, batch, time_steps, steps = map(int, sys.argv[1:])
    model = Decoder(layers, heads, width, vocab, time_steps)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    seconds = []
    for _ in range(steps + 1):
        window = torch.randint(vocab, (batch, time_steps + 1))
        start = time.perf_counter()
        logits = model(window[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(batch * time_steps / statistics.median(seconds[1:]))


main()
