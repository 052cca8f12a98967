"""What recurrent models learn in PyTorch with the default initialisation of its modules: the peer of `pretrain --arch lstm`, `bilm` and
`rnn`, as one JSON object with the validation loss in nats per token.

Arguments: KIND layers width batch time steps rate seed TRAIN VALID [untied]. KIND is lstm, gru or tanh (next tokens), bilm (layers of
nn.LSTM in each direction with skip connections), attention (a bidirectional nn.GRU and an nn.GRUCell with additive attention and maxout,
Bahdanau et al. 2015) or fixed (nn.LSTM that reads the source backwards and one that starts from its states, Sutskever et al. 2014).
TRAIN and VALID are token files of `tokenize`, for the last two kinds pairs files (`time` has no effect). Embeddings are those of
nn.Embedding, N(0, 1), shared with the output; `untied`: the output is an nn.Linear. AdamW, its groups, the schedule, clipping, windows
and groups of pairs are those of pretrain's defaults, in another random order. Threads as OMP_NUM_THREADS says.
"""
import json
import math
import sys

import h5py
import torch
from torch import nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class LanguageModel(nn.Module):
    def __init__(self, kind, layers, width, vocab):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.cells = {"lstm": nn.LSTM, "gru": nn.GRU, "tanh": nn.RNN}[kind](width, width, layers, batch_first=True)

    def hidden(self, window):
        return self.cells(self.tokens(window[:, :-1]))[0], window[:, 1:]


class Bilm(nn.Module):
    def __init__(self, kind, layers, width, vocab):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.directions = nn.ModuleList(
            nn.ModuleList(nn.LSTM(width, width, batch_first=True) for _ in range(layers)) for _ in range(2))

    def hidden(self, window):
        x = self.tokens(window)
        states = []
        for layers, states_in in zip(self.directions, (x, x.flip(1))):
            h = states_in
            for i, layer in enumerate(layers):
                h = layer(h)[0] + (h if i > 0 else 0)
            states.append(h[:, :-1])
        return torch.cat(states), torch.cat([window[:, 1:], window.flip(1)[:, 1:]])


def last_of(lengths, x):
    return x[torch.arange(len(x)), lengths - 1]


class Attention(nn.Module):
    def __init__(self, kind, layers, width, vocab):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.encoder = nn.GRU(width, width // 2, layers, batch_first=True, bidirectional=True)
        self.decoder = nn.GRUCell(2 * width, width)
        self.start = nn.Linear(width // 2, width)
        self.of_state = nn.Linear(width, width, bias=False)
        self.of_memory = nn.Linear(width, width, bias=False)
        self.score = nn.Linear(width, 1, bias=False)
        self.readout = nn.Linear(3 * width, 2 * width)

    def hidden(self, pairs):
        source, lengths, target, wanted = pairs
        packed = pack_padded_sequence(self.tokens(source), lengths, batch_first=True, enforce_sorted=False)
        memory = pad_packed_sequence(self.encoder(packed)[0], batch_first=True)[0]
        padding = torch.arange(source.shape[1])[None] >= lengths[:, None]
        keys = self.of_memory(memory)
        state = torch.tanh(self.start(memory[:, 0, memory.shape[2] // 2:]))
        inputs, outputs = self.tokens(target), []
        for t in range(target.shape[1]):
            scores = self.score(torch.tanh(keys + self.of_state(state)[:, None])).squeeze(2)
            weights = torch.softmax(scores.masked_fill(padding, float("-inf")), dim=1)
            context = (weights[:, None] @ memory)[:, 0]
            read = self.readout(torch.cat([state, inputs[:, t], context], dim=1))
            outputs.append(read.view(len(read), -1, 2).max(dim=2).values)
            state = self.decoder(torch.cat([inputs[:, t], context], dim=1), state)
        return torch.stack(outputs, dim=1), wanted


class Fixed(nn.Module):
    def __init__(self, kind, layers, width, vocab):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.encoder = nn.LSTM(width, width, layers, batch_first=True)
        self.decoder = nn.LSTM(width, width, layers, batch_first=True)

    def hidden(self, pairs):
        source, lengths, target, wanted = pairs
        places = (lengths[:, None] - 1 - torch.arange(source.shape[1])[None]).clamp(min=0)
        packed = pack_padded_sequence(self.tokens(source.gather(1, places)), lengths, batch_first=True, enforce_sorted=False)
        return self.decoder(self.tokens(target), self.encoder(packed)[1])[0], wanted


KINDS = {"lstm": LanguageModel, "gru": LanguageModel, "tanh": LanguageModel, "bilm": Bilm, "attention": Attention, "fixed": Fixed}


class Windows:
    """Windows of time + 1 tokens; each epoch shifts the text and reads its windows in another order."""

    def __init__(self, path, batch, time):
        with h5py.File(path) as file:
            self.ids = torch.from_numpy(file["tokens"][:].astype("int64"))
            self.vocab = len(file["tokenizer/pieces"])
        self.batch, self.time = batch, time

    def forever(self):
        count = (len(self.ids) - 1) // self.time - 1
        starts = []
        while True:
            if len(starts) < self.batch:
                shift = int(torch.randint(self.time + 1, ()))
                starts += (torch.randperm(count) * self.time + shift).tolist()
            yield torch.stack([self.ids[s:s + self.time + 1] for s in starts[:self.batch]])
            del starts[:self.batch]

    def once(self):
        whole = (len(self.ids) - 1) // self.time
        for first in range(0, whole, self.batch):
            yield torch.stack([self.ids[i * self.time:(i + 1) * self.time + 1] for i in range(first, min(whole, first + self.batch))])
        if whole * self.time + 1 < len(self.ids):
            yield self.ids[None, whole * self.time:]


class Pairs:
    """Groups of pairs of like lengths, in another order in each epoch."""

    def __init__(self, path, batch, time):
        with h5py.File(path) as file:
            self.vocab, self.end = len(file["tokenizer/pieces"]), int(file["tokenizer"].attrs["end_of_text"])
            self.source, self.target = (self.texts(file[side]) for side in ("source", "target"))
        self.batch = batch

    def texts(self, file):
        ids, starts = file["tokens"][:].astype(int), file["documents"][:]
        return [torch.tensor([*ids[a:b], self.end]) for a, b in zip(starts, starts[1:])]

    def groups(self):
        keys = [(len(t), len(s), float(r)) for t, s, r in zip(self.target, self.source, torch.rand(len(self.source)))]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        return [order[i:i + self.batch] for i in range(0, len(order), self.batch)]

    def padded(self, group):
        lengths = torch.tensor([len(self.source[i]) for i in group])
        source = nn.utils.rnn.pad_sequence([self.source[i] for i in group], batch_first=True)
        wanted = nn.utils.rnn.pad_sequence([self.target[i] for i in group], batch_first=True, padding_value=-100)
        target = torch.cat([torch.full((len(group), 1), self.end), wanted[:, :-1].clamp(min=0)], dim=1)
        return source, lengths, target, wanted

    def forever(self):
        while True:
            groups = self.groups()
            for i in torch.randperm(len(groups)).tolist():
                yield self.padded(groups[i])

    def once(self):
        for group in self.groups():
            yield self.padded(group)


def factor(step, steps):
    """Cosine to a tenth of the peak after 4 % of warm-up."""
    warmup = math.floor(0.04 * steps + 1e-6)
    if step < warmup:
        return (step + 1) / warmup
    peak = max(0, warmup - 1)
    return 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * (step - peak) / (steps - 1 - peak)))


def main():
    kind = sys.argv[1]
    layers, width, batch, time, steps = map(int, sys.argv[2:7])
    rate, seed = float(sys.argv[7]), int(sys.argv[8])
    data = Pairs if kind in ("attention", "fixed") else Windows
    train, valid = data(sys.argv[9], batch, time), data(sys.argv[10], batch, time)
    torch.manual_seed(seed)
    model = KINDS[kind](kind, layers, width, train.vocab)
    output = nn.Linear(width, train.vocab) if "untied" in sys.argv else None
    parameters = [*model.parameters(), *(output.parameters() if output else [])]
    groups = [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
              {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-8)

    def loss(batch_of, reduction):
        hidden, wanted = model.hidden(batch_of)
        logits = output(hidden) if output else functional.linear(hidden, model.tokens.weight)
        return functional.cross_entropy(logits.flatten(0, 1), wanted.flatten(), reduction=reduction), (wanted >= 0).sum()

    for step, batch_of in zip(range(steps), train.forever()):
        for group in optimizer.param_groups:
            group["lr"] = rate * factor(step, steps)
        optimizer.zero_grad(set_to_none=True)
        loss(batch_of, "mean")[0].backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
    with torch.no_grad():
        sums = [loss(batch_of, "sum") for batch_of in valid.once()]
    nats, tokens = (sum(float(s[i]) for s in sums) for i in range(2))
    print(json.dumps({"kind": kind, "rate": rate, "seed": seed, "untied": output is not None, "valid_loss": nats / tokens}))


main()
