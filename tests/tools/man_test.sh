#!/usr/bin/env bash
# man_test.sh PAGE [TOOL [VERB]]: the page is sound man(7). With a tool, its (or its verb's) --help and the page list the same
# options, and the page's prose mentions no others. Prints what differs.
set -euo pipefail
page=$1 tool=${*:2}
shift
status=0

if [[ -n $tool ]]; then
  in_help=$("$@" --help=all | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -- '--.*' | sort)
  # The terms of the table, between the headings OPTIONS and EXIT STATUS, stand before .RS; examples (.nf to .fi) may show
  # other programs.
  plain=$(sed -e '/^\.nf/,/^\.fi/d' -e 's/\\-/-/g' "$page")
  in_table=$(sed -n '/^\.SH OPTIONS/,/^\.SH EXIT STATUS/p' <<<"$plain" | grep -B1 '^\.RS' |
    grep -oE '^(\\fB-[A-Za-z]\\fR, )?\\fB--[a-z0-9-]+' | grep -oE -- '--.*' | sort)
  in_prose=$(grep -oE -- '--[a-z][a-z0-9-]*' <<<"$plain" | sort -u)
  [[ -n $in_help ]] || { echo "$tool --help=all lists no options"; status=1; }
  diff --label "$tool --help" --label "$page" <(echo "$in_help") <(echo "$in_table") || status=1
  # A page may also name the negation of an option, --no-header.
  strangers=$(comm -13 <(sed 'p; s/^--/--no-/' <<<"$in_help" | sort -u) <(echo "$in_prose"))
  if [[ -n $strangers ]]; then
    printf '%s mentions options that the tool does not have:\n%s\n' "$page" "$strangers"
    status=1
  fi
fi

# A line that lost its markup on the way: asterisks and underscores that scdoc took for text.
if sed 's/\\-/-/g' "$page" | grep -nE '\*-|-\*|\*\*|@[A-Z]+@'; then
  echo "$page has markup in its text"
  status=1
fi

if command -v mandoc >/dev/null; then
  # scdoc begins each section and ends each indented block with a paragraph that prints nothing.
  warnings=$(mandoc -T lint -W warning "$page" | grep -v 'WARNING: skipping paragraph macro' || true)
  if [[ -n $warnings ]]; then
    printf '%s\n' "$warnings"
    status=1
  fi
else
  echo "skipped: no mandoc"
fi
exit $status
