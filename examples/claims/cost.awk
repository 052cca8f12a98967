# Feed-forward over attention, for each kind of attention and number of positions T: by the formula (for causal attention, half
# the pairs), by the operations that the profile counts, and by time; then its fraction of both times; then feed-forward over
# the attention operation alone, without projections, by formula and time. Times are medians over turns.
BEGIN { FS = "\t" }
NR == 1 { next }
{
  key = $1 OFS $2
  if (!(key in turns)) keys[++count] = key
  n = ++turns[key]
  whole[key, n] = $4 / $5
  mixing[key, n] = $4 / $6
  operations[key] = $7 / $8
}
function median(ratio, key, n, i, j, r, sorted) {
  for (i = 1; i <= n; ++i) {
    r = ratio[key, i]
    for (j = i; j > 1 && sorted[j - 1] > r; --j) sorted[j] = sorted[j - 1]
    sorted[j] = r
  }
  return (sorted[int((n + 1) / 2)] + sorted[int(n / 2) + 1]) / 2
}
END {
  row = "%-10s%10s%10s%12s%8s%10s%16s%8s\n"
  printf row, "attention", "positions", "formula", "operations", "time", "fraction", "mixing, formula", "time"
  for (i = 1; i <= count; ++i) {
    key = keys[i]
    split(key, part, OFS)
    time = median(whole, key, turns[key])
    pairs = part[1] == "full" ? part[2] : part[2] / 2
    printf row, part[1], part[2], sprintf("%.2f", 4 * width / (2 * width + pairs)), sprintf("%.2f", operations[key]),
      sprintf("%.2f", time), sprintf("%.2f", time / (1 + time)), sprintf("%.1f", 4 * width / pairs),
      sprintf("%.1f", median(mixing, key, turns[key]))
  }
}
