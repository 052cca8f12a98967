"""What the references of sequence-to-sequence models share: files, tokenizers, likelihoods and searches.

A model is a function of two lists of ids, source and target so far, that returns the logits after each token of the
target, [time, vocab], in double precision. Everything is computed anew for each text: no caches, no batches, no padding.
"""
import argparse
import json
import os
import re
import struct

import torch

SHAPE = {"layers": 2, "decoder-layers": 2, "width": 16, "heads": 2, "head-width": 8, "inner": 24, "context": 96,
         "buckets": 32, "max-distance": 128, "vocab": 0, "seed": 1, "max-tokens": 24, "steps": 25}


def arguments(description, **flags):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    for name, default in SHAPE.items():
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--stddev", type=float, default=0.3, help="of embeddings and vectors")
    parser.add_argument("--gain", type=float, default=1.0, help="of matrices: how much larger their results are")
    for name, (default, help_text) in flags.items():
        if isinstance(default, bool):
            parser.add_argument("--" + name.replace("_", "-"), action="store_true", help=help_text)
        else:
            parser.add_argument("--" + name.replace("_", "-"), default=default, help=help_text)
    return parser.parse_args()


class Weights(dict):
    """Random tensors by name, float32 as files hold them; double() is what references compute with."""

    def __init__(self, seed, stddev, gain):
        super().__init__()
        self.generator, self.stddev, self.gain = torch.Generator().manual_seed(seed), stddev, gain

    def add(self, name, *shape, mean=0.0, stddev=None):
        self[name] = mean + torch.randn(*shape, generator=self.generator) * (self.stddev if stddev is None else stddev)

    def add_linear(self, name, inputs, outputs, bias=True):
        self.add(name + ".weight", outputs, inputs, stddev=self.gain * inputs**-0.5)
        if bias:
            self.add(name + ".bias", outputs)

    def double(self):
        self.doubles = {name: tensor.double().requires_grad_() for name, tensor in self.items()}
        return self.doubles

    def train(self, loss, steps):
        """Adam, so that texts have some sense in them; the float32 numbers that files hold are then used as they are."""
        if steps > 0:
            optimizer = torch.optim.Adam(self.doubles.values(), lr=0.01)
            for _ in range(steps):
                optimizer.zero_grad()
                loss().backward()
                optimizer.step()
        with torch.no_grad():
            for name, tensor in self.doubles.items():
                self[name] = tensor.float()
                tensor.copy_(self[name])


def save_safetensors(tensors, path):
    """The length of a JSON header, the header, then all elements."""
    header, offset = {"__metadata__": {"format": "pt"}}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * 4
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            out.write(tensor.contiguous().numpy().tobytes())


def added(number, content):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False,
            "special": True}


class Unigram:
    """Words of the most probable pieces, each with a mark in front, as T5 and SentencePiece have them."""

    MARK = "\u2581"

    def __init__(self, before, after):
        letters = [(letter, -3.0 - index / 10) for index, letter in enumerate("etaoinshrdlcumwfgypbvkxjqzTWA.,?'")]
        words = [(self.MARK, -2.0), (self.MARK + "the", -2.5), (self.MARK + "a", -2.7), ("in", -3.5), ("er", -3.6),
                 (self.MARK + "s", -3.2), ("at", -3.4), ("ing", -4.0), (self.MARK + "w", -3.9)]
        pieces = [(name, 0.0) for name in before] + words + letters + [(name, 0.0) for name in after]
        self.pieces, self.scores = [name for name, _ in pieces], [score for _, score in pieces]
        self.special = before + after
        self.ids = {name: number for number, name in enumerate(self.pieces)}

    def encode(self, text):
        return [number for word in text.split() for number in self.best(self.MARK + word)]

    encode_source = encode

    def best(self, word):
        found = [(0.0, [])]
        for end in range(1, len(word) + 1):
            options = [(found[begin][0] + self.scores[self.ids[word[begin:end]]],
                        found[begin][1] + [self.ids[word[begin:end]]])
                       for begin in range(end) if found[begin] and word[begin:end] in self.ids]
            found.append(max(options) if options else None)
        return found[-1][1]

    def json(self):
        end = "</s>"
        metaspace = {"type": "Metaspace", "replacement": self.MARK, "add_prefix_space": True}
        single = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": end, "type_id": 0}}]
        pair = single + [{"Sequence": {"id": "B", "type_id": 0}}, {"SpecialToken": {"id": end, "type_id": 0}}]
        return {
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(self.ids[name], name) for name in self.special],
            "normalizer": None,
            "pre_tokenizer": {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace]},
            "post_processor": {"type": "TemplateProcessing", "single": single, "pair": pair,
                               "special_tokens": {end: {"id": end, "ids": [self.ids[end]], "tokens": [end]}}},
            "decoder": metaspace,
            "model": {"type": "Unigram", "unk_id": self.ids["<unk>"],
                      "vocab": [list(pair) for pair in zip(self.pieces, self.scores)]}}

    def save(self, directory):
        json.dump(self.json(), open(f"{directory}/tokenizer.json", "w"), ensure_ascii=False)


class ByteLevel:
    """GPT-2's pairs of bytes with RoBERTa's special tokens."""

    PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+"
    MERGES = ["\u0120 t", "h e", "\u0120 a", "i n", "\u0120t he", "e r", "o n", "r e", "\u0120 s", "n d"]

    def __init__(self):
        keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
        others = [byte for byte in range(256) if byte not in keep]
        self.symbols = {byte: chr(byte) for byte in keep} | {byte: chr(256 + i) for i, byte in enumerate(others)}
        self.special = ["<s>", "<pad>", "</s>", "<unk>"]
        self.pieces = self.special + list(self.symbols.values()) + [pair.replace(" ", "") for pair in self.MERGES]
        self.pieces.append("<mask>")
        self.special.append("<mask>")
        self.ids = {name: number for number, name in enumerate(self.pieces)}

    def encode(self, text):
        rank = {tuple(pair.split(" ")): i for i, pair in enumerate(self.MERGES)}
        ids = []
        for word in re.findall(self.PATTERN, text):
            parts = [self.symbols[byte] for byte in word.encode()]
            while len(parts) > 1:
                best = min(range(len(parts) - 1), key=lambda i: rank.get((parts[i], parts[i + 1]), len(rank)))
                if (parts[best], parts[best + 1]) not in rank:
                    break
                parts[best:best + 2] = [parts[best] + parts[best + 1]]
            ids += [self.ids[part] for part in parts]
        return ids

    encode_source = encode

    def json(self):
        level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
        return {
            "version": "1.0", "truncation": None, "padding": None,
            "added_tokens": [added(self.ids[name], name) for name in self.special],
            "normalizer": None, "pre_tokenizer": level,
            "post_processor": {"type": "RobertaProcessing", "sep": ["</s>", 2], "cls": ["<s>", 0], "trim_offsets": True,
                               "add_prefix_space": False},
            "decoder": level,
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "vocab": self.ids, "merges": self.MERGES}}

    def save(self, directory):
        json.dump(self.json(), open(f"{directory}/tokenizer.json", "w"), ensure_ascii=False)

    def save_parts(self, directory):
        """As older directories have it."""
        json.dump(self.ids, open(f"{directory}/vocab.json", "w"), ensure_ascii=False)
        open(f"{directory}/merges.txt", "w").write("#version: 0.2\n" + "\n".join(self.MERGES) + "\n")


def log_probabilities(model, source, target):
    with torch.no_grad():
        return model(source, target).log_softmax(-1)


def score(model, source, prompt, target):
    rows = log_probabilities(model, source, prompt + target[:-1])
    return [rows[len(prompt) - 1 + i, token].item() for i, token in enumerate(target)]


def greedy(model, source, prompt, end, allowed, most):
    text = []
    while len(text) < most:
        token = int(log_probabilities(model, source, prompt + text)[-1, :allowed].argmax())
        if token == end:
            break
        text.append(token)
    return text


def beam(model, source, prompt, end, allowed, most, width=4, penalty=0.6):
    """The text of the highest log p / ((5 + length) / 6)^penalty that the search finds, and that number.

    An end counts where it is among the `width` best next steps; of the others as many go on. Over when `width` texts are
    found and none that goes on can become better than the worst of them.
    """
    def scored(likelihood, length):
        return likelihood / ((5 + length) / 6) ** penalty

    alive, found = [(0.0, [])], []
    for length in range(1, most + 1):
        steps = []
        for likelihood, text in alive:
            row = log_probabilities(model, source, prompt + text)[-1, :allowed]
            steps += [(likelihood + value, text + [token])
                      for value, token in zip(*[x.tolist() for x in row.topk(width + 1)])]
        steps.sort(key=lambda step: -step[0])
        alive = []
        for rank, (likelihood, text) in enumerate(steps):
            if text[-1] == end or length == most:
                if rank < width:
                    found.append((scored(likelihood, length), text[:-1] if text[-1] == end else text))
            elif len(alive) < width:
                alive.append((likelihood, text))
        found = sorted(found, key=lambda text: -text[0])[:width]
        if not alive or len(found) == width and found[-1][0] >= scored(alive[0][0], most):
            break
    return found[0][1], found[0][0]


SOURCES = ["the cat sat in the water", "A dog, a hen and a goat were eating grass all day at the bridge?", "we sing"]
TARGETS = ["A cat was there.", "the goat isn't", "sing, we said, and then we sang the other song at last"]


def save(a, config, weights, tokenizer, model, frames, save_tokenizer=None, texts=(SOURCES, TARGETS)):
    """frames: tokens before a text, the token after it, and the one that a target begins with."""
    begin, end, start = frames
    prompt = [start] + begin
    pairs = [(begin + tokenizer.encode_source(source) + [end], tokenizer.encode(target) + [end])
             for source, target in zip(*texts)]

    def loss():
        losses = []
        for source, target in pairs:
            rows = model(source, prompt + target[:-1])[len(prompt) - 1:].log_softmax(-1)
            losses.append(-rows[torch.arange(len(target)), torch.tensor(target)].mean())
        return sum(losses)

    weights.train(loss, a.steps)
    os.makedirs(a.directory, exist_ok=True)
    json.dump(config, open(f"{a.directory}/config.json", "w"), indent=1)
    save_safetensors(weights, f"{a.directory}/model.safetensors")
    (save_tokenizer or tokenizer.save)(a.directory)
    # Padding is no text; where it is the last id, it is never generated.
    allowed = len(tokenizer.pieces) - (tokenizer.pieces[-1] == "<pad>")
    expected = {"pairs": []}
    for source_text, target_text, (source, target) in zip(*texts, pairs):
        scores = score(model, source, prompt, target)
        beams, best = beam(model, source, prompt, end, allowed, a.max_tokens)
        expected["pairs"].append({
            "source": source_text, "target": target_text, "source_ids": source, "prompt": prompt, "target_ids": target,
            "log_likelihood": sum(scores), "log_probabilities": scores, "max_tokens": a.max_tokens,
            "greedy": greedy(model, source, prompt, end, allowed, a.max_tokens), "beam": beams, "beam_score": best})
    json.dump(expected, open(f"{a.directory}/expected.json", "w"))
    count = sum(tensor.numel() for tensor in weights.values())
    print(f"{a.directory}: {count} numbers, log-likelihoods",
          " ".join(f"{pair['log_likelihood']:.6f}" for pair in expected["pairs"]))
