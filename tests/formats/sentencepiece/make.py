#!/usr/bin/env python3
"""Small models of SentencePiece and the ids that it gives to texts: make.py, with spm_train and spm_encode in PATH.

Writes NAME.model and golden.json beside this file: for each model, pairs of a text and its ids. heddle has no part in it. Made
with SentencePiece 0.1.97.
"""
import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = [text for text in json.load(open(HERE + "/../goldens/texts.json"))["any"] if "\n" not in text and "<s>" not in text]
TEXTS += ["", " ", "  two  spaces  ", "\u2581a mark \u2581\u2581 and\u2581marks\u2581 ", "tab\tand\u3000wide\u2003space\r",
          "\u4e2d\u56fd \u4e2d\u56fd\u8a9e", "<x>user <x><y> defined<x>", "\ufb01ne \u0001control\u0001 \u00a0", "aaaaaaa sss ssss"]
# A tab, spaces and U+2581 become spaces, a control character nothing, a ligature two letters, two characters one.
RULES = "9\t20\nA0\t20\n3000\t20\n2581\t20\n1\t\nFB01\t66 69\n65 301\tE9\n"
MODELS = {
    "unigram": ["--normalization_rule_tsv=rules"],
    "unigram-plain": ["--normalization_rule_name=identity", "--character_coverage=0.98"],
    "unigram-bytes": ["--byte_fallback", "--normalization_rule_tsv=rules", "--character_coverage=0.98", "--vocab_size=500",
                      "--pad_id=0", "--eos_id=1", "--unk_id=2", "--bos_id=-1"],
    "unigram-user": ["--normalization_rule_name=identity", "--user_defined_symbols=<x>,\u2581<y>", "--control_symbols=<c>"],
    "bpe": ["--model_type=bpe", "--normalization_rule_tsv=rules"],
    "bpe-plain": ["--model_type=bpe", "--normalization_rule_name=identity", "--character_coverage=0.98"],
    "bpe-bytes": ["--model_type=bpe", "--normalization_rule_name=identity", "--byte_fallback", "--character_coverage=0.98",
                  "--remove_extra_whitespaces=false", "--allow_whitespace_only_pieces", "--vocab_size=500"],
    "bpe-bare": ["--model_type=bpe", "--normalization_rule_name=identity", "--remove_extra_whitespaces=false",
                 "--add_dummy_prefix=false"],
}
golden = {}
with tempfile.TemporaryDirectory() as folder:
    open(folder + "/rules", "w").write(RULES)
    open(folder + "/texts", "w").write("\n".join(text for text in TEXTS if text.strip()) + "\n")
    for name, options in MODELS.items():
        command = ["spm_train", "--input=texts", "--model_prefix=m", "--vocab_size=330", "--minloglevel=2",
                   "--hard_vocab_limit=false"]
        subprocess.run(command + options, cwd=folder, check=True)  # files have the names of their inputs
        os.replace(folder + "/m.model", f"{HERE}/{name}.model")
        encode = ["spm_encode", f"--model={HERE}/{name}.model", "--output_format=id"]
        lines = subprocess.run(encode, input="\n".join(TEXTS) + "\n", capture_output=True, text=True, check=True).stdout
        ids = [[int(number) for number in line.split()] for line in lines.split("\n")[:-1]]
        assert len(ids) == len(TEXTS)
        golden[name] = list(zip(TEXTS, ids))
json.dump(golden, open(HERE + "/golden.json", "w"), ensure_ascii=False, indent=0)
