"""PyTorch's speed in translating, as one JSON object: the peer of `generate` with sequence-to-sequence models of random weights.

Arguments: transformer|gru layers heads width ffn_width vocab lines batch source_time target_time beam.
All sources have `source_time` tokens and all targets `target_time`. transformer: nn.TransformerEncoder and the layers of an
nn.TransformerDecoder, pre-norm, ReLU, with the keys and values of each layer kept from step to step. gru: as in
pytorch_translation.py. Beam search keeps the best `beam` of all continuations and reorders what the decoder keeps; 1 is greedy.
Threads as OMP_NUM_THREADS says.
"""
import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional


def heads_of(x, heads):
    return x.view(x.shape[0], x.shape[1], heads, -1).transpose(1, 2)


def attend(queries, keys, values):
    scores = queries @ keys.transpose(2, 3) * queries.shape[-1] ** -0.5
    return (torch.softmax(scores, dim=3) @ values).transpose(1, 2).flatten(2)


class Transformer(nn.Module):
    def __init__(self, layers, heads, width, ffn_width, vocab, length):
        super().__init__()
        self.heads = heads
        self.tokens = nn.Embedding(vocab, width)
        self.register_buffer("positions", torch.randn(length, width))
        common = dict(nhead=heads, dim_feedforward=ffn_width, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, **common), layers, nn.LayerNorm(width))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(width, **common), layers, nn.LayerNorm(width))

    def embed(self, ids, position):
        return self.tokens(ids) * self.tokens.embedding_dim ** 0.5 + self.positions[position:position + ids.shape[1]]

    def project(self, attention, x, part, parts):
        width = x.shape[2]
        rows = slice(part * width, (part + parts) * width)
        return functional.linear(x, attention.in_proj_weight[rows], attention.in_proj_bias[rows])

    # Per layer: keys and values of the source, and of the target so far.
    def start(self, source, beam):
        memory = self.encoder(self.embed(source, 0)).repeat_interleave(beam, dim=0)
        state = []
        for layer in self.decoder.layers:
            keys, values = self.project(layer.multihead_attn, memory, 1, 2).chunk(2, dim=2)
            state.append([heads_of(keys, self.heads), heads_of(values, self.heads), None, None])
        return state

    # Of the target alone: hypotheses of one source see the same memory.
    def reorder(self, state, rows):
        for kept in state:
            kept[2], kept[3] = kept[2][rows], kept[3][rows]

    def step(self, ids, position, state):
        x = self.embed(ids[:, None], position)
        for layer, kept in zip(self.decoder.layers, state):
            y = layer.norm1(x)
            queries, keys, values = (heads_of(part, self.heads) for part in self.project(layer.self_attn, y, 0, 3).chunk(3, dim=2))
            kept[2] = keys if kept[2] is None else torch.cat([kept[2], keys], dim=2)
            kept[3] = values if kept[3] is None else torch.cat([kept[3], values], dim=2)
            x = x + layer.self_attn.out_proj(attend(queries, kept[2], kept[3]))
            queries = heads_of(self.project(layer.multihead_attn, layer.norm2(x), 0, 1), self.heads)
            x = x + layer.multihead_attn.out_proj(attend(queries, kept[0], kept[1]))
            x = x + layer.linear2(torch.relu(layer.linear1(layer.norm3(x))))
        return functional.linear(self.decoder.norm(x)[:, 0], self.tokens.weight)


class Gru(nn.Module):
    def __init__(self, layers, heads, width, ffn_width, vocab, length):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.encoder = nn.GRU(width, width // 2, layers, batch_first=True, bidirectional=True)
        self.decoder = nn.GRUCell(2 * width, width)
        self.first = nn.Linear(width, width)
        self.of_state = nn.Linear(width, width, bias=False)
        self.of_memory = nn.Linear(width, width)
        self.score = nn.Linear(width, 1, bias=False)
        self.readout = nn.Linear(3 * width, 2 * width)

    def start(self, source, beam):
        memory = self.encoder(self.tokens(source))[0].repeat_interleave(beam, dim=0)
        return [memory, self.of_memory(memory), torch.tanh(self.first(memory[:, 0]))]

    def reorder(self, state, rows):
        state[2] = state[2][rows]

    def step(self, ids, position, state):
        memory, keys, hidden = state
        scores = self.score(torch.tanh(keys + self.of_state(hidden)[:, None])).squeeze(2)
        context = (torch.softmax(scores, dim=1)[:, None] @ memory)[:, 0]
        inputs = self.tokens(ids)
        read = self.readout(torch.cat([hidden, inputs, context], dim=1))
        state[2] = self.decoder(torch.cat([inputs, context], dim=1), hidden)
        return functional.linear(read.view(len(read), -1, 2).max(dim=2).values, self.tokens.weight)


def translate(model, source, length, beam):
    state = model.start(source, beam)
    batch = len(source)
    ids = torch.zeros(batch * beam, dtype=torch.long)
    scores = torch.full((batch, beam), float("-inf"))
    scores[:, 0] = 0.0
    first = torch.arange(batch)[:, None] * beam
    for position in range(length):
        logits = model.step(ids, position, state)
        if beam == 1:
            ids = logits.argmax(dim=1)
            continue
        totals = scores[:, :, None] + torch.log_softmax(logits, dim=1).view(batch, beam, -1)
        scores, best = totals.flatten(1).topk(beam, dim=1)
        ids = (best % logits.shape[1]).flatten()
        model.reorder(state, (first + best // logits.shape[1]).flatten())
    return ids


def main():
    kind = {"transformer": Transformer, "gru": Gru}[sys.argv[1]]
    layers, heads, width, ffn_width, vocab, lines, batch, source_time, target_time, beam = map(int, sys.argv[2:12])
    torch.manual_seed(1)
    model = kind(layers, heads, width, ffn_width, vocab, max(source_time, target_time)).eval()
    sources = torch.randint(vocab, (lines, source_time))
    with torch.inference_mode():
        translate(model, sources[:batch], target_time, beam)
        begin = time.perf_counter()
        for start in range(0, lines, batch):
            translate(model, sources[start:start + batch], target_time, beam)
        print(json.dumps({"sentences_per_second": lines / (time.perf_counter() - begin)}))


main()
