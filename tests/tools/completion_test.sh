#!/usr/bin/env bash
# completion_test.sh TOOL: what the tool gives the shells is what they can read, and offers the options of its --help.
# Prints what is wrong. Shells that are not there are skipped.
set -euo pipefail
tool=$1

status=0
for shell in bash zsh fish; do
  command -v "$shell" > /dev/null || { echo "skipped: no $shell"; continue; }
  "$tool" --completion "$shell" | "$shell" -n || { echo "$shell does not understand its script"; status=1; }
done

in_help=$("$tool" --help=all | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -- '--.*' | sort)
script=$("$tool" --completion bash)
eval "$script"
entry=${script##*complete -F }
COMP_WORDS=(tool --) COMP_CWORD=1
"${entry%% *}"
diff --label "$tool --help" --label completion <(echo "$in_help") <(printf '%s\n' "${COMPREPLY[@]}" | sort) || status=1
# A value that may be left out stands behind "=" alone; the next word is another one.
while read -r option; do
  COMP_WORDS=(tool "$option" = '') COMP_CWORD=3
  "${entry%% *}"
  [[ ${#COMPREPLY[@]} -gt 0 ]] || { echo "$option= completes nothing"; status=1; }
  COMP_WORDS=(tool "$option" --) COMP_CWORD=2
  "${entry%% *}"
  [[ ${#COMPREPLY[@]} -gt 1 ]] || { echo "nothing follows $option"; status=1; }
done < <("$tool" --help=all | grep -oE -- '--[a-z0-9-]+\[=' | tr -d '[=')
for shell in zsh fish; do
  while read -r option; do
    pattern=$([[ $shell == zsh ]] && echo "$option" || echo "-l ${option#--}")
    "$tool" --completion "$shell" | grep -qE -- "$pattern[^a-z0-9-]" ||
      { echo "$shell does not complete $option"; status=1; }
  done <<< "$in_help"
done
exit $status
