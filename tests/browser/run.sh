#!/usr/bin/env bash
# Pages that the tools write, tested in a headless Chromium.
#
#   run.sh FOLDER_OF_TOOLS [--screenshots FOLDER]   tests pages of small models that it trains
#   run.sh FOLDER_OF_TOOLS --measure                prints how long pages of two sizes take to open
#
# Needs chromium, Node.js, and once `npm ci` in this folder; without them it says what is missing and exits with 77.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
tools=$(realpath "$1")
shift
skip() {
  echo "skipped: $*"
  exit 77
}
export CHROMIUM=${CHROMIUM:-$(command -v chromium || true)}
[[ -n $CHROMIUM ]] || skip "no chromium"
command -v node >/dev/null || skip "no node"
[[ -d $here/node_modules ]] || skip "no node_modules in tests/browser; npm ci installs them"
[[ ${1:-} != --screenshots ]] || set -- --screenshots "$(realpath -m "$2")"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export PATH=$tools:$PATH OMP_NUM_THREADS=2

cp "$here/../../README.md" text.txt
for i in {1..400}; do
  letters=$(printf '%s ' "$(tr 0-9 a-j <<<"$i" | sed 's/./& /g')" | sed 's/ *$//')
  printf '%s\t%s\n' "$letters" "$(rev <<<"$letters")"
done >pairs.tsv

tokenize -q --train --vocab-size 600 -o bpe.h5 text.txt
tokenize -q --train --model word -o words.h5 pairs.tsv
tokenize -q -t words.h5 --pairs -o pairs.h5 pairs.tsv
pretrain -q --train text.txt -t bpe.h5 --layers 3 --heads 4 --width 64 --sequence-length 128 --steps 60 -o decoder.h5
pretrain -q --train pairs.h5 --arch encoder-decoder --layers 2 --heads 2 --width 32 --steps 60 -o translator.h5

sentence='Each head attends to the tokens that it needs: </script>, <img onerror=…>, 注意, مرحبا.'
inspect attention decoder.h5 "$sentence" -o decoder.html
if [[ ${1:-} == --measure ]]; then
  node "$here/made_pages.mjs" decoder.html . --large
  exec node "$here/attention_test.mjs" --measure 12x12x128.html 24x16x512.html
fi
inspect attention translator.h5 'a b c d' 'd c b a' -o translator.html
node "$here/made_pages.mjs" decoder.html .
node "$here/attention_test.mjs" "$@" decoder.html translator.html strange.html damaged.html broken.html long.html

inspect tokens bpe.h5 "$sentence" -o tokens.html
inspect surprise decoder.h5 "$sentence" -o surprise.html
tail -n 2 pairs.tsv | inspect surprise translator.h5 -o pairs.html
node "$here/tokens_test.mjs" "$@" tokens.html surprise.html pairs.html

for seed in 1 2; do
  pretrain -q --train text.txt -t bpe.h5 --valid text.txt --layers 1 --heads 2 --width 32 --sequence-length 32 \
    --steps 40 --eval-every 10 --log-every 2 --seed "$seed" -o "run$seed.h5"
done
inspect history run1.h5 -o run.html
inspect history run1.h5 run2.h5 -o runs.html
node "$here/history_test.mjs" "$@" run.html runs.html

grep -m 40 -n ' the ' text.txt | awk -F: '{ print ($1 % 2 ? "odd" : "even") "\t1\tin the " $1 }' >senses.tsv
cut -f 2- senses.tsv | tail -n 10 >asked.tsv
inspect neighbours decoder.h5 ' the' ' model' --top 20 -o neighbours.html
inspect senses -q decoder.h5 senses.tsv asked.tsv -o senses.html
node "$here/map_test.mjs" "$@" neighbours.html senses.html
