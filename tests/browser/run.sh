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

cat "$here"/../../README.md "$here"/../../*/README.md >text.txt
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
node "$here/attention_test.mjs" "$@" decoder.html translator.html strange.html damaged.html broken.html long.html two.html
pretrain -q --train text.txt -t bpe.h5 --layers 3 --heads 4 --width 64 --sequence-length 128 --steps 20 -o early.h5
inspect attention early.h5,decoder.h5 'A query attends to a key.' -o models.html
inspect attention decoder.h5 'A query attends to a key.' --beside '</script> The key, then.' -o texts.html
node "$here/beside_test.mjs" "$@" models.html texts.html

inspect tokens bpe.h5 "$sentence" -o tokens.html
inspect surprise decoder.h5 "$sentence" -o surprise.html
tail -n 2 pairs.tsv | inspect surprise translator.h5 -o pairs.html
node "$here/tokens_test.mjs" "$@" tokens.html surprise.html pairs.html
tail -n 2 pairs.tsv | inspect align translator.h5 -o align.html
node "$here/align_test.mjs" "$@" align.html

{
  echo label,text
  for i in {1..60}; do
    ((i % 2)) && echo "good,a splendid film number $i" || echo "<b>bad,a dreadful <i>film number $i"
  done
  echo 'good,a dreadful <i>film number 4'
} >films.csv
finetune -q --ensemble auto:report=decision.html --train films.csv -o films.h5
node "$here/decision_test.mjs" "$@" decision.html
inspect explain films.h5 'a splendid film, a dreadful </script> scene' --class all -o explain.html
head -n 2 pairs.tsv | inspect explain translator.h5 -o translation.html
node "$here/explain_test.mjs" "$@" explain.html translation.html

for seed in 1 2; do
  pretrain -q --train text.txt -t bpe.h5 --valid text.txt --layers 1 --heads 2 --width 32 --sequence-length 32 \
    --steps 40 --eval-every 10 --log-every 2 --seed "$seed" -o "run$seed.h5"
done
inspect history run1.h5 -o run.html
inspect history run1.h5 run2.h5 -o runs.html
pretrain -q --train text.txt -t bpe.h5 --valid text.txt --layers 1 --heads 2 --width 48 --sequence-length 32 \
  --steps 40 --eval-every 10 --log-every 2 --seed 1 -o wide.h5
inspect history run1.h5 run2.h5 wide.h5 -o widths.html
node "$here/history_test.mjs" "$@" run.html runs.html widths.html

grep -m 40 -n ' the ' text.txt | awk -F: '{ print ($1 % 2 ? "odd" : "even") "\t1\tin the " $1 }' >senses.tsv
cut -f 2- senses.tsv | tail -n 10 >asked.tsv
inspect neighbours decoder.h5 ' the' ' model' --top 20 -o neighbours.html
inspect senses -q decoder.h5 senses.tsv asked.tsv -o senses.html
node "$here/map_test.mjs" "$@" neighbours.html senses.html

# Thirty rings of six nodes, half of them broken.
mkdir rings
for i in {0..29}; do
  echo $((i % 2)) >>rings/rings_graph_labels.txt
  for j in {0..5}; do
    echo $((i + 1)) >>rings/rings_graph_indicator.txt
    echo $(((i + j) % 3)) >>rings/rings_node_labels.txt
    ((j == 3 && i % 2 == 0)) || printf '%s\n' "$((6 * i + j + 1)), $((6 * i + (j + 1) % 6 + 1))" >>rings/edges
  done
done
awk -F', ' '{ print $0; print $2 ", " $1 }' rings/edges >rings/rings_A.txt
rm rings/edges
convert -q rings -o rings.h5
for arch in gat graph-transformer; do
  finetune -q --arch "$arch:layers=2,width=8,heads=2" --train rings.h5 --epochs 5 -o "$arch.h5"
  inspect attention "$arch.h5" rings.h5 --graph 3 -o "$arch.html"
done
inspect attention gat.h5 rings.h5 --graph 3 --of answer -o answer.html
node "$here/graph_test.mjs" "$@" gat.html graph-transformer.html answer.html
