# Lines TEXT.SIZE.SEED, tab, loss without the change, with it, with it in the same minutes. Prints the means of each text and size, and
# the mean gain over all of them with its 95 % interval: seeds are drawn, texts and sizes are not.
BEGIN {
  FS = "\t"
  # Student's t for 95 %, by degrees of freedom.
  split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 2.12 2.11 2.10 2.09 2.09", quantiles, " ")
}
{
  split($1, of, ".")
  group = of[1] " " of[2]
  if (!(group in count)) order[++groups] = group
  ++count[group]
  for (i = 2; i <= 4; ++i) sum[group, i] += $i
  for (i = 3; i <= 4; ++i) { gain[group, i] += $2 - $i; square[group, i] += ($2 - $i) ^ 2 }
}
END {
  printf "%-24s %5s %9s %9s %9s\n", "text, size", "seeds", "without", "with", "minutes"
  for (g = 1; g <= groups; ++g) {
    n = count[order[g]]
    printf "%-24s %5d %9.4f %9.4f %9.4f\n", order[g], n, sum[order[g], 2] / n, sum[order[g], 3] / n, sum[order[g], 4] / n
  }
  for (i = 3; i <= 4; ++i) {
    mean = variance = degrees = 0
    for (g = 1; g <= groups; ++g) {
      n = count[order[g]]
      mean += gain[order[g], i] / n / groups
      if (n > 1) variance += (square[order[g], i] - gain[order[g], i] ^ 2 / n) / (n - 1) / n / groups ^ 2
      degrees += n - 1
    }
    t = degrees == 0 ? 0 : degrees > 20 ? 2 : quantiles[degrees]
    printf "gain in the same %s: %.4f", i == 3 ? "tokens" : "minutes", mean
    if (degrees > 0) printf " +- %.4f", t * sqrt(variance > 0 ? variance : 0)
    printf " nats per token\n"
  }
}
