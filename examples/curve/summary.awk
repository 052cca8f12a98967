# Rows WAY, PER CENT, LABELS, SEED, VALUE: a table of means and, of several seeds, standard deviations, a row for each per
# cent; with points=1 the numbers alone, for a picture.
BEGIN { FS = "\t" }
{
  if (!($1 in way)) { way[$1] = ++ways; name[ways] = $1 }
  if (!($2 in size)) { size[$2] = ++sizes; percent[sizes] = $2 }
  labels[$2] += $3
  rows[$2]++
  sum[$1, $2] += $5
  square[$1, $2] += $5 * $5
  count[$1, $2]++
}
END {
  printf points ? "labels" : "per cent\tlabels"
  for (w = 1; w <= ways; ++w) printf points ? "\t%s\t%s" : "\t%s", name[w], name[w]
  print ""
  for (s = 1; s <= sizes; ++s) {
    if (!points) printf "%s\t", percent[s]
    printf "%.0f", labels[percent[s]] / rows[percent[s]]
    for (w = 1; w <= ways; ++w) {
      key = name[w] SUBSEP percent[s]
      n = count[key]
      mean = sum[key] / n
      variance = n > 1 ? (square[key] - n * mean * mean) / (n - 1) : 0
      stddev = sqrt(variance > 0 ? variance : 0)
      if (points) printf "\t%.4f\t%.4f", mean, stddev
      else if (n == 1) printf "\t%.4f", mean
      else printf "\t%.4f ± %.4f", mean, stddev
    }
    print ""
  }
}
