#!/usr/bin/env python3
"""What another engine of regular expressions, the package `regex`, takes characters and pre-tokens for.

    make_expected.py DerivedAge.txt FOLDER

writes classes.txt and pretokens.txt. DerivedAge.txt is that of Unicode 15.0.0 (Debian's unicode-data): characters that
came later are in neither file. Made with regex 2026.5.9.
"""
import random
import sys

import regex

PRETOKENS = regex.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")
CLASSES = {"L": regex.compile(r"\p{L}"), "N": regex.compile(r"\p{N}"), "S": regex.compile(r"\s")}
PARTS = [" ", " ", " ", "\n", "\t", "\r\n", "\v", "\f", "\x1c", "'", "'", "s", "t", "re", "ve", "ll", "m", "d", "'S",
         "Word", "12", "3", "-", ".", "!?", "_", "\x00", "\x85", "\xa0", "\u1680", "\u180e", "\u2009", "\u200b",
         "\u2028", "\u202f", "\u3000", "\ufeff", "\xe9", "e\u0301", "\xaa", "\xb2", "\xbd", "\u0663", "\u2167",
         "\u3007", "\u4e2d\u6587", "\ud55c", "\u0915\u093e", "\u2019s", "\U0001d7d8", "\U0001f600", "\U00020000",
         "\ufffd"]


def assigned(path):
    """A flag for each code point; surrogates, which no text has, are not among them."""
    flags = bytearray(0x110000)
    for line in open(path, encoding="utf-8"):
        fields = line.split("#")[0].split(";")
        if len(fields) == 2:
            ends = [int(end, 16) for end in fields[0].strip().split("..")]
            flags[ends[0] : ends[-1] + 1] = b"\x01" * (ends[-1] + 1 - ends[0])
    flags[0xD800:0xE000] = bytes(0x800)
    return flags


def class_of(code):
    return next((name for name, pattern in CLASSES.items() if pattern.match(chr(code))), "O")


def runs(flags):
    """(class, first, last) for each run of assigned characters of one class."""
    classes = [class_of(code) if flags[code] else None for code in range(0x110000)] + [None]
    first = 0
    for code in range(1, 0x110001):
        if classes[code] != classes[first]:
            if classes[first]:
                yield classes[first], first, code - 1
            first = code


def write_classes(path, flags):
    """The runs of each class, in lines that begin with its letter: letters, numbers, spaces and others."""
    texts = {}
    for name, first, last in runs(flags):
        texts.setdefault(name, []).append(f"{first:X}" if first == last else f"{first:X}-{last:X}")
    with open(path, "w", encoding="ascii") as file:
        for name, items in texts.items():
            for start in range(0, len(items), 10):
                print(name, *items[start : start + 10], file=file)


def write_pretokens(path):
    """One text per line: its pre-tokens in hexadecimal UTF-8."""
    draw = random.Random(1)
    with open(path, "w", encoding="ascii") as file:
        for count in range(3, 63):
            text = "".join(draw.choice(PARTS) for _ in range(count // 2))
            print(*(token.encode("utf-8").hex() for token in PRETOKENS.findall(text)), file=file)


if __name__ == "__main__":
    write_classes(sys.argv[2] + "/classes.txt", assigned(sys.argv[1]))
    write_pretokens(sys.argv[2] + "/pretokens.txt")
