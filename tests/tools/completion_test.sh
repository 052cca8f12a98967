#!/usr/bin/env bash
# completion_test.sh TOOL [VERB...]: what the tool gives the shells is what they can read, and offers the verbs and the
# options of each --help. Prints what is wrong. Shells that are not there are skipped.
set -euo pipefail
tool=$1 verbs=("${@:2}")

status=0
for shell in bash zsh fish; do
  command -v "$shell" > /dev/null || { echo "skipped: no $shell"; continue; }
  "$tool" --completion "$shell" | "$shell" -n || { echo "$shell does not understand its script"; status=1; }
done

# The options that --help lists of the tool or of a verb.
options_of() { "$tool" "$@" --help=all | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -- '--.*' | sort; }

# Without a verb a tool that has some takes those of the first one, too.
in_help=$({ options_of; [[ ${#verbs[@]} -eq 0 ]] || options_of "${verbs[0]}"; } | sort -u)
script=$("$tool" --completion bash)
eval "$script"
entry=${script##*complete -F }
COMP_WORDS=(tool --) COMP_CWORD=1
"${entry%% *}"
diff --label "$tool --help" --label completion <(echo "$in_help") <(printf '%s\n' "${COMPREPLY[@]}" | sort) || status=1
for verb in "${verbs[@]}"; do
  COMP_WORDS=(tool "$verb" --) COMP_CWORD=2
  "${entry%% *}"
  diff --label "$tool $verb --help" --label completion <(options_of "$verb") <(printf '%s\n' "${COMPREPLY[@]}" | sort) ||
    status=1
  in_help+=$'\n'$(options_of "$verb")
done
in_help=$(sort -u <<< "$in_help")
# A value that may be left out stands behind "=" alone; the next word is another one.
while read -r option; do
  COMP_WORDS=(tool "$option" = '') COMP_CWORD=3
  "${entry%% *}"
  [[ ${#COMPREPLY[@]} -gt 0 ]] || { echo "$option= completes nothing"; status=1; }
  COMP_WORDS=(tool "$option" --) COMP_CWORD=2
  "${entry%% *}"
  [[ ${#COMPREPLY[@]} -gt 1 ]] || { echo "nothing follows $option"; status=1; }
done < <("$tool" --help=all | grep -oE -- '--[a-z0-9-]+\[=' | tr -d '[=')
# What a shell's script lacks, which names options as --NAME (zsh) or -l NAME (fish).
missing() {
  comm -23 <(echo "$in_help") <(grep -oE -- "$1[a-z0-9-]+" | sed "s/^$1/--/" | sort -u) | sed "s/^/$2 does not complete /"
}
missed=$("$tool" --completion zsh | missing -- zsh; "$tool" --completion fish | missing '-l ' fish)
[[ -z $missed ]] || { echo "$missed"; status=1; }
exit $status
