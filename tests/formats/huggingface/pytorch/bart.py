#!/usr/bin/env python3
"""BART in plain PyTorch: a directory as Hugging Face has it, with random weights, and what they compute.

    bart.py DIRECTORY [--scaled] [--bias] [--parts] [--activation NAME] [--layers N ...]

writes config.json, model.safetensors, tokenizer.json and expected.json: log-likelihoods of pairs, greedy and beam-4 tokens.
--scaled multiplies embeddings by sqrt(width), --bias adds a bias to the logits, and --parts writes vocab.json and
merges.txt for tokenizer.json. Source: Lewis et al. 2020, section 2.1; the names and fields of the published files. Needs
PyTorch; made with 1.13.
"""
import post_norm
import sequences

a = sequences.arguments(__doc__, scaled=(False, "scale_embedding"), bias=(False, "final_logits_bias"),
                        parts=(False, "vocab.json and merges.txt"), activation=("gelu", "gelu or relu"))
tokenizer = sequences.ByteLevel()
vocab = a.vocab or len(tokenizer.pieces) + 2
w = post_norm.weights(a, vocab, learned_positions=a.context + 2, embedding_norm=True)
if a.bias:
    w.add("final_logits_bias", 1, vocab)
config = {"model_type": "bart", "architectures": ["BartForConditionalGeneration"], **post_norm.config(a, vocab),
          "activation_function": a.activation, "scale_embedding": a.scaled, "bos_token_id": 0, "pad_token_id": 1,
          "eos_token_id": 2, "decoder_start_token_id": 2, "forced_eos_token_id": 2, "normalize_before": False,
          "add_final_layer_norm": False, "normalize_embedding": True}
model = post_norm.Model(a, w.double(), scaled=a.scaled, activation=a.activation)
sequences.save(a, config, w, tokenizer, model, ([0], 2, 2), tokenizer.save_parts if a.parts else None)
