# Puts a random number and a tab before each line, for sort: the same numbers wherever awk runs (Park and Miller's
# "minimal standard" generator, 1988), another order for each -v seed=N.
BEGIN {
  state = (seed * 48271 + 11) % 2147483647
  for (i = 0; i < 10; ++i) draw()
}
function draw() { return state = state * 48271 % 2147483647 }
{ printf "%010d\t%s\n", draw(), $0 }
