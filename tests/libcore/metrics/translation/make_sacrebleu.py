#!/usr/bin/env python3
"""Writes sacrebleu.json: random lines and what sacrebleu says of them. Needs sacrebleu."""
import json
import random

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.metrics.lib_ter import BeamEditDistance

random.seed(7)
latin = "the a dog cat Dog saw small 1,000.5 3-4 house, (old) \u201cyes\u201d don't \u20ac5 x+y \u00c9t\u00e9 no. !".split()
chinese = "\u6211\u4eec \u53bb \u5317\u4eac\u3002 BERT \uff08\u597d\uff09 \u2014\u2014 3.5 \u3053\u308c".split()


def changed(words):
    words = list(words)
    for _ in range(random.randint(0, 4)):
        kind = random.random()
        if not words or kind < 0.15:
            words.insert(random.randint(0, len(words)), random.choice(latin))
        elif kind < 0.3:
            words.pop(random.randrange(len(words)))
        elif kind < 0.5:
            words[random.randrange(len(words))] = random.choice(latin + chinese)
        else:
            begin, end = sorted(random.randint(0, len(words)) for _ in range(2))
            block = words[begin:end]
            rest = words[:begin] + words[end:]
            at = random.randint(0, len(rest))
            words = rest[:at] + block + rest[at:]
    return words


def line(words, separator):
    return separator.join(words)


cases = []
for number in range(120):
    lines, count = random.choice([1, 1, 3]), random.choice([1, 1, 2])
    vocabulary, separator = (latin, " ") if number % 4 else (chinese, "")
    hypotheses, references = [], []
    for _ in range(lines):
        words = random.choices(vocabulary, k=random.choice([0, 3, 8, 20, 40]))
        references.append([line(changed(words), separator) for _ in range(count)])
        hypotheses.append(line(changed(words), separator))
    if number == 118:  # more moves than are tried
        words = [str(i % 7) for i in range(60)]
        hypotheses, references = [" ".join(words)], [[" ".join(random.sample(words, 60))]]
    if number == 119:  # far from the diagonal
        hypotheses, references = [" ".join(latin[i % 9] for i in range(3))], [[" ".join(latin[i % 9] for i in range(200))]]
    by_reference = [list(of) for of in zip(*references)]
    case = {"hypotheses": hypotheses, "references": references}
    for tokenize in ("13a", "intl", "char", "zh"):
        case[tokenize] = BLEU(tokenize=tokenize).corpus_score(hypotheses, by_reference).score
    case["chrf++"] = CHRF(word_order=2).corpus_score(hypotheses, by_reference).score
    case["ter"] = TER().corpus_score(hypotheses, by_reference).score
    case["edits"] = [TER().sentence_score(h, r).num_edits for h, r in zip(hypotheses, references)]
    without = [min(BeamEditDistance(r.lower().split())(h.lower().split())[0] for r in of)
               for h, of in zip(hypotheses, references)]
    case["moves"] = without != case["edits"]
    cases.append(case)
with open("sacrebleu.json", "w") as file:
    json.dump(cases, file, ensure_ascii=True, indent=None, separators=(",", ":"))
