# Means of runs.awk's runs, and what each way gains over the first one: mean over seeds, 95 % bootstrap interval.
function gain(way, size, i) {
  total = 0
  for (i = 1; i <= seeds[0]; ++i) total += difference[i] = final[way, size, seeds[i]] - final[ways[1], size, seeds[i]]
  return total / seeds[0]
}
function bootstrap(low_or_high, i, j, sum, sorted, value, place) {
  srand(1)
  for (i = 1; i <= 2000; ++i) {
    sum = 0
    for (j = 1; j <= seeds[0]; ++j) sum += difference[1 + int(rand() * seeds[0])]
    value = sum / seeds[0]
    for (place = i; place > 1 && sorted[place - 1] > value; --place) sorted[place] = sorted[place - 1]
    sorted[place] = value
  }
  return sorted[low_or_high == "low" ? 50 : 1950]
}
# The fraction of the steps, mean over seeds, after which a way reaches the best accuracy of the first one; 1 if it never does.
function reached(way, size, i, j, n, sum, share) {
  for (i = 1; i <= seeds[0]; ++i) {
    n = evaluations[way, size, seeds[i]]
    share = 1
    for (j = n; j >= 1; --j) {
      if (accuracy[way, size, seeds[i], j] >= best[ways[1], size, seeds[i]])
        share = step[way, size, seeds[i], j] / step[way, size, seeds[i], n]
    }
    sum += share
  }
  return sum / seeds[0]
}
END {
  printf "%-11s%-9s%9s%8s%24s%19s\n", "way", "examples", "accuracy", "+-", "gain (95 % interval)", ways[1] "'s best at"
  for (i = 1; i <= sizes[0]; ++i) {
    for (j = 1; j <= ways[0]; ++j) {
      printf "%-11s%-9s%9.1f%8.1f", ways[j], sizes[i], average(ways[j], sizes[i]), half_interval(ways[j], sizes[i])
      if (j > 1) {
        mean = gain(ways[j], sizes[i])
        printf "%24s%19s", sprintf("%.1f (%.1f to %.1f)", mean, bootstrap("low"), bootstrap("high")),
          sprintf("%.0f %% of the steps", 100 * reached(ways[j], sizes[i]))
      }
      print ""
    }
  }
}
