# Rosenblatt's perceptron: for each point x of class y, w += y x where y (w . x) <= 0, in passes over all points until
# one makes no mistake, or w is what it was after an earlier pass and so will be again (Rosenblatt 1958, "The
# perceptron"). Lines are a class, 1 or -1, and the point's numbers, to which a 1 is appended where `bias` is set.
#
# A first line `plane` is a unit vector u that separates the classes. Then there are at most (R / g)^2 mistakes, with R
# the largest |x| and g the least y (u . x) (Novikoff 1962, "On convergence proofs on perceptrons"); more are an error.
BEGIN { FS = "\t" }
$1 == "plane" {
  for (i = 2; i <= NF; ++i) u[i - 1] = $i
  has_plane = 1
  next
}
{
  ++count
  class[count] = $1
  width = NF - 1
  squares = along = 0
  for (i = 1; i <= width; ++i) {
    x[count, i] = $(i + 1)
    along += $1 * u[i] * x[count, i]
  }
  if (bias) x[count, ++width] = 1
  for (i = 1; i <= width; ++i) squares += x[count, i] * x[count, i]
  if (squares > radius) radius = squares  # squared
  if (count == 1 || along < gap) gap = along
}
function state(  i, text) {
  for (i = 1; i <= width; ++i) text = text " " sprintf("%.17g", w[i])
  return text
}
END {
  for (i = 1; i <= width; ++i) w[i] = 0
  for (pass = 1; ; ++pass) {
    wrong = 0
    for (n = 1; n <= count; ++n) {
      sum = 0
      for (i = 1; i <= width; ++i) sum += w[i] * x[n, i]
      if (class[n] * sum > 0) continue
      ++wrong
      for (i = 1; i <= width; ++i) w[i] += class[n] * x[n, i]
    }
    mistakes += wrong
    if (wrong == 0) break
    now = state()
    if (now in seen) {
      printf "perceptron: the weights after pass %d are those after pass %d, so it never stops; %d mistakes a pass\n", pass, seen[now], wrong
      exit has_plane
    }
    seen[now] = pass
  }
  printf "perceptron: %d points, %d mistakes in %d passes", count, mistakes, pass
  if (!has_plane) {
    print ""
    exit
  }
  bound = radius / (gap * gap)
  printf ", at most %.0f by (R / g)^2\n", int(bound)
  if (mistakes > bound) {
    print "perceptron.awk: more mistakes than Novikoff's bound allows" > "/dev/stderr"
    exit 1
  }
}
