#!/usr/bin/env bash
# What tests left out for want of data, programs or a processor, by the lines "skipped: WHAT" in their output.
#
#   skips.sh LOG               prints how many skips ctest's log has, and each with how often it occurs
#   skips.sh LOG EXPECTED      also fails if there is one that no pattern of the file EXPECTED matches
#   skips.sh --self-test       fails if either does not work
set -euo pipefail

# skips_of LOG: WHAT, a line each time. doctest colours nothing that goes to a file.
skips_of() {
  sed -nE 's/^(.*[: ])?skipped: (.*)$/\2/p' "$1"
}

# unexpected EXPECTED: of the lines of standard input, those that none of the file's extended regular expressions matches.
unexpected() {
  grep -vEf <(grep -vE '^(#|$)' "$1") || true
}

report() {
  local log=$1 skips strangers
  skips=$(skips_of "$log")
  if [[ -z $skips ]]; then
    echo "nothing was skipped"
    return
  fi
  printf 'skipped %d times:\n' "$(wc -l <<<"$skips")"
  sort <<<"$skips" | uniq -c
  [[ $# -gt 1 ]] || return 0
  strangers=$(unexpected "$2" <<<"$skips" | sort -u)
  [[ -z $strangers ]] && return
  printf 'not in %s:\n%s\n' "$2" "$strangers"
  return 1
}

self_test() {
  local output
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  printf '%s\n' 'a_test.cpp:3: MESSAGE: skipped: no data' '  skipped: no shell' 'was skipped:nothing' 'skipped: no data' \
    >"$folder/log"
  printf '%s\n' '# a comment' '' '^no (data|bf16)$' >"$folder/some"
  printf '%s\n' '^no ' >"$folder/all"
  : >"$folder/empty"
  output=$(report "$folder/log")
  [[ $output == $'skipped 3 times:\n      2 no data\n      1 no shell' ]] || { echo "$output"; return 1; }
  report "$folder/log" "$folder/all" >/dev/null || return 1
  output=$(report "$folder/log" "$folder/some") && return 1
  [[ $output == *$'/some:\nno shell' ]] || { echo "$output"; return 1; }
  [[ $(report "$folder/empty" "$folder/some") == "nothing was skipped" ]]
}

if [[ $1 == --self-test ]]; then
  self_test
else
  report "$@"
fi
