"""The encoder-decoder of Vaswani et al. 2017 under the names of BART's and Marian's files."""
import math

import torch
from torch.nn import functional as F

import sequences

ACTIVATIONS = {"gelu": F.gelu, "relu": F.relu, "swish": F.silu}


def weights(a, vocab, learned_positions, embedding_norm, source_vocab=None):
    w = sequences.Weights(a.seed, a.stddev, a.gain)

    def add_norm(name):
        w.add(name + ".weight", a.width, mean=1.0)
        w.add(name + ".bias", a.width)

    if source_vocab is None:
        w.add("model.shared.weight", vocab, a.width)
    else:
        w.add("model.encoder.embed_tokens.weight", source_vocab, a.width)
        w.add("model.decoder.embed_tokens.weight", vocab, a.width)
    for stack, layers in (("encoder", a.layers), ("decoder", a.decoder_layers)):
        if learned_positions:
            w.add(f"model.{stack}.embed_positions.weight", learned_positions, a.width)
        if embedding_norm:
            add_norm(f"model.{stack}.layernorm_embedding")
        for i in range(layers):
            layer = f"model.{stack}.layers.{i}."
            for kind in ("self_attn", "encoder_attn") if stack == "decoder" else ("self_attn",):
                for part in ("k_proj", "v_proj", "q_proj", "out_proj"):
                    w.add_linear(f"{layer}{kind}.{part}", a.width, a.width)
                add_norm(f"{layer}{kind}_layer_norm")
            w.add_linear(layer + "fc1", a.width, a.inner)
            w.add_linear(layer + "fc2", a.inner, a.width)
            add_norm(layer + "final_layer_norm")
    return w


def config(a, vocab):
    both = {"encoder": a.layers, "decoder": a.decoder_layers}
    fields = {"vocab_size": vocab, "d_model": a.width, "max_position_embeddings": a.context, "dropout": 0.1,
              "attention_dropout": 0.0, "activation_dropout": 0.0, "init_std": 0.02, "is_encoder_decoder": True,
              "use_cache": True, "num_hidden_layers": a.layers}
    for stack, layers in both.items():
        fields |= {f"{stack}_layers": layers, f"{stack}_attention_heads": a.heads, f"{stack}_ffn_dim": a.inner,
                   f"{stack}_layerdrop": 0.0}
    return fields


class Model:
    def __init__(self, a, w, scaled, activation):
        self.a, self.w, self.activation = a, w, ACTIVATIONS[activation]
        self.scale = math.sqrt(a.width) if scaled else 1.0

    def __call__(self, source, target):
        x = self.run("decoder", self.a.decoder_layers, target, self.run("encoder", self.a.layers, source))
        bias = self.w.get("final_logits_bias")
        logits = x @ self.tokens("decoder").T
        return logits if bias is None else logits + bias[0]

    def tokens(self, stack):
        return self.w["model.shared.weight" if "model.shared.weight" in self.w else f"model.{stack}.embed_tokens.weight"]

    def positions(self, stack, time):
        """Learned, from row 2 on; else all sines, then all cosines."""
        table = self.w.get(f"model.{stack}.embed_positions.weight")
        if table is not None:
            return table[2:2 + time]
        half = (self.a.width + 1) // 2
        rows = torch.zeros(time, self.a.width, dtype=torch.float64)
        for t in range(time):
            for i in range(self.a.width):
                angle = t / 10000 ** (2 * (i // 2) / self.a.width)
                rows[t, i // 2 + (half if i % 2 else 0)] = math.cos(angle) if i % 2 else math.sin(angle)
        return rows

    def norm(self, x, name):
        return F.layer_norm(x, (self.a.width,), self.w[name + ".weight"], self.w[name + ".bias"], 1e-5)

    def linear(self, x, name):
        return F.linear(x, self.w[name + ".weight"], self.w[name + ".bias"])

    def attend(self, x, states, name, mask):
        heads, width = self.a.heads, self.a.width // self.a.heads
        q, k, v = (self.linear(t, f"{name}.{part}_proj").view(len(t), heads, width).transpose(0, 1)
                   for part, t in zip("qkv", (x, states, states)))
        mixed = (q @ k.transpose(1, 2) / math.sqrt(width) + mask).softmax(-1) @ v
        return self.linear(mixed.transpose(0, 1).reshape(len(x), -1), name + ".out_proj")

    def run(self, stack, layers, ids, states=None):
        x = self.scale * self.tokens(stack)[torch.tensor(ids)] + self.positions(stack, len(ids))
        if f"model.{stack}.layernorm_embedding.weight" in self.w:
            x = self.norm(x, f"model.{stack}.layernorm_embedding")
        hidden = torch.full((len(ids), len(ids)), float("-inf"), dtype=torch.float64).triu(1)
        mask = hidden if stack == "decoder" else 0
        for i in range(layers):
            layer = f"model.{stack}.layers.{i}."
            x = self.norm(x + self.attend(x, x, layer + "self_attn", mask), layer + "self_attn_layer_norm")
            if stack == "decoder":
                x = self.norm(x + self.attend(x, states, layer + "encoder_attn", 0), layer + "encoder_attn_layer_norm")
            inner = self.activation(self.linear(x, layer + "fc1"))
            x = self.norm(x + self.linear(inner, layer + "fc2"), layer + "final_layer_norm")
        return x
