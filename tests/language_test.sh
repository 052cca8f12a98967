#!/usr/bin/env bash
# Phrases that readers stumble over, in what users and contributors read: help, man pages, messages, Markdown, examples,
# and the comments of libcore, formats and tools; and links between pages that lead nowhere.
#
#   language_test.sh ROOT [PROGRAM...]   prints each one as file:line: text, with what to write; fails if there is one.
#                                        PROGRAM --help is checked too
#   language_test.sh --self-test         plants each phrase, broken links, and sentences and links that are fine, and fails
#                                        if one is misjudged
set -euo pipefail

# PATTERN (extended, any case) TAB what to write TAB a sentence that has it.
rules=$(grep -v '^$' <<'END'
\b(tells?|telling|told)\b	print, report, show; called	prints the loss and tells the accuracy
\b(go|goes|going|went|gone) on\b	resume, continue	run again to go on
\bbehind\b	after, following	a number behind each line
\bapart by (commas|tabs|spaces|blanks)\b	comma-separated, tab-separated	names, apart by commas
\b(the|a|an|as|what|which) share\b|\bshares? of\b	fraction, probability	the share of the time
\b(nats|bits|bytes|tokens|samples|seconds|milliseconds|ms|operations|FLOPs?|steps|words|numbers) an? (token|byte|step|second|line|row|sequence|character|document|parameter|masked|piece|evaluation)\b	X per Y	the loss in nats a token
\b(line|row|word|piece|object|number|text|scale|id|file|curve|bit|colour) an? (logged )?(step|line|row|text|token|file|question|sentence|word|field|key|parameter|layer|run|prompt|piece)\b	one X per Y	prints a JSON object a line
\bone an? (line|row|token|step|word)\b	one per X	weights, one a row
[a-z]_an?_(step|token|byte|second|line|row|piece)\b	x_per_y	the key bytes_a_token
\bdeviations?\b	stddev, standard deviation	in deviations from the mean
\bslopes?\b	derivative	the slope of the activation
\belement types?\b	dtype	a tensor of any element type
\bfigures?\b	metric, number	the figure that decides
\b(training|fine-tuning) plan\b|\bplan's\b|\blessons?\b	training config, fine-tuning task	the plan's precision
\bno number\b	NaN	the loss is no number
\bwould be\b	(say what happens:) is, are; refuses	a kernel that would be faster
\b(data sets?|datasets?) an? [a-z]+\b	one data set per X	one data set a parameter
\bto write over\b	refusing to overwrite the input X	refuses to write over a.h5
\b(is|are|was|were) to be (two|written|read|filled|predicted|done|made|stored|told|used|shown)\b	(say what happens)	the file that is to be written
\bhow likely\b|\bmodel holds the texts?\b	log-likelihood	prints how likely a text is
\bwho was taken for whom\b	confusion matrix	shows who was taken for whom
\bis nobody's\b|\bonly they ask\b	is undefined; only these are computed	what follows is nobody's
\bsoftens?\b|\bunmix\b	softmax, backward	softens a row
\bof what was in\b|\bof the last update goes\b	decay, momentum coefficient	the weight of what was in the average
\bmakes? other files of\b	converts between formats	makes other files of models
\b(code|heddle|program|tool|model|kernel|file|parts|reader|tokenizer|BLAS|it|inspect) (does not |do not )?(knows?|wants?|believes)\b	supports, has, needs	which heddle does not know
\b(every|some|any|no)body\b	other code; nothing	everybody else calls matmul()
\blies? together\b	contiguous	rows that lie together
\bfor want of\b	for lack of	for want of memory
END
)

# Phrases in which these words are right.
allowed='standard deviations?|(leav(e|es|ing)|left)( [a-z]+){0,4} behind|alibi[^.]*slopes?|slopes?[^.]*alibi'

# All patterns as one.
all=$(cut -f1 <<<"$rules" | paste -sd'|')

# check NAME: lines "FILE:LINE: text" of standard input that have a phrase, with what to write. NAME is for messages.
found=0
check() {
  local text pattern instead example hits
  text=$(sed -E "s/($allowed)/ /Ig" | grep -iE "^[^:]*:[0-9]+:.*($all)" || true)
  [[ -z $text ]] && return
  while IFS=$'\t' read -r pattern instead example; do
    hits=$(grep -iE "^[^:]*:[0-9]+:.*($pattern)" <<<"$text" || true)
    [[ -z $hits ]] && continue
    found=$((found + $(wc -l <<<"$hits")))
    sed "s/\$/   [write: $(sed 's/[&/\\]/\\&/g' <<<"$instead")]/" <<<"$hits"
  done <<<"$rules"
}

# "FILE:LINE: text" of whole files.
lines() { grep -nHI '' "$@" || true; }

# "FILE:LINE: text" of the string literals of C++ files.
literals() {
  awk -F'"' '/^[ \t]*(\/\/|#include)/ { next }
    NF > 2 { text = ""; for (i = 2; i < NF; i += 2) text = text " | " $i; print FILENAME ":" FNR ":" text }' "$@"
}

# "FILE:LINE: text" of the // comments of C++ files.
comments() {
  awk '{ at = match($0, /(^|[^:"])\/\/ .*/) } at { print FILENAME ":" FNR ":" substr($0, RSTART) }' "$@"
}

# The anchors of a page's headings, as GitHub makes them.
anchors() {
  awk '/^ *```/ { fence = !fence } !fence && /^#+ /' "$1" | tr '[:upper:]' '[:lower:]' |
    sed -E 's/^#+ +//; s/[^[:alnum:] _-]//g; s/ /-/g'
}

# check_links PAGE...: prints links to files and headings that are not there, "FILE:LINE: TARGET". Code has no links.
check_links() {
  local place target path
  while IFS=$'\t' read -r place target; do
    path=${target%%#*}
    if [[ -n $path ]]; then path=$(dirname "${place%%:*}")/$path; else path=${place%%:*}; fi
    if [[ ! -e $path ]]; then
      echo "$place $target   [there is no such file]"
    elif [[ $target == *'#'* ]] && ! grep -qxF -- "${target#*#}" < <(anchors "$path"); then
      echo "$place $target   [there is no such heading]"
    else
      continue
    fi
    found=$((found + 1))
  done < <(awk '
    FNR == 1 { fence = 0 }
    /^ *```/ { fence = !fence }
    fence { next }
    { gsub(/`[^`]*`/, "") }
    {
      while (match($0, /\]\([^() ]+\)/)) {
        target = substr($0, RSTART + 2, RLENGTH - 3)
        if (target !~ /^[a-z]+:/) print FILENAME ":" FNR ":\t" target
        $0 = substr($0, RSTART + RLENGTH)
      }
    }' "$@")
}

check_tree() {
  local root=$1 program
  shift
  cd "$root"
  local -a sources pages
  mapfile -t pages < <(find README.md man libcore formats tools tests examples -type f \( -name '*.md' -o -name '*.scd' \) \
    ! -path '*/goldens/*' ! -path '*/node_modules/*' ! -name CHANGES.md | sort)  # which names what was renamed
  check < <(lines "${pages[@]}")
  mapfile -t pages < <(find README.md man libcore formats tools tests examples -name '*.md' ! -path '*/node_modules/*' | sort)
  check_links "${pages[@]}"
  mapfile -t pages < <({ find examples -type f ! -name '*.md'; find tools -name '*.js'; } | sort)
  check < <(lines "${pages[@]}")
  mapfile -t sources < <(find tools formats libcore -name '*.[ch]pp' -o -name '*.def' | grep -v unicode_table | sort)
  check < <(literals "${sources[@]}")
  check < <(comments "${sources[@]}")
  for program in "$@"; do
    check < <({ "$program" --help=all 2>/dev/null || "$program" --help; } | lines - |
      sed "s/^(standard input):/$(basename "$program") --help:/")
  done
  [[ $found -eq 0 ]]
}

self_test() {
  local failures=0 pattern instead example sentence output
  output=$(cut -f3 <<<"$rules" | sed 's/^/a:1: /' | check)
  while IFS=$'\t' read -r pattern instead example; do
    grep -qF "a:1: $example   [write: $instead]" <<<"$output" ||
      { echo "not found: $example"; failures=$((failures + 1)); }
  done <<<"$rules"
  while read -r sentence; do
    found=0
    check <<<"a:1: $sentence" || true
    [[ $found -eq 0 ]] || { echo "is fine: $sentence"; failures=$((failures + 1)); }
  done <<'END'
mean and standard deviation over three seeds
a killed process leaves a temporary file behind
two threads share the work, and heads share keys
'abc' is not a number
prints the loss in nats per token, one JSON object per line
writes a line after a line that is empty
with ALiBi, each head has its slope
the step on which training depends
END
  local place
  place=$(mktemp -d)
  trap 'rm -rf "$place"' RETURN
  mkdir -p "$place"/{man,libcore,formats,tools,tests,examples}
  printf '# heddle\n' > "$place/README.md"
  printf 'all:\n' > "$place/examples/Makefile"
  printf '[a](#heddle) [b](man/b.md) `[d](no.md)`\n```\n[e](no.md)\n```\n[f](https://a.b/c)\n' >> "$place/README.md"
  printf '## `b`: how, C++\n[up](../README.md#heddle) [here](#b-how-c)\n' > "$place/man/b.md"
  printf '// prints it\nint tells;\nf("prints the loss");  // see // here\n' > "$place/tools/a.cpp"
  (found=0; check_tree "$place") || { echo "a tree without phrases fails"; failures=$((failures + 1)); }
  printf 'f("tells the loss");\n' > "$place/tools/a.cpp"
  [[ $(found=0; check_tree "$place" || true) == "tools/a.cpp:1: | tells the loss "* ]] ||
    { echo "a message with a phrase passes"; failures=$((failures + 1)); }
  printf 'int a;  // tells the loss\n' > "$place/tools/a.cpp"
  [[ $(found=0; check_tree "$place" || true) == "tools/a.cpp:1:"*"// tells the loss "* ]] ||
    { echo "a comment with a phrase passes"; failures=$((failures + 1)); }
  local broken
  printf 'int a;\n' > "$place/tools/a.cpp"
  for broken in 'c.md:there is no such file' '../no/b.md#b:there is no such file' '#a:there is no such heading' \
    '../README.md#b:there is no such heading'; do
    printf 'one\n[x](b.md), [y](%s)\n' "${broken%%:*}" > "$place/man/links.md"
    [[ $(found=0; check_tree "$place" || echo fails) == "man/links.md:2: ${broken%%:*}   [${broken#*:}]"$'\n'fails ]] ||
      { echo "a broken link passes: ${broken%%:*}"; failures=$((failures + 1)); }
  done
  [[ $failures -eq 0 ]]
}

if [[ ${1:-} == --self-test ]]; then
  self_test
else
  check_tree "$@"
fi
