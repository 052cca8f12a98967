"""The peer of training.cpp for sequence-to-sequence models: PyTorch's speed on the same shapes, as one JSON object.

Arguments: transformer|gru layers heads width ffn_width vocab batch time steps. Sources and targets have `time` tokens each.
transformer: nn.Transformer, pre-norm, ReLU. gru: a bidirectional nn.GRU encoder of half the width per direction and a GRU decoder
with additive attention (Bahdanau et al. 2015), a step at a time. Embeddings are shared and tied. Threads as OMP_NUM_THREADS says.
"""
import json
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Transformer(nn.Module):
    def __init__(self, layers, heads, width, ffn_width, vocab, length):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        nn.init.normal_(self.tokens.weight, std=width ** -0.5)
        self.register_buffer("positions", torch.randn(length, width))
        self.stacks = nn.Transformer(width, heads, layers, layers, ffn_width, dropout=0.0, batch_first=True, norm_first=True)
        self.register_buffer("future", nn.Transformer.generate_square_subsequent_mask(length))

    def embed(self, ids):
        return self.tokens(ids) * self.tokens.embedding_dim ** 0.5 + self.positions

    def forward(self, source, target):
        hidden = self.stacks(self.embed(source), self.embed(target), tgt_mask=self.future)
        return functional.linear(hidden, self.tokens.weight)


class Gru(nn.Module):
    def __init__(self, layers, heads, width, ffn_width, vocab, length):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        nn.init.normal_(self.tokens.weight, std=width ** -0.5)
        self.encoder = nn.GRU(width, width // 2, layers, batch_first=True, bidirectional=True)
        self.decoder = nn.GRUCell(2 * width, width)
        self.start = nn.Linear(width, width)
        self.of_state = nn.Linear(width, width, bias=False)
        self.of_memory = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.readout = nn.Linear(3 * width, 2 * width)

    def forward(self, source, target):
        memory, _ = self.encoder(self.tokens(source))
        keys = self.of_memory(memory)
        state = torch.tanh(self.start(memory[:, 0]))
        inputs = self.tokens(target)
        outputs = []
        for t in range(target.shape[1]):
            scores = self.score(torch.tanh(keys + self.of_state(state)[:, None])).squeeze(2)
            context = (torch.softmax(scores, dim=1)[:, None] @ memory)[:, 0]
            read = self.readout(torch.cat([state, inputs[:, t], context], dim=1))
            outputs.append(read.view(len(read), -1, 2).max(dim=2).values)
            state = self.decoder(torch.cat([inputs[:, t], context], dim=1), state)
        return functional.linear(torch.stack(outputs, dim=1), self.tokens.weight)


def main():
    kind = {"transformer": Transformer, "gru": Gru}[sys.argv[1]]
    layers, heads, width, ffn_width, vocab, batch, length, steps = map(int, sys.argv[2:10])
    torch.manual_seed(1)
    model = kind(layers, heads, width, ffn_width, vocab, length)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    source, target, wanted = (torch.randint(vocab, (batch, length)) for _ in range(3))

    def step():
        optimizer.zero_grad(set_to_none=True)
        functional.cross_entropy(model(source, target).flatten(0, 1), wanted.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    for _ in range(2):
        step()
    seconds = []
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"tokens_per_second": batch * length / statistics.median(seconds)}))


main()
