"""The tokenizers of published OPUS directories: SentencePiece's models of source and target, made here by spm_train, and
ids in vocab.json. Pieces and ids of texts are what spm_encode and a look-up in vocab.json give. Needs both programs in PATH;
made with SentencePiece 0.1.97.
"""
import json
import os
import subprocess
import tempfile

SOURCES = [">>deu<< the caf\u00e9 and the cat sat in  the water", "a dog, \ufb01ne hens\u00a0and a goat f\u00fcr \u65e5\u672c all day",
           "we sing \u2581 and sing"]
TARGETS = ["Eine Katze war da.", "die Ziege f\u00e4hrt \u00fcber Br\u00fccken", "singt, sagten wir, und dann sangen wir \u4e2d das andere"]
# Characters replaced: a tab, a space that does not break, U+2581, and a ligature.
RULES = "9\t20\nA0\t20\n2581\t20\nFB01\t66 69\n"
MISSING = "\u2581in"  # a piece that vocab.json lacks


class Opus:
    def __init__(self, kind, separate):
        self.folder = tempfile.TemporaryDirectory()
        texts = {"source": "the cat sat in the water a dog hens and a goat all day we sing fine caf\u00e9 singing days in waters",
                 "target": " ".join(TARGETS[:2]) + " " + TARGETS[2].replace("\u4e2d", "") + " Katzen Ziegen Br\u00fccke"}
        for side, text in texts.items():
            with open(self.path("text"), "w") as out:
                out.write("\n".join([text, *text.split()] * 20))
            with open(self.path("rules"), "w") as out:
                out.write(RULES)
            self.call("spm_train", "--input=text", "--model_prefix=" + side, "--model_type=" + kind,
                      "--vocab_size=60", "--hard_vocab_limit=false", "--normalization_rule_tsv=rules",
                      "--minloglevel=2")
        self.vocabularies = [self.vocabulary(*sides) for sides in ([["source"], ["target"]] if separate
                                                                   else [["source", "target"]])]
        self.pieces = list(self.vocabularies[-1])

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def call(self, *command, text=""):
        return subprocess.run(command, cwd=self.folder.name, input=text, capture_output=True, text=True, check=True).stdout

    def vocabulary(self, *sides):
        pieces = ["</s>", "<unk>"]
        for side in sides:
            lines = open(self.path(side + ".vocab")).read().splitlines()
            pieces += [piece for piece in (line.split("\t")[0] for line in lines)
                       if piece not in pieces and piece != MISSING and not piece.startswith("<")]
        return {piece: number for number, piece in enumerate(pieces + [">>deu<<", "<pad>"])}

    def ids(self, side, text):
        ids = self.vocabularies[0 if side == "source" else -1]
        code = [part for part in text.split(" ")[:1] if part.startswith(">>")]
        rest = text[len(code[0]):] if code else text
        pieces = self.call("spm_encode", "--model=" + side + ".model", text=rest + "\n").split()
        return [ids.get(piece, ids["<unk>"]) for piece in code + pieces]

    def encode_source(self, text):
        return self.ids("source", text)

    def encode(self, text):
        return self.ids("target", text)

    def save(self, directory):
        for side in ("source", "target"):
            with open(self.path(side + ".model"), "rb") as model, open(f"{directory}/{side}.spm", "wb") as out:
                out.write(model.read())
        for name, ids in zip(("vocab.json", "target_vocab.json"), self.vocabularies):
            json.dump(ids, open(f"{directory}/{name}", "w"), ensure_ascii=False)
        separate = len(self.vocabularies) > 1
        json.dump({"source_lang": "eng", "target_lang": "deu", "separate_vocabs": separate},
                  open(f"{directory}/tokenizer_config.json", "w"))
