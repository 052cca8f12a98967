#!/usr/bin/env bash
# man_test.sh TOOL PAGE: the tool's --help and its man page list the same options, and the page's prose speaks of no
# others. Prints what differs.
set -euo pipefail
tool=$1 page=$2

in_help=$("$tool" --help | grep -oE '^  (-[A-Za-z], |    )--[a-z0-9-]+' | grep -oE -- '--.*' | sort)
# The table's terms follow .TP, with every - escaped; examples (.EX to .EE) may show other programs.
plain=$(sed -e '/^\.EX/,/^\.EE/d' -e 's/\\-/-/g' "$page")
in_table=$(grep -A1 '^\.TP' <<<"$plain" | grep -oE '^(\\fB-[A-Za-z]\\fR, )?\\fB--[a-z0-9-]+' |
  grep -oE -- '--.*' | sort)
in_prose=$(grep -oE -- '--[a-z][a-z0-9-]*' <<<"$plain" | sort -u)

status=0
[[ -n $in_help ]] || { echo "$tool --help lists no options"; status=1; }
diff --label "$tool --help" --label "$page" <(echo "$in_help") <(echo "$in_table") || status=1
strangers=$(comm -13 <(sort -u <<<"$in_help") <(echo "$in_prose"))
if [[ -n $strangers ]]; then
  printf '%s speaks of options that the tool does not have:\n%s\n' "$page" "$strangers"
  status=1
fi
if command -v mandoc >/dev/null; then
  mandoc -T lint -W warning "$page" || status=1
else
  echo "skipped: no mandoc"
fi
exit $status
