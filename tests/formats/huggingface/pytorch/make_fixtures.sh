#!/bin/sh
# Makes the small directories beside this one: make_fixtures.sh [PYTHON], which must have PyTorch. Those of OPUS also need
# SentencePiece's programs.
set -eu
python=${1:-python3}
cd "$(dirname "$0")"
to=..
"$python" t5.py $to/t5-narrow --steps 70
"$python" t5.py $to/t5-gated --gated --head-width 6 --decoder-layers 3 --seed 2
"$python" t5.py $to/t5-short --steps 45 --layers 1 --decoder-layers 1 --buckets 8 --max-distance 10 --heads 4 --head-width 5 --seed 3
"$python" bart.py $to/bart-narrow
"$python" bart.py $to/bart-scaled --steps 60 --scaled --bias --layers 1 --decoder-layers 3 --heads 4 --seed 2
"$python" bart.py $to/bart-short --parts --activation relu --layers 1 --decoder-layers 1 --width 12 --seed 3
"$python" marian.py $to/marian-narrow --steps 40
"$python" marian.py $to/marian-unscaled --unscaled --activation relu --layers 1 --decoder-layers 2 --seed 2
"$python" marian.py $to/marian-short --activation gelu --layers 1 --decoder-layers 1 --width 12 --heads 3 --context 90 --seed 3
"$python" marian.py $to/marian-opus --spm unigram --layers 1 --decoder-layers 1 --seed 4
"$python" marian.py $to/marian-opus-bpe --spm bpe --layers 1 --decoder-layers 1 --seed 5 --steps 60
"$python" marian.py $to/marian-separate --spm unigram --separate --layers 1 --decoder-layers 2 --seed 6
