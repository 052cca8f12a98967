# Draws the files curves.TABLE.WIDTH.STEPS.tsv of the benchmark, in a row for each number of steps: what is left of the
# loss, by the step, on a logarithmic scale.
BEGIN {
  FS = "\t"
  colour["adam"] = "#d95f02"; colour["sgd"] = "#7570b3"; colour["rule"] = "#1b9e77"
  wide = 210; high = 170; left = 45; top = 40
}
FNR == 1 {
  name = FILENAME
  sub(/.*curves\./, "", name)
  split(name, parts, ".")
  ++files
  if (!(parts[3] in row)) row[parts[3]] = rows++
  case_name = parts[1] "." parts[2]
  if (!(case_name in column)) column[case_name] = columns++
  title[files] = parts[1] ", width " parts[2] ", " parts[3] " steps"
  at_row[files] = row[parts[3]]; at_column[files] = column[case_name]; steps[files] = parts[3]
}
{
  method = $1 == "adam" || $1 == "sgd" ? $1 : "rule"
  n = ++points[files, method]
  x[files, method, n] = $3
  y[files, method, n] = $4
  if (low[files] == "" || $4 < low[files]) low[files] = $4
}
function across(file, step) { return left + at_column[file] * (wide + left) + step / steps[file] * wide }
# From 1 at the top down to half of the least.
function down(file, value) {
  if (value > 1) value = 1
  return top + at_row[file] * (high + top) + log(value) / log(low[file] / 1.2) * high
}
function text(x, y, anchor, what) {
  printf "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, what
}
END {
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n", columns * (wide + left) + 15, rows * (high + top) + 45
  print "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
  for (f = 1; f <= files; ++f) {
    x0 = across(f, 0); y0 = down(f, 1)
    printf "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n", x0, y0, wide, high
    text(x0 + wide / 2, y0 - 6, "middle", title[f])
    text(x0 - 4, y0 + 4, "end", "1")
    text(x0 - 4, y0 + high, "end", sprintf("%.2g", low[f] / 1.2))
    for (m = 1; m <= 3; ++m) {
      method = m == 1 ? "sgd" : m == 2 ? "adam" : "rule"
      path = ""
      for (n = 1; n <= points[f, method]; ++n) path = path sprintf("%.1f,%.1f ", across(f, x[f, method, n]), down(f, y[f, method, n]))
      printf "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.8\" points=\"%s\"/>\n", colour[method], path
    }
  }
  base = rows * (high + top) + 35
  split("rule adam sgd", order, " ")
  label["rule"] = "learned rule (" rule ")"; label["adam"] = "Adam, best rate"; label["sgd"] = "SGD, best rate"
  for (m = 1; m <= 3; ++m) {
    printf "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"3\"/>\n", left + (m - 1) * 180, base - 4, left + 24 + (m - 1) * 180, base - 4, colour[order[m]]
    text(left + 30 + (m - 1) * 180, base, "start", label[order[m]])
  }
  print "</svg>"
}
