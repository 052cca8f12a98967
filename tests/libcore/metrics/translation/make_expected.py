#!/usr/bin/env python3
"""BLEU, chrF and the words that BLEU compares, written from their definitions with regular expressions and counters.

    make_expected.py > expected.json

Words: NIST's mteval-v13a, as the rules that sacrebleu calls 13a. BLEU: Papineni et al. 2002 with the exponential smoothing
of mteval. chrF: Popović 2015, 6 orders, beta 2, averages over the orders that both sides have.
"""
import json
import math
import random
import re
from collections import Counter

RULES = [(r"([{-~[-` -&(-+:-@/])", r" \1 "),   # punctuation without ' , - .
         (r"([^0-9])([.,])", r"\1 \2 "),       # not after a digit
         (r"([.,])([^0-9])", r" \1 \2"),       # not before a digit
         (r"([0-9])(-)", r"\1 \2 ")]           # a hyphen after a digit


def words(line):
    line = line.rstrip().replace("<skipped>", "")
    for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
        line = line.replace(entity, character)
    line = f" {line} "
    for pattern, replacement in RULES:
        line = re.sub(pattern, replacement, line)
    return line.split()


def ngrams(units, n):
    return Counter(tuple(units[i:i + n]) for i in range(len(units) - n + 1))


def bleu(hypotheses, references):
    matches, totals, c, r = [0] * 4, [0] * 4, 0, 0
    for hypothesis, of_line in zip(hypotheses, references):
        ours, theirs = words(hypothesis), [words(reference) for reference in of_line]
        c += len(ours)
        r += min((abs(len(other) - len(ours)), len(other)) for other in theirs)[1]
        for n in range(4):
            most = Counter()
            for other in theirs:
                most |= ngrams(other, n + 1)
            matches[n] += sum((ngrams(ours, n + 1) & most).values())
            totals[n] += sum(ngrams(ours, n + 1).values())
    brevity = 1 if c >= r else math.exp(1 - r / c) if c else 0
    precisions, zeros = [0.0] * 4, 0
    if matches[0]:
        for n in range(4):
            if totals[n] == 0:
                break
            if matches[n] == 0:
                zeros += 1
            precisions[n] = 100 * matches[n] / totals[n] if matches[n] else 100 / (2 ** zeros * totals[n])
    score = brevity * math.exp(sum(map(math.log, precisions)) / 4) if min(precisions) > 0 else 0
    return {"bleu": score, "precisions": precisions, "brevity": brevity, "words": [c, r], "matches": matches,
            "ngrams": totals}


def chrf_counts(hypothesis, reference):
    ours, theirs = "".join(hypothesis.split()), "".join(reference.split())
    counts = []
    for n in range(1, 7):
        a, b = ngrams(ours, n), ngrams(theirs, n)
        counts.append((sum(a.values()) if b else 0, sum(b.values()), sum((a & b).values())))
    return counts


def chrf_of(counts):
    both = [(match / ours, match / theirs) for ours, theirs, match in counts if ours and theirs]
    if not both:
        return 0
    precision, recall = (sum(values) / len(both) for values in zip(*both))
    return 100 * 5 * precision * recall / (4 * precision + recall) if precision + recall else 0


def chrf(hypotheses, references):
    total = [(0, 0, 0)] * 6
    for hypothesis, of_line in zip(hypotheses, references):
        best = max((chrf_counts(hypothesis, reference) for reference in of_line), key=chrf_of)
        total = [tuple(map(sum, zip(a, b))) for a, b in zip(total, best)]
    return chrf_of(total)


def case(hypotheses, references):
    exact = sum(hypothesis in of_line for hypothesis, of_line in zip(hypotheses, references)) / len(hypotheses)
    return {"hypotheses": hypotheses, "references": references, "tokenized": [" ".join(words(h)) for h in hypotheses],
            **bleu(hypotheses, references), "chrf": chrf(hypotheses, references), "exact": exact}


PIECES = ["the", "dog", "saw", "a", "cat", "house", "über", "Straße", "naïve", "日本語", "Привет", "😀", "1,000.5", "3-4",
          "1990.", "(x)", "it's", "U.S.", "\"so\"", "&quot;", "&amp;lt;", "e.g.,", "...", "!?", "-", "--", "C++", "a/b",
          "<skipped>", "10%", "$5", "[1]", "{y}", "~", "^", "`", "..5", ",,", ".,.", "5.", "5,a", "a.5", "2-", "-2", "\u2019s",
          "\xa0", "\u2009", "\u3000", "\x1c", "٣.٤", "…", "A.B.C", "x@y.de", "http://a.b/c-d", "#", "'", "\\", "½.", "e\u0301"]


def sentence(rng):
    glue = [" "] * 8 + ["", "  ", "\t"]
    return "".join(rng.choice(PIECES) + rng.choice(glue) for _ in range(rng.randint(0, 15)))


def changed(rng, line):
    parts = line.split(" ")
    for _ in range(rng.randint(0, 3)):
        if parts:
            i = rng.randrange(len(parts))
            parts[i:i + 1] = rng.choice([[], [rng.choice(PIECES)], [parts[i], parts[i]]])
    return " ".join(parts)


def main():
    rng = random.Random(1)
    cases = []
    for lines, count in [(1, 1)] * 25 + [(3, 1)] * 10 + [(40, 1)] * 3 + [(1, 3)] * 10 + [(20, 2)] * 5:
        references = [[sentence(rng) for _ in range(count)] for _ in range(lines)]
        cases.append(case([changed(rng, rng.choice(of_line)) for of_line in references], references))
    print(json.dumps(cases, indent=0, sort_keys=True))


main()
