#!/usr/bin/env python3
"""Marian in plain PyTorch: a directory as Hugging Face has it, with random weights, and what they compute.

    marian.py DIRECTORY [--unscaled] [--spm unigram|bpe] [--separate] [--activation NAME] [--layers N ...]

writes config.json, model.safetensors, tokenizer.json and expected.json: log-likelihoods of pairs, greedy and beam-4 tokens.
--spm writes source.spm, target.spm and vocab.json for tokenizer.json, as OPUS-MT's directories have them (opus.py), and
--separate also target_vocab.json and embeddings of their own. Source: Junczys-Dowmunt et al. 2018, "Marian"; Vaswani et al.
2017; the names and fields of the published files. Needs PyTorch; made with 1.13.
"""
import opus
import post_norm
import sequences

a = sequences.arguments(__doc__, unscaled=(False, "embeddings as they are"), spm=("", "unigram or bpe"),
                        separate=(False, "source and target have vocabularies of their own"),
                        activation=("swish", "swish, relu or gelu"))
tokenizer = opus.Opus(a.spm, a.separate) if a.spm else sequences.Unigram(["</s>", "<unk>"], ["<pad>"])
vocab, pad = len(tokenizer.pieces), len(tokenizer.pieces) - 1
source_vocab = len(tokenizer.vocabularies[0]) if a.separate else None
w = post_norm.weights(a, vocab, learned_positions=0, embedding_norm=False, source_vocab=source_vocab)
w.add("final_logits_bias", 1, vocab)
config = {"model_type": "marian", "architectures": ["MarianMTModel"], **post_norm.config(a, source_vocab or vocab),
          "activation_function": a.activation, "scale_embedding": not a.unscaled, "static_position_embeddings": True,
          "share_encoder_decoder_embeddings": not a.separate, "normalize_before": False, "add_final_layer_norm": False,
          "normalize_embedding": False, "decoder_vocab_size": vocab, "bad_words_ids": [[pad]], "bos_token_id": 0,
          "eos_token_id": 0, "forced_eos_token_id": 0, "pad_token_id": pad, "decoder_start_token_id": pad}
model = post_norm.Model(a, w.double(), scaled=not a.unscaled, activation=a.activation)
texts = (opus.SOURCES, opus.TARGETS) if a.spm else (sequences.SOURCES, sequences.TARGETS)
sequences.save(a, config, w, tokenizer, model, ([], 0, pad), texts=texts)
