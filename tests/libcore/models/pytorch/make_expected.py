#!/usr/bin/env python3
"""What PyTorch computes, in double precision: adapters, heads, losses, AdamW, recurrent layers, and transformers.

    make_expected.py > expected.json

The file has inputs and results, so that the test that reads it needs no PyTorch; made with PyTorch 1.13.
"""
import json

import torch
from torch.nn import functional as F

torch.manual_seed(1)
torch.set_default_dtype(torch.float64)


def normal(*shape, stddev=0.5):
    """Numbers of three decimals, which the file holds exactly."""
    return (torch.randn(*shape) * stddev * 1000).round() / 1000


def trained(*shape, **options):
    return normal(*shape, **options).requires_grad_()


def low_rank():
    """y = x W^T + b, with adapters of rank 2 on the first and the third of three stacked matrices."""
    rank, width, scale, columns = 2, 4, 1.75, [0, 8]
    x, weight, bias = trained(3, 5), trained(12, 5), trained(12)
    a, b = trained(2 * rank, 5), trained(2 * width, rank)
    y = F.linear(x, weight, bias)
    for part, column in enumerate(columns):
        low = F.linear(x, a[part * rank:(part + 1) * rank])
        term = scale * F.linear(low, b[part * width:(part + 1) * width])
        y = y + F.pad(term, (column, 12 - width - column))
    dy = normal(3, 12)
    gradients = torch.autograd.grad(y, [x, weight, bias, a, b], dy)
    return {"scale": scale, "columns": columns, "x": x, "weight": weight, "bias": bias, "a": a, "b": b, "y": y, "dy": dy,
            "gradients": list(gradients)}


def cross_entropy():
    """With class weights, with label smoothing, and with neither; one target does not count."""
    targets, weights = torch.tensor([2, 0, -1, 3, 0]), [0.5, 2, 1.25, 3]
    logits = normal(5, 4, stddev=2)
    cases = []
    for options in ({}, {"class_weights": weights}, {"smoothing": 0.1}):
        variable = logits.clone().requires_grad_()
        weight = torch.tensor(options["class_weights"]) if "class_weights" in options else None
        loss = F.cross_entropy(variable, targets, weight=weight, ignore_index=-1,
                               label_smoothing=options.get("smoothing", 0.0))
        loss.backward()
        cases.append({"options": options, "loss": loss, "gradient": variable.grad})
    return {"logits": logits, "targets": targets, "cases": cases}


WIDTH, CLASSES = 6, 3


def embeddings():
    sizes = {"token": 9, "position": 5, "segment": 2}
    parameters = {f"encoder/embedding/{name}/weight": trained(rows, WIDTH) for name, rows in sizes.items()}
    parameters["encoder/embedding/norm/gain"] = trained(WIDTH)
    parameters["encoder/embedding/norm/bias"] = trained(WIDTH)
    return parameters


def hidden(parameters, ids, segments):
    """The states that BERT without blocks has: its embeddings."""
    def look_up(name, rows):
        return F.embedding(rows, parameters[f"encoder/embedding/{name}/weight"])

    total = look_up("token", ids) + look_up("position", torch.arange(ids.shape[1])) + look_up("segment", segments)
    return F.layer_norm(total, (WIDTH,), parameters["encoder/embedding/norm/gain"],
                        parameters["encoder/embedding/norm/bias"], 1e-5)


def linear(parameters, name, x):
    return F.linear(x, parameters[name + "/weight"], parameters[name + "/bias"])


def finished(parameters, loss, results):
    names = sorted(parameters)
    gradients = torch.autograd.grad(loss, [parameters[name] for name in names])
    return {"parameters": parameters, "loss": loss, "gradients": dict(zip(names, gradients)), **results}


def tasks():
    """Two sequences, the second one padded: [CLS] A [SEP] B ..., of which B may hold an answer."""
    ids, segments = torch.tensor([[1, 4, 2, 5, 6], [1, 8, 2, 7, 0]]), torch.tensor([[0, 0, 0, 1, 1], [0, 0, 0, 1, 0]])
    common = {"ids": [[1, 4, 2, 5, 6], [1, 8, 2, 7]], "segments": [[0, 0, 0, 1, 1], [0, 0, 0, 1]]}

    labels = torch.tensor([2, 0])
    parameters = embeddings()
    parameters.update({"encoder/pooler/weight": trained(WIDTH, WIDTH), "encoder/pooler/bias": trained(WIDTH),
                       "task/weight": trained(CLASSES, WIDTH), "task/bias": trained(CLASSES)})
    pooled = torch.tanh(linear(parameters, "encoder/pooler", hidden(parameters, ids, segments)[:, 0]))
    logits = linear(parameters, "task", pooled)
    classify = finished(parameters, F.cross_entropy(logits, labels), {"logits": logits, "labels": labels})

    answers = torch.tensor([[3, 4], [0, 0]])
    allowed = torch.tensor([[True, False, False, True, True], [True, False, False, True, False]])
    parameters = embeddings()
    for end in ("start", "end"):
        parameters.update({f"task/{end}/weight": trained(1, WIDTH), f"task/{end}/bias": trained(1)})
    states = hidden(parameters, ids, segments)
    scores = [linear(parameters, "task/" + end, states).squeeze(2) for end in ("start", "end")]
    losses = [F.cross_entropy(scores[k].masked_fill(~allowed, -torch.inf), answers[:, k]) for k in range(2)]
    span = finished(parameters, sum(losses) / 2, {"scores": scores, "answers": answers})
    return {**common, "classify": classify, "span": span}


def adamw():
    """Each parameter learns at its own rate, as the layers of a model do; the gradients do not depend on them."""
    rates = {"top": 1.0, "middle": 0.8, "bottom": 0.64}
    start = {name: normal(2, 3) for name in rates}
    parameters = {name: value.clone().requires_grad_() for name, value in start.items()}
    options = {"learning_rate": 0.01, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.1}
    optimizer = torch.optim.AdamW(
        [{"params": [parameters[name]], "lr": options["learning_rate"] * rate} for name, rate in rates.items()],
        betas=(options["beta1"], options["beta2"]), eps=options["epsilon"], weight_decay=options["weight_decay"])
    steps = []
    for _ in range(8):
        gradients = {name: normal(2, 3) for name in rates}
        for name, gradient in gradients.items():
            parameters[name].grad = gradient
        optimizer.step()
        steps.append({"gradients": gradients, "after": {name: value.detach().clone() for name, value in parameters.items()}})
    return {"options": options, "rates": rates, "start": start, "steps": steps}


def recurrent(kind, bidirectional):
    """Two layers over two sequences of unequal lengths, and the gradients of a weighted sum of their hidden states."""
    inputs, width, layers, lengths = 3, 4, 2, [5, 3]
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[kind]
    module = getattr(torch.nn, kind)(inputs, width, layers, batch_first=True, bidirectional=bidirectional)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(normal(*parameter.shape))
        if kind != "GRU":  # one bias is enough
            for name, parameter in module.named_parameters():
                if name.startswith("bias_hh"):
                    parameter.zero_()
        else:  # of which the one inside the reset gate's product differs
            for name, parameter in module.named_parameters():
                if name.startswith("bias_hh"):
                    parameter[:2 * width] = 0
    x, dy = trained(2, 5, inputs), normal(2, 5, width * (1 + bidirectional))
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first=True)
    states, last = module(packed)
    states, _ = torch.nn.utils.rnn.pad_packed_sequence(states, batch_first=True)
    (states * dy).sum().backward()

    ours, gradients = {}, {}
    for layer in range(layers):
        for suffix, direction in (("", "forward"), ("_reverse", "backward"))[:1 + bidirectional]:
            for theirs, name in (("weight_ih", "input/weight"), ("weight_hh", "recurrent/weight"), ("bias_ih", "input/bias"),
                                 ("bias_hh", "recurrent/bias")):
                parameter = getattr(module, f"{theirs}_l{layer}{suffix}")
                part = slice((gates - 1) * width, None) if theirs == "bias_hh" else slice(None)
                if theirs == "bias_hh" and kind != "GRU":
                    continue
                ours[f"{layer}/{direction}/{name}"] = parameter.detach()[part]
                gradients[f"{layer}/{direction}/{name}"] = parameter.grad[part]
    hidden = last[0] if kind == "LSTM" else last
    return {"cell": {"RNN": "tanh"}.get(kind, kind.lower()), "bidirectional": bidirectional, "lengths": lengths, "x": x,
            "dy": dy, "dx": x.grad, "parameters": ours, "gradients": gradients, "states": states, "last_hidden": hidden,
            "last_cell": last[1] if kind == "LSTM" else hidden}


def transformer(norm_first, activation):
    """Two layers of encoder and decoder, and the gradients of a weighted sum of the decoder's states."""
    width, heads, inner, layers, lengths = 4, 2, 6, 2, [5, 3]
    options = {"dim_feedforward": inner, "dropout": 0.0, "activation": activation, "batch_first": True,
               "norm_first": norm_first}
    last = (lambda: torch.nn.LayerNorm(width)) if norm_first else (lambda: None)
    encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(width, heads, **options), layers, last(),
                                          enable_nested_tensor=False)
    decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(width, heads, **options), layers, last())
    with torch.no_grad():
        for parameter in list(encoder.parameters()) + list(decoder.parameters()):
            parameter.copy_(normal(*parameter.shape))
    source, target, dy = trained(2, 5, width), trained(2, 4, width), normal(2, 4, width)
    padding = torch.arange(5)[None, :] >= torch.tensor(lengths)[:, None]
    future = torch.full((4, 4), -torch.inf).triu(1)
    memory = encoder(source, src_key_padding_mask=padding)
    states = decoder(target, memory, tgt_mask=future, memory_key_padding_mask=padding)
    (states * dy).sum().backward()

    ours = {}
    norms = {"encoder": ("attention_norm", "feed_forward_norm"),
             "decoder": ("attention_norm", "cross_attention_norm", "feed_forward_norm")}
    for name, stack in (("encoder", encoder), ("decoder", decoder)):
        for i, layer in enumerate(stack.layers):
            block = f"{name}/{i}/"
            for theirs, path in (("self_attn", "attention"), ("multihead_attn", "cross_attention")):
                attention = getattr(layer, theirs, None)
                if attention is None:
                    continue
                for part, role in enumerate(("query", "key", "value")):
                    rows = slice(part * width, (part + 1) * width)
                    ours[f"{block}{path}/{role}/weight"] = attention.in_proj_weight[rows]
                    ours[f"{block}{path}/{role}/bias"] = attention.in_proj_bias[rows]
                ours[f"{block}{path}/output/weight"] = attention.out_proj.weight
                ours[f"{block}{path}/output/bias"] = attention.out_proj.bias
            for theirs, path in ((layer.linear1, "up"), (layer.linear2, "down")):
                ours[f"{block}feed_forward/{path}/weight"] = theirs.weight
                ours[f"{block}feed_forward/{path}/bias"] = theirs.bias
            for number, path in enumerate(norms[name]):
                norm = getattr(layer, f"norm{number + 1}")
                ours[f"{block}{path}/gain"], ours[f"{block}{path}/bias"] = norm.weight, norm.bias
        if norm_first:
            ours[f"{name}/norm/gain"], ours[f"{name}/norm/bias"] = stack.norm.weight, stack.norm.bias
    return {"block": "pre" if norm_first else "post", "activation": activation, "heads": heads, "inner": inner,
            "lengths": lengths, "parameters": ours, "source": source, "target": target, "states": states, "dy": dy,
            "memory": [memory[i, :length] for i, length in enumerate(lengths)],
            "dsource": [source.grad[i, :length] for i, length in enumerate(lengths)], "dtarget": target.grad}


def plain(value):
    if isinstance(value, torch.Tensor):
        return plain(value.tolist())
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


print(json.dumps(plain({"low_rank": low_rank(), "cross_entropy": cross_entropy(), "tasks": tasks(), "adamw": adamw(),
                        "recurrent": [recurrent(kind, both) for kind in ("RNN", "GRU", "LSTM") for both in (False, True)],
                        "transformers": [transformer(first, name) for first in (False, True) for name in ("relu", "gelu")]})))
