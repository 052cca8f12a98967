#!/bin/bash
# Examples of fine-tuning from end to end, on a few made-up sentences: each prints its table and draws its picture, and
# writes nothing outside of its folder.
#
#     examples_test.sh FOLDER_OF_TOOLS FOLDER_OF_EXAMPLES
set -eu
bin=$1 examples=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
  echo "examples_test.sh: $1" >&2
  exit 1
}

awk 'BEGIN {
  split("film story cast plot scene", things); split("good fine warm sweet", good); split("bad dull cold flat", bad)
  for (i = 0; i < 120; ++i) {
    label = i % 2
    word = label ? good[1 + i % 4] : bad[1 + int(i / 3) % 4]
    printf "%d the %s is %s and so it goes\n", label, things[1 + i % 5], word
  }
}' > stsa.binary.train
cp stsa.binary.train rt-polarity.all
head -n 40 stsa.binary.train | tee stsa.binary.dev > stsa.binary.test
gzip stsa.binary.dev
sed 's/^0 /ham\t/; s/^1 /spam\t/' stsa.binary.train > sms.txt
cut -c 3- stsa.binary.train > text.txt
"$bin/tokenize" -q --train --model wordpiece --vocab-size 74 -o pieces.h5 text.txt
"$bin/tokenize" -q -t pieces.h5 -o tokens.h5 text.txt
"$bin/pretrain" -q --train tokens.h5 -o encoder.h5 --arch encoder --layers 1 --width 16 --heads 2 --context 32 --steps 2 \
  --batch-size 2

# run NAME VARIABLES... : what the example prints, which must hold these lines, tells of its mean where it has one
run() {
  local name=$1
  shift
  mkdir -p elsewhere
  (cd elsewhere && make -s -f "$examples/$name/Makefile" BIN="$bin" OUT="$work/out" ENCODER="$work/encoder.h5" \
    PRECISION=f32 "$@") > table.txt 2> log.txt || { cat log.txt >&2; fail "$name fails"; }
  [ -z "$(ls elsewhere)" ] || fail "$name writes where it was called: $(ls elsewhere)"
}
says() { grep -Eq "$1" table.txt || { cat table.txt >&2; fail "the table has no line like $1"; }; }
# Models, and nothing that training keeps until it is finished.
finished() {
  local left
  left=$(find out -name '.*' -o -name '*.checkpoint.h5' -o -name '*.best-*.h5')
  [ -z "$left" ] || fail "training left $left"
}
# refuses MESSAGE NAME VARIABLES... : the example has this error, and makes nothing
refuses() {
  local message=$1
  shift
  (run "$@") 2> refused.txt && fail "$1 accepts ${*:2}"
  grep -Fq "$message" refused.txt || { cat refused.txt >&2; fail "$1 does not report $message"; }
  [ ! -e out ] || fail "$1 makes something without its data"
}
picture() { [ -s "$1" ] || fail "there is no $1"; rm -rf out; }

refuses 'DATA=wrong has no stsa.binary.train' sentiment DATA=wrong
refuses 'ENCODER=none.h5 is not there' sentiment DATA="$work" ENCODER=none.h5
refuses 'TEXT=none.txt is not there' sentiment DATA="$work" ENCODER="$work/out/encoder.h5" TEXT=none.txt
refuses 'DATA=wrong has no train.de' translation DATA=wrong
refuses 'SMS=none is not there' spam SMS=none
run sentiment DATA="$work" SEEDS='1 2'
says '^seed 2: accuracy [01]\.[0-9]+$'
says '^mean [01]\.[0-9]+, standard deviation 0\.[0-9]+$'
finished
picture out/history.svg
for way in whole adapter; do
  run spam SMS="$work/sms.txt" SEEDS=1 WAY=$way
  says '^seed 1: matthews -?[01]\.[0-9]+$'
  says '^mean -?[01]\.[0-9]+, standard deviation 0\.0000$'
  picture out/history.svg
done
mkdir curve
sed 's/ /\t/' stsa.binary.train | awk '{ print $0, NR }' > labelled.tsv
"$bin/convert" -q labelled.tsv --split 60,20,20 -o curve/one
run curve DATA="$work/curve/one" SEEDS='1 2' PERCENT='50 100'
says '^per cent	labels	bag	scratch	pretrained	both$'
half=$(($(wc -l < curve/one/train.tsv) / 2))
says "^50	($half|$((half + 1)))	[01]\.[0-9]+"
says "^100	$(wc -l < curve/one/train.tsv)	[01]\.[0-9]+"
finished
rm -rf out curve
run reviews DATA="$work" FOLDS=2
says '^fold 1: accuracy [01]\.[0-9]+$'
says '^mean '
finished
rm -rf out
run prompting DATA="$work" TEXT="$work/text.txt" STEPS=2
says '^corrected: accuracy +[01]\.[0-9]+$'
picture out/history.svg

run reverse STEPS=10
says '^BLEU '
says '^exact match '
run reverse ARCH=rnn STEPS=10
says '^chrF2 '
finished
rm -rf out
for part in train val test_2016_flickr; do
  cut -c 3- stsa.binary.train > $part.de
  cut -c 3- stsa.binary.train | rev > $part.en
done
run translation DATA="$work" EPOCHS=1 VOCABULARY=300 BEAM=2 MODEL=fixed
says '^BLEU '
finished
rm -rf out
if "$bin/inspect" lyapunov "x' = -x" --function 'x^2' > /dev/null 2>&1 && command -v csdp > /dev/null; then
  run lyapunov TEST=4 BEAM=2 STEPS=4 SHAPE='--layers 1 --width 16 --heads 2' VARIABLES=2 HALF_DEGREES=1 PRECISION=f32
  says '^2 variables, degree 2, beam +[0-4] of 4$'
  says '^2 variables, degree 2, squares2 [0-4] of 4$'
  finished
  rm -rf out
fi
for noise in infilling spans; do
  run denoise DATA="$work" NOISE=$noise TEXT_LINES=80 PAIRS=30 EPOCHS=1 TUNING_EPOCHS=1 VOCABULARY=300
  says "$noise\.30\.1\.report$"
  says 'pairs-alone\.30\.1\.report$'
  says '^exact match '
  finished
done
rm -rf out

# A step of breadth-first search is learned on small graphs, and holds on large ones; a minimum is not learned by means.
run algorithms SEEDS=1 GRAPHS=100 EPOCHS=30
finished
rm -rf out
awk -F: '/^(bfs|bellman-ford)/ { run = $1 } /^mean/ { split($0, word, /[ ,]+/); mean[run] = word[2] }
  END { exit !(mean["bfs.max"] >= 0.99 && mean["bellman-ford.max"] > mean["bellman-ford.mean"] + 0.01) }' table.txt ||
  { cat table.txt >&2; fail 'the steps of algorithms are not learned'; }

# Hidden edges of a graph with communities are found better than by chance.
run links SEEDS=1 NODES=200
finished
rm -rf out
awk '/^mean/ { split($0, word, /[ ,]+/); exit !(word[2] >= 0.65) }' table.txt ||
  { cat table.txt >&2; fail 'edges are not learned'; }

# A perceptron makes no more mistakes than the bound, and never learns XOR, which a hidden layer does.
run perceptron SEEDS='1 2'
says '^plane 2: perceptron: 200 points, [0-9]+ mistakes in [0-9]+ passes, at most [0-9]+ by '
says '^xor: perceptron: .* never stops; [1-4] mistakes a pass$'
says '^xor: hidden layer, seed 1: accuracy 1\.0000$'
says '^xor: hidden layer, seed 2: accuracy 1\.0000$'
finished
rm -rf out

# A learned optimizer leaves less of a function than there was.
run learned-optimizers RULES=lstm-rule SEEDS=1 STEPS=60 RATE=0.01
finished
rm -rf out
awk '/left/ { exit !($NF < 0.9) }' table.txt || { cat table.txt >&2; fail 'an optimizer is not learned'; }
if [ -x "$bin/benchmark_learned_optimizers" ]; then
  printf 'name,x,y,z\na,1,2,3\nb,2,1,4\nc,4,4,1\nd,5,3,2\n' > esol.csv
  run learned-optimizers transfer ESOL="$work/esol.csv" SMS="$work/sms.txt" HORIZON=20 TRANSFER_STEPS=2 PROBLEMS=2 ROWS=4
  says '^esol	60	20	[0-9.]+	[0-9.]+	'
  says '^sms	20	100	[0-9.]+	[0-9.]+	'
  finished
  picture out/transfer.svg
else
  echo "skipped: no benchmark_learned_optimizers"
fi

for script in "$examples"/slurm/*.sbatch; do
  bash -n "$script" || fail "$script is no script for bash"
done
# What a container is built and tested by: of each stage.
awk '/^%(post|test)/ { on = 1; next } /^(%|Bootstrap)/ { on = 0 } on' "$examples/slurm/heddle.def" > sections.sh
[ "$(grep -c 'set -e' sections.sh)" = 3 ] || fail 'heddle.def: a section is missing'
sh -n sections.sh || fail 'heddle.def: a section is no script for sh'
if command -v jq > /dev/null; then
  run sweep TEXT="$work/text.txt" RATES='1e-3 1e-2' STEPS=20 VOCABULARY=270 \
    MODEL='--layers 1 --width 16 --heads 2 --context 16 --batch-size 2'
  says '^1e-3	[0-9]+\.[0-9]+	[0-9]+$'
  says '^1e-2	[0-9]+\.[0-9]+	[0-9]+$'
  says '^lowest validation loss with 1e-[23]$'
  finished
  picture out/history.svg
else
  echo "skipped: no jq"
fi

# Only pairs of words separate these classes, and the last label is wrong.
printf 'a\tnot bad\na\tgood\nb\tnot good\nb\tbad\n' > train.tsv
printf 'a\tNOT bad at all\nb\tnot good\na\tnot good\n' > test.tsv
awk -f "$examples/baselines/naive_bayes.awk" train.tsv test.tsv > table.txt
says '^accuracy 0\.6667$'
