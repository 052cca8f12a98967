#!/usr/bin/env bash
# Reads sources of libcore/, formats/ and tools/ for themselves, without precompiled headers and groups, and prints what a
# compiler says of those that lack an include:
#
#     tests/includes_alone.sh [PART/PARTS]
#
# With 3/8, the third eighth of them. Needs jq.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
IFS=/ read -r part parts <<<"${1:-1/1}"

cmake --preset alone >/dev/null
# A line for each source: the compiler's command without its output. Doubles are the same sources again.
jq -r --arg root "$PWD/" --argjson part "$part" --argjson parts "$parts" '
  [.[] | select(.file | ltrimstr($root) | test("^(libcore|formats|tools)/")) | select(.command | test("_f64\\.dir|_avx2\\.dir|_baseline\\.dir") | not)]
  | unique_by(.file) | to_entries[] | select(.key % $parts == $part - 1) | .value.command | sub(" -o [^ ]+"; "")' \
  build/alone/compile_commands.json >build/alone/commands
printf '%s: %d sources\n' "$0" "$(wc -l <build/alone/commands)"
xargs -P "$(nproc)" -d '\n' -I{} bash -c 'cd build/alone && {} -fsyntax-only' <build/alone/commands
