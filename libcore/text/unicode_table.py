#!/usr/bin/env python3
"""Writes unicode_table.cpp: unicode_table.py UnicodeData.txt PropList.txt VERSION > unicode_table.cpp

The inputs are files of the Unicode character database (Debian package unicode-data, /usr/share/unicode).
"""
import sys

OTHER, LETTER, NUMBER, SPACE = range(4)
# In the order of code_points.cpp.
CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co".split()
BLOCK = 256  # code points a block; a 64-bit word holds the classes of 32


def read_categories(unicode_data):
    categories = ["Cn"] * 0x110000
    first = None
    for line in open(unicode_data, encoding="ascii"):
        code, name, category = line.split(";")[:3]
        code = int(code, 16)
        if name.endswith("First>"):
            first = code
            continue
        start = first if name.endswith("Last>") else code
        for point in range(start, code + 1):
            categories[point] = category
    return categories


def classes_of(categories, prop_list):
    by_category = {"L": LETTER, "N": NUMBER}
    classes = [by_category.get(category[0], OTHER) for category in categories]
    for line in open(prop_list, encoding="utf-8"):
        fields = line.split("#")[0].split(";")
        if len(fields) == 2 and fields[1].strip() == "White_Space":
            ends = [int(end, 16) for end in fields[0].strip().split("..")]
            for point in range(ends[0], ends[-1] + 1):
                classes[point] = SPACE
    return classes


def two_stages(classes):
    while classes[-BLOCK:] == [OTHER] * BLOCK:
        del classes[-BLOCK:]
    blocks, stage = {}, []
    for start in range(0, len(classes), BLOCK):
        stage.append(blocks.setdefault(tuple(classes[start : start + BLOCK]), len(blocks)))
    words = []
    for block in blocks:
        for start in range(0, BLOCK, 32):
            words.append(sum(kind << 2 * i for i, kind in enumerate(block[start : start + 32])))
    return stage, words


def category_ranges(categories):
    """The first code point of each range of one category, times 32, and the number of the category."""
    return [
        point << 5 | CATEGORIES.index(category)
        for point, category in enumerate(categories)
        if point == 0 or category != categories[point - 1]
    ]


def lines(items, width):
    items = list(items)
    return "\n".join("    " + ", ".join(items[i : i + width]) + "," for i in range(0, len(items), width))


def main():
    unicode_data, prop_list, version = sys.argv[1:]
    categories = read_categories(unicode_data)
    stage, words = two_stages(classes_of(categories, prop_list))
    ranges = category_ranges(categories)
    print(f"""// Made by unicode_table.py from UnicodeData.txt and PropList.txt of Unicode {version}; do not edit.
#include "libcore/text/unicode.hpp"

namespace heddle::text::detail {{

// clang-format off
const char32_t unicode_table_end = {len(stage) * BLOCK:#x};

const std::uint8_t unicode_blocks[] = {{
{lines(map(str, stage), 24)}
}};

const std::uint64_t unicode_classes[] = {{
{lines((f"{word:#x}" for word in words), 5)}
}};

const std::size_t category_range_count = {len(ranges)};
const std::uint32_t category_ranges[] = {{
{lines((f"{start:#x}" for start in ranges), 11)}
}};
// clang-format on

}}  // namespace heddle::text::detail""")


if __name__ == "__main__":
    main()
