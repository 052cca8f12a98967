# Feed-forward over attention, for each kind of attention and number of positions T: by the formula (for causal attention,
# half the pairs), by the operations that the profile counts, by time (median over turns), and feed-forward's fraction of both times.
BEGIN { FS = "\t" }
NR == 1 { next }
{
  key = $1 OFS $2
  if (!(key in turns)) keys[++count] = key
  n = ++turns[key]
  for (j = n; j > 1 && ratio[key, j - 1] > $4 / $5; --j) ratio[key, j] = ratio[key, j - 1]
  ratio[key, j] = $4 / $5
  operations[key] = $6 / $7
}
END {
  printf "%-10s%10s%10s%12s%10s%16s\n", "attention", "positions", "formula", "operations", "time", "fraction of time"
  for (i = 1; i <= count; ++i) {
    split(keys[i], part, OFS)
    n = turns[keys[i]]
    time = (ratio[keys[i], int((n + 1) / 2)] + ratio[keys[i], int(n / 2) + 1]) / 2
    pairs = part[1] == "full" ? part[2] : part[2] / 2
    printf "%-10s%10d%10.2f%12.2f%10.2f%16.2f\n", part[1], part[2], 4 * width / (2 * width + pairs), operations[keys[i]], time,
      time / (1 + time)
  }
}
