#!/usr/bin/env python3
"""Attention weights of small GPT-2 and BERT models as PyTorch's MultiheadAttention gives them, in double precision.

    make_expected.py > expected.json

The models are those of tests/formats/huggingface. The file has the texts, their ids and the weights, [layer][head][query]
[key], so that the test that reads it needs no PyTorch; made with PyTorch 1.13.
"""
import json
import os
import struct

import torch
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
MODELS = os.path.join(os.path.dirname(__file__), "../../formats/huggingface")


def load(name):
    with open(os.path.join(MODELS, name, "model.safetensors"), "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        elements = file.read()
    tensors = {}
    for key, value in header.items():
        if key != "__metadata__":
            begin, end = value["data_offsets"]
            numbers = torch.frombuffer(bytearray(elements[begin:end]), dtype=torch.float32).double()
            tensors[key] = numbers.reshape(value["shape"])
    return tensors


def attend(x, heads, projection, projection_bias, output, output_bias, mask=None):
    """The result and the weights [head][query][key]; matrices are [out, in]."""
    module = torch.nn.MultiheadAttention(x.shape[1], heads, batch_first=True)
    with torch.no_grad():
        module.in_proj_weight.copy_(projection)
        module.in_proj_bias.copy_(projection_bias)
        module.out_proj.weight.copy_(output)
        module.out_proj.bias.copy_(output_bias)
        y, weights = module(x[None], x[None], x[None], attn_mask=mask, average_attn_weights=False)
    return y[0], weights[0].tolist()


def norm(x, w, name, epsilon):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], epsilon)


def gpt2(name, ids, heads, layers):
    w = load(name)
    time = len(ids)
    x = w["wte.weight"][ids] + w["wpe.weight"][:time]
    mask = torch.triu(torch.ones(time, time, dtype=torch.bool), 1)
    maps = []
    for i in range(layers):
        h = f"h.{i}."
        y, weights = attend(norm(x, w, h + "ln_1", 1e-5), heads, w[h + "attn.c_attn.weight"].T, w[h + "attn.c_attn.bias"],
                            w[h + "attn.c_proj.weight"].T, w[h + "attn.c_proj.bias"], mask)
        maps.append(weights)
        x = x + y
        inner = norm(x, w, h + "ln_2", 1e-5) @ w[h + "mlp.c_fc.weight"] + w[h + "mlp.c_fc.bias"]
        inner = 0.5 * inner * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (inner + 0.044715 * inner**3)))
        x = x + inner @ w[h + "mlp.c_proj.weight"] + w[h + "mlp.c_proj.bias"]
    return maps


def bert(name, ids, segments, heads, layers):
    w = load(name)
    e = "bert.embeddings."
    x = (w[e + "word_embeddings.weight"][ids] + w[e + "position_embeddings.weight"][:len(ids)] +
         w[e + "token_type_embeddings.weight"][segments])
    x = norm(x, w, e + "LayerNorm", 1e-12)
    maps = []
    for i in range(layers):
        h = f"bert.encoder.layer.{i}."
        parts = [h + "attention.self." + part for part in ("query", "key", "value")]
        y, weights = attend(x, heads, torch.cat([w[part + ".weight"] for part in parts]),
                            torch.cat([w[part + ".bias"] for part in parts]), w[h + "attention.output.dense.weight"],
                            w[h + "attention.output.dense.bias"])
        maps.append(weights)
        x = norm(x + y, w, h + "attention.output.LayerNorm", 1e-12)
        inner = F.gelu(x @ w[h + "intermediate.dense.weight"].T + w[h + "intermediate.dense.bias"])
        y = inner @ w[h + "output.dense.weight"].T + w[h + "output.dense.bias"]
        x = norm(x + y, w, h + "output.LayerNorm", 1e-12)
    return maps


def rounded(maps):
    return [[[[round(weight, 9) for weight in row] for row in head] for head in layer] for layer in maps]


GPT2_IDS = [116, 257, 32, 99, 97, 116, 264, 97, 116]
BERT_IDS = [2, 83, 84, 3, 83, 15, 60, 50, 3]
print(json.dumps([
    {"model": "gpt2-narrow", "texts": ["the cat sat"], "ids": GPT2_IDS, "weights": rounded(gpt2("gpt2-narrow", GPT2_IDS, 4, 3))},
    {"model": "bert-narrow", "texts": ["the cat", "the end"], "ids": BERT_IDS,
     "weights": rounded(bert("bert-narrow", BERT_IDS, [0] * 4 + [1] * 5, 4, 3))},
]))
