#!/bin/sh
# From a fresh system to a language model of your own text, in minutes on two cores:
#
#     ./examples/quickstart.sh [TEXT]
#
# installs the packages that heddle needs (Debian, Ubuntu), builds it, trains a tokenizer and a small GPT on TEXT, draws
# the loss and generates text. TEXT is by default the King James Bible, which Debian packages. Everything made is in
# build/quickstart; the model is build/quickstart/model.h5.
set -eu
text=${1:-}
[ -z "$text" ] || [ -r "$text" ] || { echo "quickstart.sh: $text: cannot be read" >&2; exit 1; }
[ -z "$text" ] || text=$(realpath "$text")
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*" >&2; }

say "Installing packages"
if [ -z "$text" ]; then
  ./cmake/install-dependencies.sh bible-kjv
else
  ./cmake/install-dependencies.sh
fi

say "Building"
cmake -S . -B build/release -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build/release --parallel "$(nproc)" --target tokenize pretrain generate inspect | grep -v '^\[' || true
PATH=$PWD/build/release/bin:$PATH
mkdir -p build/quickstart
if [ -z "$text" ]; then
  text=build/quickstart/bible.txt
  bible -f gen1:1-rev22:21 | sed 's/^[^ ]* //' >"$text"
fi
# The last tenth of the lines is for validation.
lines=$(wc -l <"$text")
head -n "$((lines * 9 / 10))" "$text" >build/quickstart/train.txt
tail -n "+$((lines * 9 / 10 + 1))" "$text" >build/quickstart/valid.txt
cd build/quickstart

say "Training a tokenizer and encoding the text"
tokenize --train --vocab-size 2000 -o tokenizer.h5 train.txt
tokenize -t tokenizer.h5 -o train.h5 train.txt
tokenize -t tokenizer.h5 -o valid.h5 valid.txt

say "Training the model"
pretrain --preset nano --context 128 --train train.h5 --valid valid.h5 -o model.h5 \
  --steps 600 --eval-every 150 --eval-tokens 32768

say "The loss"
inspect history model.h5

say "The model writes"
for prompt in "And God said" "The LORD" "In the beginning"; do
  generate model.h5 -p "$prompt" --max-tokens 60 --temperature 0.8 --top-k 50
  echo
done
say "The model is build/quickstart/model.h5; try: build/release/bin/generate build/quickstart/model.h5 -p 'And'"
