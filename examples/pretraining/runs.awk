# Reads table.tsv: final[way, size, seed] and best[way, size, seed]; the names in the order of their appearance in
# ways[], sizes[] and seeds[].
function known(list, name, i) {
  for (i = 1; i <= list[0]; ++i) if (list[i] == name) return
  list[++list[0]] = name
}
BEGIN { FS = OFS = "\t"; ways[0] = sizes[0] = seeds[0] = 0 }
{
  known(ways, $1); known(sizes, $2); known(seeds, $3)
  final[$1, $2, $3] = 100 * $5
  if (100 * $5 > best[$1, $2, $3]) best[$1, $2, $3] = 100 * $5
  step[$1, $2, $3, ++evaluations[$1, $2, $3]] = $4
  accuracy[$1, $2, $3, evaluations[$1, $2, $3]] = 100 * $5
}
# Mean over seeds, and half the width of its 95 % interval by Student's t.
function average(way, size, i, sum) {
  for (i = 1; i <= seeds[0]; ++i) sum += final[way, size, seeds[i]]
  return sum / seeds[0]
}
function half_interval(way, size, i, sum, mean, t) {
  if (seeds[0] < 2) return 0
  split("12.71 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ")
  mean = average(way, size)
  for (i = 1; i <= seeds[0]; ++i) sum += (final[way, size, seeds[i]] - mean) ^ 2
  return (seeds[0] > 10 ? 1.96 : t[seeds[0] - 1]) * sqrt(sum / (seeds[0] - 1) / seeds[0])
}
