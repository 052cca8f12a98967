# Fits the law of losses that pretrain --budget plans by (libcore/models/recipe.hpp) to lines SHAPE, tab, parameters of the layers, tab,
# tokens, tab, tokens of one pass, tab, loss: least squares of the logarithms, by the simplex of Nelder and Mead from several starts.
# Prints the numbers, and for each line what they predict.
function worth(i, again) {
  again = units[i] / unique[i] - 1
  return again <= 0 ? units[i] : unique[i] * (1 + repeats * (1 - exp(-again / repeats)))
}
function predicted(p, s, i) {
  return p[s, 1] + p[s, 2] * (count[i] / 1e6) ^ -p[s, 3] + p[s, 4] * (worth(i) / 1e6) ^ -p[s, 5]
}
# Of point s of the simplex p.
function cost(p, s, i, sum, k) {
  for (k = 1; k <= 5; ++k) if (p[s, k] <= 0 || (k % 2 == 1 && k > 1 && p[s, k] > 1.5)) return 1e9
  for (i = 1; i <= n; ++i) sum += (log(predicted(p, s, i)) - log(loss[i])) ^ 2
  return sum
}
# Point `to` is c + factor (worst - c), c the mean of all points but the worst.
function move(p, worst, factor, to, k, s, c) {
  for (k = 1; k <= 5; ++k) {
    c = 0
    for (s = 1; s <= 6; ++s) if (s != worst) c += p[s, k] / 5
    p[to, k] = c + factor * (p[worst, k] - c)
  }
  return cost(p, to)
}
function copy(p, from, to, k) { for (k = 1; k <= 5; ++k) p[to, k] = p[from, k] }
function descend(p, f, step, s, k, best, worst, second, trial) {
  for (s = 1; s <= 6; ++s) {
    for (k = 1; k <= 5; ++k) p[s, k] = p[0, k] * (s == k + 1 ? 1.15 : 1)
    f[s] = cost(p, s)
  }
  for (step = 0; step < 3000; ++step) {
    best = worst = 1
    for (s = 2; s <= 6; ++s) { if (f[s] < f[best]) best = s; if (f[s] > f[worst]) worst = s }
    second = best
    for (s = 1; s <= 6; ++s) if (s != worst && f[s] > f[second]) second = s
    if (f[worst] - f[best] < 1e-14) break
    trial = move(p, worst, -1, 7)
    if (trial < f[best]) {
      f[8] = move(p, worst, -2, 8)
      if (f[8] < trial) { copy(p, 8, worst); f[worst] = f[8] } else { copy(p, 7, worst); f[worst] = trial }
    } else if (trial < f[second]) {
      copy(p, 7, worst); f[worst] = trial
    } else if ((trial = move(p, worst, 0.5, 7)) < f[worst]) {
      copy(p, 7, worst); f[worst] = trial
    } else {
      for (s = 1; s <= 6; ++s) {
        for (k = 1; k <= 5; ++k) p[s, k] = (p[s, k] + p[best, k]) / 2
        f[s] = cost(p, s)
      }
    }
  }
  copy(p, best, 0)
  return f[best]
}
BEGIN { FS = "\t"; repeats = 15 }
{ ++n; shape[n] = $1; count[n] = $2; units[n] = $3; unique[n] = $4; loss[n] = $5; if (!least || $5 < least) least = $5 }
END {
  srand(1)
  lowest = 1e9
  for (start = 0; start < 40; ++start) {
    p[0, 1] = least * (0.3 + 0.6 * rand()); p[0, 2] = 0.02 + 0.5 * rand() * least; p[0, 3] = 0.1 + 0.7 * rand()
    p[0, 4] = 0.1 + rand() * least; p[0, 5] = 0.1 + 0.9 * rand()
    found = descend(p, f)
    if (found < lowest) { lowest = found; for (k = 1; k <= 5; ++k) best[0, k] = p[0, k] }
  }
  printf "floor %.4g, width %.4g, width_power %.4g, data %.4g, data_power %.4g; root mean square of the relative error %.2g\n",
    best[0, 1], best[0, 2], best[0, 3], best[0, 4], best[0, 5], sqrt(lowest / n)
  printf "%-14s %12s %12s %9s %9s\n", "shape", "parameters", "tokens", "loss", "predicted"
  for (i = 1; i <= n; ++i) printf "%-14s %12d %12d %9.4f %9.4f\n", shape[i], count[i], units[i], loss[i], predicted(best, 0, i)
}
