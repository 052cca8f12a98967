# Accuracy against the number of examples, one line per way, with intervals, as SVG.
function x(i) { return 80 + (i - 0.5) * 560 / sizes[0] }
function y(value) { return 350 - (value - low) * 290 / (high - low) }
END {
  low = 100
  for (i = 1; i <= sizes[0]; ++i) for (j = 1; j <= ways[0]; ++j) {
    mean = average(ways[j], sizes[i]); half = half_interval(ways[j], sizes[i])
    if (mean - half < low) low = mean - half
    if (mean + half > high) high = mean + half
  }
  low = 5 * int(low / 5); high = 5 * int(high / 5 + 1)
  split("#0072b2 #d55e00 #009e73 #cc79a7", color, " ")
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"720\" height=\"400\" viewBox=\"0 0 720 400\" font-family=\"sans-serif\" font-size=\"12\">"
  print "<title>Accuracy after fine-tuning on few examples and many</title>"
  for (tick = low; tick <= high; tick += 5) {
    printf "<path d=\"M80 %.1fH640\" stroke=\"#ddd\"/><text x=\"72\" y=\"%.1f\" text-anchor=\"end\">%d</text>\n", y(tick), y(tick) + 4, tick
  }
  for (i = 1; i <= sizes[0]; ++i) printf "<text x=\"%.1f\" y=\"372\" text-anchor=\"middle\">%s</text>\n", x(i), sizes[i]
  print "<text x=\"360\" y=\"392\" text-anchor=\"middle\">labelled examples</text><text x=\"80\" y=\"48\" text-anchor=\"end\">accuracy, %</text>"
  for (j = 1; j <= ways[0]; ++j) {
    line = ""
    for (i = 1; i <= sizes[0]; ++i) {
      at = x(i) + (j - (ways[0] + 1) / 2) * 8
      mean = average(ways[j], sizes[i]); half = half_interval(ways[j], sizes[i])
      line = line sprintf("%s%.1f %.1f", i == 1 ? "M" : "L", at, y(mean))
      printf "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"/><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", at, y(mean - half), y(mean + half), color[j], at, y(mean), color[j]
    }
    printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", line, color[j]
    printf "<path d=\"M%d 24h20\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%d\" y=\"28\">%s</text>\n", 100 + 140 * j, color[j], 126 + 140 * j, ways[j]
  }
  print "</svg>"
}
