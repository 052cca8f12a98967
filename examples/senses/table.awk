# The reports of inspect senses --evaluate, one file per word, as one table: percent, with totals over all words' sentences and
# means over words.
function finish() {
  if (!word) return
  printf "%-10s %7d %9.1f %9.1f %9.1f\n", word, words, 100 * accuracy, 100 * frequent, 100 * f1
  right += accuracy * words; often += frequent * words; all += words
  accuracies += accuracy; frequents += frequent; f1s += f1; ++count
}
BEGIN { printf "%-10s %7s %9s %9s %9s\n", "word", "words", "accuracy", "frequent", "macro F1" }
FNR == 1 { finish(); word = FILENAME; sub(".*/", "", word); sub(/\.txt$/, "", word) }
/^words / { words = $2; gsub(",", "", words) }
/^accuracy / { accuracy = $2 }
/^most frequent sense / { frequent = $4 }
/^macro F1 / { f1 = $3 }
END {
  finish()
  if (!count) exit 1
  printf "%-10s %7d %9.1f %9.1f %9s\n", "all", all, 100 * right / all, 100 * often / all, "-"
  printf "%-10s %7s %9.1f %9.1f %9.1f\n", "mean", "-", 100 * accuracies / count, 100 * frequents / count, 100 * f1s / count
}
