#!/usr/bin/env python3
"""T5 in plain PyTorch: a directory as Hugging Face has it, with random weights, and what they compute.

    t5.py DIRECTORY [--gated] [--layers N ...]

writes config.json, model.safetensors, tokenizer.json and expected.json: log-likelihoods of pairs, greedy and beam-4 tokens.
With --gated it is T5 1.1, whose output has a matrix of its own. Source: Raffel et al. 2020, sections 2.1 and 3.7; the
names and fields of the published files. Needs PyTorch; made with 1.13.
"""
import math

import torch
from torch.nn import functional as F

import sequences

a = sequences.arguments(__doc__, gated=(False, "version 1.1"))
tokenizer = sequences.Unigram(["<pad>", "</s>", "<unk>"], ["<extra_id_1>", "<extra_id_0>"])
vocab, heads, inner = a.vocab or len(tokenizer.pieces) + 3, a.heads, a.heads * a.head_width

w = sequences.Weights(a.seed, a.stddev, a.gain)
w.add("shared.weight", vocab, a.width)
for stack, layers in (("encoder", a.layers), ("decoder", a.decoder_layers)):
    for i in range(layers):
        block = f"{stack}.block.{i}.layer."
        kinds = ["SelfAttention"] + (["EncDecAttention"] if stack == "decoder" else [])
        for number, kind in enumerate(kinds):
            for part in "qkv":
                w.add_linear(f"{block}{number}.{kind}.{part}", a.width, inner, bias=False)
            w.add_linear(f"{block}{number}.{kind}.o", inner, a.width, bias=False)
            w.add(f"{block}{number}.layer_norm.weight", a.width, mean=1.0)
        if i == 0:
            w.add(block + "0.SelfAttention.relative_attention_bias.weight", a.buckets, heads, stddev=1.0)
        dense = f"{block}{len(kinds)}.DenseReluDense."
        for name in ("wi_0", "wi_1") if a.gated else ("wi",):
            w.add_linear(dense + name, a.width, a.inner, bias=False)
        w.add_linear(dense + "wo", a.inner, a.width, bias=False)
        w.add(f"{block}{len(kinds)}.layer_norm.weight", a.width, mean=1.0)
    w.add(stack + ".final_layer_norm.weight", a.width, mean=1.0)
if a.gated:
    w.add("lm_head.weight", vocab, a.width)
config = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": a.width, "d_kv": a.head_width,
          "d_ff": a.inner, "num_layers": a.layers, "num_decoder_layers": a.decoder_layers, "num_heads": heads,
          "relative_attention_num_buckets": a.buckets, "relative_attention_max_distance": a.max_distance,
          "dropout_rate": 0.1, "layer_norm_epsilon": 1e-6, "initializer_factor": 1.0,
          "feed_forward_proj": "gated-gelu" if a.gated else "relu", "is_encoder_decoder": True, "use_cache": True,
          "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0, "n_positions": 512,
          "tie_word_embeddings": not a.gated, "vocab_size": vocab}
d = w.double()


def bucket(offset, bidirectional):
    """Of a key `offset` positions after its query."""
    count, first = a.buckets, 0
    if bidirectional:
        count //= 2
        first = count if offset > 0 else 0
        distance = abs(offset)
    else:
        distance = max(0, -offset)
    exact = count // 2
    if distance < exact:
        return first + distance
    further = math.log(distance / exact) / math.log(a.max_distance / exact) * (count - exact)
    return first + min(count - 1, exact + int(further))


def position_bias(stack, time):
    table = d[f"{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"]
    rows = [[bucket(key - query, stack == "encoder") for key in range(time)] for query in range(time)]
    return table[torch.tensor(rows)].permute(2, 0, 1)


def norm(x, name):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * d[name + ".weight"]


def attend(x, states, name, bias):
    def split(t):
        return t.view(len(t), heads, a.head_width).transpose(0, 1)

    q, k, v = (split(t @ d[f"{name}.{part}.weight"].T) for part, t in zip("qkv", (x, states, states)))
    mixed = (q @ k.transpose(1, 2) + bias).softmax(-1) @ v  # no division by the root of the head's width
    return mixed.transpose(0, 1).reshape(len(x), inner) @ d[name + ".o.weight"].T


def feed(x, name):
    if a.gated:
        gate = F.gelu(x @ d[name + ".wi_0.weight"].T, approximate="tanh")
        return (gate * (x @ d[name + ".wi_1.weight"].T)) @ d[name + ".wo.weight"].T
    return F.relu(x @ d[name + ".wi.weight"].T) @ d[name + ".wo.weight"].T


def run(stack, layers, ids, states=None):
    x = d["shared.weight"][torch.tensor(ids)]
    bias = position_bias(stack, len(ids))
    if stack == "decoder":
        bias = bias + torch.full((len(ids), len(ids)), float("-inf"), dtype=torch.float64).triu(1)
    for i in range(layers):
        block = f"{stack}.block.{i}.layer."
        n = norm(x, block + "0.layer_norm")
        x = x + attend(n, n, block + "0.SelfAttention", bias)
        if stack == "decoder":
            x = x + attend(norm(x, block + "1.layer_norm"), states, block + "1.EncDecAttention", 0)
        last = f"{block}{2 if stack == 'decoder' else 1}"
        x = x + feed(norm(x, last + ".layer_norm"), last + ".DenseReluDense")
    return norm(x, stack + ".final_layer_norm")


def model(source, target):
    x = run("decoder", a.decoder_layers, target, run("encoder", a.layers, source))
    return x @ d["lm_head.weight"].T if a.gated else (x / math.sqrt(a.width)) @ d["shared.weight"].T


sequences.save(a, config, w, tokenizer, model, ([], 1, 0))
