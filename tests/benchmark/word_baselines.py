#!/usr/bin/env python3
"""Classifiers of words and pairs of words, for comparison with `finetune --arch bag`: multinomial naive Bayes and
logistic regression on uni- and bigrams, in numpy alone.

  word_baselines.py TRAIN.tsv TEST.tsv        both files: LABEL, tab, TEXT

Prints a line for each classifier: its name and its accuracy. The penalty of the logistic regression is chosen on every
tenth training example.
"""
import re
import sys

import numpy as np


def read(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        rows = [line.rstrip("\r\n").split("\t", 1) for line in lines if line.strip()]
    return [row[0] for row in rows], [words_of(row[1]) for row in rows]


def words_of(text):
    words = re.findall(r"\w+|[^\w\s]", text.lower())
    return sorted(set(words) | set(zip(["<"] + words, words + [">"])), key=str)


class Matrix:
    """Rows of 0 and 1, as the places of the ones."""

    def __init__(self, texts, columns):
        places = [[columns[word] for word in text if word in columns] for text in texts]
        self.rows = np.repeat(np.arange(len(texts)), [len(p) for p in places])
        self.columns = np.concatenate([np.array(p, dtype=np.int64) for p in places])
        self.shape = (len(texts), len(columns))

    def times(self, weights):
        return np.stack([np.bincount(self.rows, w[self.columns], self.shape[0]) for w in weights.T], 1)

    def transposed_times(self, values):
        return np.stack([np.bincount(self.columns, v[self.rows], self.shape[1]) for v in values.T], 1)


def naive_bayes(x, gold):
    counts = x.transposed_times(gold) + 1
    return np.log(counts / counts.sum(0)), np.log(gold.mean(0))


def logistic(x, gold, penalty, start=None, tolerance=1e-3, most_steps=3000):
    """The least mean loss + penalty / 2 |w|^2 / n, by accelerated gradient descent (Nesterov 1983) that begins again
    where its momentum points uphill (O'Donoghue and Candes 2015), until the gradient is `tolerance` of that at zero."""
    n = len(gold)
    w = np.zeros((x.shape[1], gold.shape[1])) if start is None else start[0]
    b = np.zeros(gold.shape[1]) if start is None else start[1]
    rate = 4.0 / np.bincount(x.rows, minlength=n).mean()

    def slope(w, b):
        logits = x.times(w) + b
        p = np.exp(logits - logits.max(1, keepdims=True))
        error = (p / p.sum(1, keepdims=True) - gold) / n
        return x.transposed_times(error) + penalty / n * w, error.sum(0)

    enough = tolerance * np.linalg.norm(x.transposed_times((1 / gold.shape[1] - gold) / n))
    looked, at, momentum = w, b, 1.0
    for _ in range(most_steps):
        of_w, of_b = slope(looked, at)
        if np.linalg.norm(of_w) < enough:
            break
        new_w, new_b = looked - rate * of_w, at - rate * of_b
        if (of_w * (new_w - w)).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        looked = new_w + (momentum - 1) / following * (new_w - w)
        at = new_b + (momentum - 1) / following * (new_b - b)
        w, b, momentum = new_w, new_b, following
    return w, b


def accuracy(model, x, gold):
    return float((np.argmax(x.times(model[0]) + model[1], 1) == gold.argmax(1)).mean())


def main():
    labels, texts = read(sys.argv[1])
    test_labels, test_texts = read(sys.argv[2])
    names = sorted(set(labels) | set(test_labels))
    one_hot = lambda of: np.eye(len(names))[[names.index(label) for label in of]]
    columns = {word: i for i, word in enumerate(sorted({w for text in texts for w in text}, key=str))}
    x, gold = Matrix(texts, columns), one_hot(labels)
    test, test_gold = Matrix(test_texts, columns), one_hot(test_labels)
    print(f"majority {test_gold[:, gold.sum(0).argmax()].mean():.4f}")
    print(f"naive-bayes {accuracy(naive_bayes(x, gold), test, test_gold):.4f}")
    held = np.arange(len(texts)) % 10 == 0
    part = lambda of, mask: [t for t, m in zip(of, mask) if m]
    inner, outer = Matrix(part(texts, ~held), columns), Matrix(part(texts, held), columns)
    best, most, model = None, -1.0, None
    for penalty in (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1):
        model = logistic(inner, gold[~held], penalty, model)
        if accuracy(model, outer, gold[held]) > most:
            best, most = penalty, accuracy(model, outer, gold[held])
    print(f"logistic {accuracy(logistic(x, gold, best), test, test_gold):.4f} penalty {best}")


if __name__ == "__main__":
    main()
