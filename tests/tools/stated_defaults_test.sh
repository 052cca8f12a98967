#!/usr/bin/env bash
# stated_defaults_test.sh SOURCE BIN: each default of the list that a page states in its prose is the one that the tool's
# help tells.
set -euo pipefail
source=$1 bin=$2 status=0 lines=0
while IFS=$'\t' read -r page text command expected; do
  [[ -n $page && $page != '#'* ]] || continue
  lines=$((lines + 1))
  grep -qF -- "$text" "$source/$page" || { echo "$page does not say: $text"; status=1; }
  read -ra words <<<"$command"
  said=$("$bin/${words[0]}" "${words[@]:1}" | tr -s ' \n' ' ')
  grep -qE -- "$expected" <<<"$said" || { echo "$page says '$text'; $command does not print: $expected"; status=1; }
done <"$source/tests/tools/stated_defaults"
((lines > 0)) || { echo "the list is empty"; status=1; }
exit $status
