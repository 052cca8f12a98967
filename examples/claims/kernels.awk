# The mean error of each estimator for each number of observations, and the exponent of the number by least squares of logarithms.
BEGIN { FS = "\t" }
NR == 1 { next }
{
  if (!($1 in known)) { known[$1]; names[++name_count] = $1 }
  if (!(($1, $2) in sum)) counts[$1, ++count[$1]] = $2
  sum[$1, $2] += $4
  ++runs[$1, $2]
}
END {
  for (k = 1; k <= name_count; ++k) {
    name = names[k]
    sx = sy = sxx = sxy = 0
    for (i = 1; i <= count[name]; ++i) {
      n = counts[name, i]
      error = sum[name, n] / runs[name, n]
      printf "%-12s%8d  %.3g\n", name, n, error
      x = log(n); y = log(error)
      sx += x; sy += y; sxx += x * x; sxy += x * y
    }
    m = count[name]
    printf "%-12s exponent %.2f\n", name, (m * sxy - sx * sy) / (m * sxx - sx * sx)
  }
}
