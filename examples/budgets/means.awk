# Rows STEPS, DATA SET, SEED, NETWORK, BOTH, BAG: the means over data sets and seeds, a row for each number of steps.
BEGIN { FS = OFS = "\t" }
{
  if (!($1 in count)) order[++rows] = $1
  ++count[$1]
  for (i = 4; i <= 6; ++i) sum[$1, i] += $i
}
END {
  print "steps", "network", "network and bag", "bag"
  for (r = 1; r <= rows; ++r) {
    steps = order[r]
    printf "%s", steps
    for (i = 4; i <= 6; ++i) printf "\t%.4f", sum[steps, i] / count[steps]
    print ""
  }
}
