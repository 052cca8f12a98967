# Points in [-1, 1]^width on the two sides of a random plane through the origin, none of them nearer to it than `margin`:
#
#     awk -v seed=1 -v points=200 -v width=5 -v margin=0.1 -f points.awk
#
# The first line is the plane's unit vector; the others are a class, 1 or -1, and a point, tab-separated.
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN {
  OFS = "\t"
  srand(seed)
  for (i = 1; i <= width; ++i) { u[i] = normal(); squares += u[i] * u[i] }
  line = "plane"
  for (i = 1; i <= width; ++i) { u[i] /= sqrt(squares); line = line OFS sprintf("%.17g", u[i]) }
  print line
  while (made < points) {
    along = 0
    for (i = 1; i <= width; ++i) { x[i] = 2 * rand() - 1; along += u[i] * x[i] }
    if (along < margin && along > -margin) continue
    line = along > 0 ? 1 : -1
    for (i = 1; i <= width; ++i) line = line OFS sprintf("%.17g", x[i])
    print line
    ++made
  }
}
