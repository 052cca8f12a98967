# The metric `metric` of reports by classify --evaluate, one per file NAME.NUMBER.txt; then mean and standard deviation.
$1 == metric {
  match(FILENAME, /[0-9]+\.txt$/)
  printf "%s %s: %s %s\n", of, substr(FILENAME, RSTART, RLENGTH - 4), metric, $2
  x[++n] = $2
  sum += $2
}
END {
  for (i = 1; i <= n; ++i) square += (x[i] - sum / n) ^ 2
  printf "mean %.4f, standard deviation %.4f\n", sum / n, (n > 1 ? sqrt(square / (n - 1)) : 0)
}
