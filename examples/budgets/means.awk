# Rows BUDGET, DATA SET, SEED, NETWORK, BOTH, BAG: the means over data sets and seeds, a row for each budget,
# STEPSxBATCHES with batches of 768 tokens.
BEGIN { FS = OFS = "\t" }
{
  if (!($1 in count)) order[++rows] = $1
  ++count[$1]
  for (i = 4; i <= 6; ++i) sum[$1, i] += $i
}
END {
  print "budget", "million tokens", "network", "network and bag", "bag"
  for (r = 1; r <= rows; ++r) {
    budget = order[r]
    split(budget, factors, "x")
    printf "%s\t%.1f", budget, factors[1] * factors[2] * 768 / 1e6
    for (i = 4; i <= 6; ++i) printf "\t%.4f", sum[budget, i] / count[budget]
    print ""
  }
}
