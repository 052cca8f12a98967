# Sourced by the tests of this folder with their arguments: CMAKE BUILD PREFIX COMPILER.
set -euo pipefail
cmake=$1 build=$2 prefix=$3 compiler=$4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
place=$(mktemp -d "${TMPDIR:-/tmp}/heddle-packaging-XXXXXX")
trap 'rm -rf "$place"' EXIT

fail() {
  printf '%s\n' "$*"
  exit 1
}

# check_tools ROOT: the installed tools make a tokenizer and tokens and look into them, and have their pages and
# completions.
check_tools() {
  local root=$1 tool
  printf 'the cat sees a dog\n' > "$place/text.txt"
  "$root/bin/${prefix}tokenize" -q --train --model byte -o "$place/bytes.h5" "$place/text.txt"
  "$root/bin/${prefix}tokenize" -q -t "$place/bytes.h5" -o "$place/tokens.h5" "$place/text.txt"
  "$root/bin/${prefix}inspect" "$place/tokens.h5" --tokens > "$place/answer"
  grep -q 'text bytes  19' "$place/answer" || fail "the installed tools do not work: $(cat "$place/answer")"
  for tool in tokenize pretrain finetune classify generate inspect convert; do
    [[ -x $root/bin/$prefix$tool ]] || fail "$root has no $prefix$tool"
    for file in "man/man1/$prefix$tool.1" "bash-completion/completions/$prefix$tool" \
      "zsh/site-functions/_$prefix$tool" "fish/vendor_completions.d/$prefix$tool.fish"; do
      [[ -s $root/share/$file ]] || fail "$root/share has no $file"
    done
    grep -q " $prefix$tool\$" "$root/share/bash-completion/completions/$prefix$tool" || fail "$tool: completion"
  done
  for verb in show verify diff history; do
    [[ -s $root/share/man/man1/${prefix}inspect-$verb.1 ]] || fail "$root/share has no page of inspect $verb"
  done
  [[ -s $root/share/man/man5/heddle-formats.5 ]] || fail "$root/share has no page of the file formats"
  grep -q 'Apache License' "$root/share/doc/heddle/copyright" || fail "$root has no licence"
}
