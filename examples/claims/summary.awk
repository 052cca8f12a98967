# Mean and standard deviation over seeds of the column `value` of a table of runs, for each variant, and its difference from the
# first variant, seed by seed: mean and half the width of its 95 % interval by Student's t. With a column "seconds", also the ratio of
# seconds to those of the first variant (median over seeds); with a column "parameters", these.
BEGIN { FS = "\t"; split("12.71 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
{
  if (!($1 in known)) { known[$1]; variants[++variant_count] = $1 }
  if (!($2 in drawn)) { drawn[$2]; seeds[++seed_count] = $2 }
  x[$1, $2] = $column[value]
  if ("seconds" in column) seconds[$1, $2] = $column["seconds"]
  if ("parameters" in column) parameters[$1] = $column["parameters"]
}
function moments(v, baseline, i, d, sum, squares) {
  for (i = 1; i <= seed_count; ++i) {
    d = x[v, seeds[i]] - (baseline == "" ? 0 : x[baseline, seeds[i]])
    sum += d
    squares += d * d
  }
  mean = sum / seed_count
  stddev = seed_count > 1 ? sqrt((squares - seed_count * mean * mean) / (seed_count - 1) + 1e-18) : 0
}
function median_ratio(v, baseline, i, j, r, sorted) {
  for (i = 1; i <= seed_count; ++i) {
    r = seconds[v, seeds[i]] / seconds[baseline, seeds[i]]
    for (j = i; j > 1 && sorted[j - 1] > r; --j) sorted[j] = sorted[j - 1]
    sorted[j] = r
  }
  return (sorted[int((seed_count + 1) / 2)] + sorted[int(seed_count / 2) + 1]) / 2
}
END {
  printf "%-17s%10s%8s%20s%9s%12s\n", "variant", value, "+-", "minus " variants[1], "seconds", "parameters"
  for (k = 1; k <= variant_count; ++k) {
    v = variants[k]
    moments(v, "")
    printf "%-17s%10.4f%8.4f", v, mean, stddev
    moments(v, variants[1])
    half = seed_count > 1 ? t[seed_count - 1] * stddev / sqrt(seed_count) : 0
    printf "%20s", k == 1 ? "" : sprintf("%+.4f +- %.4f", mean, half)
    printf "%9s%12s\n", "seconds" in column ? sprintf("x %.2f", median_ratio(v, variants[1])) : "", parameters[v]
  }
}
