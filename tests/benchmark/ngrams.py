"""Bits per byte of interpolated Kneser-Ney n-grams, to compare with `inspect evaluate` (Chen & Goodman 1999, "An empirical study of
smoothing techniques for language modeling", equation 15 with one discount per order, n1 / (n1 + 2 n2)).

Arguments: ORDER TRAIN TEST BYTES. TRAIN and TEST are token files of `tokenize` with the same tokenizer, BYTES the number of bytes of
TEST's text.
"""
import math
import sys

import h5py


def read(path):
    with h5py.File(path, "r") as file:
        return file["tokens"][:].tolist()


class Order:
    """Counts of the n-grams of one order, by context."""

    def __init__(self):
        self.count, self.total, self.kinds = {}, {}, {}

    def add(self, context, token):
        key = (context, token)
        if key in self.count:
            self.count[key] += 1
        else:
            self.count[key] = 1
            self.kinds[context] = self.kinds.get(context, 0) + 1
        self.total[context] = self.total.get(context, 0) + 1

    def finish(self):
        once = sum(1 for n in self.count.values() if n == 1)
        twice = sum(1 for n in self.count.values() if n == 2)
        self.discount = once / (once + 2 * twice) if once else 0.5


def trained(order, tokens):
    orders = [Order() for _ in range(order)]
    highest = orders[-1]
    for end in range(order - 1, len(tokens)):
        highest.add(tuple(tokens[end - order + 1:end]), tokens[end])
    # Lower orders count in how many contexts of the next one an n-gram follows.
    for n in range(order - 1, 0, -1):
        for context, token in orders[n].count:
            orders[n - 1].add(context[1:], token)
    for one in orders:
        one.finish()
    return orders


def probability(orders, history, token, vocabulary):
    value = 1.0 / vocabulary
    for n, one in enumerate(orders):
        if n > len(history):
            break
        context = tuple(history[len(history) - n:])
        total = one.total.get(context)
        if not total:
            break
        found = max(one.count.get((context, token), 0) - one.discount, 0)
        value = (found + one.discount * one.kinds[context] * value) / total
    return value


def main():
    order, train, test, size = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    tokens = read(train)
    unseen = read(test)
    vocabulary = max(max(tokens), max(unseen)) + 1
    orders = trained(order, tokens)
    bits = 0.0
    for end in range(len(unseen)):
        bits -= math.log2(probability(orders, unseen[max(0, end - order + 1):end], unseen[end], vocabulary))
    print(f"{order}-grams: {bits / size:.4f} bits per byte")


main()
