# Random graphs of four communities (a stochastic block model): writes PREFIX.nodes.csv and PREFIX.edges.csv. Two nodes
# of one community are joined with the probability 0.12, others with 0.01. Half of the nodes show their community as
# `hint`, the others one at random. Prints the ROC-AUC of knowing every community, of a pair that is joined against one
# that is not: what an answer can reach on average.
BEGIN {
  srand(seed)
  communities = 4
  within = 0.12
  between = 0.01
  print "id,hint" > (prefix ".nodes.csv")
  print "source,target" > (prefix ".edges.csv")
  for (i = 1; i <= nodes; ++i) {
    community[i] = int(rand() * communities)
    hint = rand() < 0.5 ? community[i] : int(rand() * communities)
    printf "n%d,%c\n", i, 97 + hint > (prefix ".nodes.csv")
    for (j = 1; j < i; ++j) {
      alike = community[i] == community[j]
      joined = rand() < (alike ? within : between)
      ++pairs[alike, joined]
      if (joined) printf "n%d,n%d\n", i, j > (prefix ".edges.csv")
    }
  }
  hits = pairs[1, 1] / (pairs[1, 1] + pairs[0, 1])
  misses = pairs[1, 0] / (pairs[1, 0] + pairs[0, 0])
  printf "knowing the communities: roc_auc %.4f\n", (1 + hits - misses) / 2
}
