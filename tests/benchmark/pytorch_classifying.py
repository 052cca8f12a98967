"""The peer of classifying.cpp: how fast PyTorch's nn.TransformerEncoder answers texts, as one JSON object.

Arguments: layers heads width vocab context turns FILE, a text's token ids a line. Texts are sorted by length, each in a
frame of two tokens, and padded; the fastest of several sizes of batches, with and without nested tensors, counts.
Threads as OMP_NUM_THREADS says.
"""
import json
import statistics
import sys
import time

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self, layers, heads, width, vocab, context, nested):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(context, width)
        layer = nn.TransformerEncoderLayer(width, heads, 4 * width, activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=nested)
        self.head = nn.Linear(width, 2)

    def forward(self, ids, padding):
        x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
        return self.head(self.encoder(x, src_key_padding_mask=padding)[:, 0])


def batches_of(texts, batch_tokens):
    texts = sorted(texts, key=len, reverse=True)
    batches, begin = [], 0
    while begin < len(texts):
        part = texts[begin:begin + max(1, batch_tokens // len(texts[begin]))]
        ids = nn.utils.rnn.pad_sequence(part, batch_first=True)
        lengths = torch.tensor([len(text) for text in part])
        padding = torch.arange(ids.shape[1])[None] >= lengths[:, None]
        batches.append((ids, padding if padding.any() else None))
        begin += len(part)
    return batches


def main():
    layers, heads, width, vocab, context, turns = map(int, sys.argv[1:7])
    with open(sys.argv[7]) as lines:
        texts = [torch.tensor([0] + [int(word) for word in line.split()][:context - 2] + [0]) for line in lines]
    best = 0
    for nested in (True, False):
        model = Classifier(layers, heads, width, vocab, context, nested).eval()
        for batch_tokens in (1024, 4096, 16384):
            batches, seconds = batches_of(texts, batch_tokens), []
            for _ in range(turns + 1):
                start = time.perf_counter()
                with torch.no_grad():
                    for batch in batches:
                        model(*batch)
                seconds.append(time.perf_counter() - start)
            best = max(best, len(texts) / statistics.median(seconds[1:]))
    print(json.dumps({"texts_per_second": best}))


main()
