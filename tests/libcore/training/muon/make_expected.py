#!/usr/bin/env python3
"""Muon's update in float64 by NumPy, from the equations of libcore/training/muon.cpp: prints muon/expected.json.

Weights and gradients are sines, so that both sides make the same ones. `python3 make_expected.py > expected.json`
"""
import json

import numpy as np

RATE, MOMENTUM, DECAY, OTHERS, SCALE = 0.02, 0.95, 0.1, 0.15, 0.5
BETA1, BETA2, EPSILON = 0.9, 0.95, 1e-8
STEPS = 3


def values(shape, seed):
    return np.sin(1.7 * np.arange(np.prod(shape), dtype=np.float64) + seed).reshape(shape)


def orthogonal(u):
    x = u / (np.linalg.norm(u) + 1e-7)
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.T if tall else x


def muon(shape, seed):
    w, m = values(shape, seed), np.zeros(shape)
    for step in range(STEPS):
        g = SCALE * values(shape, seed + 10 * (step + 1))
        m = MOMENTUM * m + g
        w = w - RATE * (np.sqrt(max(1, shape[0] / shape[1])) * orthogonal(g + MOMENTUM * m) + DECAY * w)
    return w.ravel().tolist()


def adamw(shape, seed, decay):
    w, m, v = values(shape, seed), np.zeros(shape), np.zeros(shape)
    for step in range(STEPS):
        g = SCALE * values(shape, seed + 10 * (step + 1))
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
        mean, root = m / (1 - BETA1 ** (step + 1)), np.sqrt(v / (1 - BETA2 ** (step + 1)))
        w = w - RATE * OTHERS * (mean / (root + EPSILON) + decay * w)
    return w.ravel().tolist()


print(json.dumps({
    "wide": muon((3, 5), 1), "tall": muon((6, 2), 2), "square": muon((4, 4), 3),
    "embedding": adamw((4, 3), 4, DECAY), "bias": adamw((5,), 5, 0),
}, indent=1))
