# For each number of examples a line: the number, then mean accuracy and half the width of its interval for each way.
END {
  line = "examples"
  for (j = 1; j <= ways[0]; ++j) line = line OFS ways[j] OFS "interval"
  print line
  for (i = 1; i <= sizes[0]; ++i) {
    line = sizes[i]
    for (j = 1; j <= ways[0]; ++j) line = line OFS average(ways[j], sizes[i]) OFS half_interval(ways[j], sizes[i])
    print line
  }
}
