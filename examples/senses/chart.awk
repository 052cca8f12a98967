# The table as a picture: for each word a bar for the accuracy, and a line across it where the most frequent sense is.
NR > 1 && NF == 5 && $1 != "mean" { word[++n] = $1; accuracy[n] = $3; frequent[n] = $4 }
END {
  left = 80; width = 500; height = 20
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\">\n", left + width + 60, height * (n + 3)
  print "<style>text { font: 12px sans-serif; fill: #333 }</style>\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  printf "<text x=\"%d\" y=\"16\">accuracy, %%; black: always the most frequent sense</text>\n", left
  for (tick = 0; tick <= 100; tick += 20) {
    x = left + width * tick / 100
    printf "<path d=\"M%g %dV%d\" stroke=\"#ddd\"/>\n", x, height * 1.5, height * (n + 1.8)
    printf "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%d</text>\n", x, height * (n + 2.5), tick
  }
  for (i = 1; i <= n; ++i) {
    y = height * (i + 0.6)
    x = left + width * frequent[i] / 100
    printf "<text x=\"%d\" y=\"%g\" text-anchor=\"end\">%s</text>\n", left - 8, y + 12, word[i]
    printf "<rect x=\"%d\" y=\"%g\" width=\"%g\" height=\"%d\" fill=\"#0072b2\"/>\n", left, y, width * accuracy[i] / 100, height - 5
    printf "<path d=\"M%g %gv%d\" stroke=\"black\" stroke-width=\"3\"/>\n", x, y - 2, height - 1
    printf "<text x=\"%g\" y=\"%g\">%.1f</text>\n", left + width * accuracy[i] / 100 + 5, y + 12, accuracy[i]
  }
  print "</svg>"
}
