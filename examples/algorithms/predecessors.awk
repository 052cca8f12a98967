# How many nodes have the right predecessor: awk -f predecessors.awk EDGES.csv ANSWERS.tsv
#
# ANSWERS are those of classify: graph, edge (a>b), label, its probability. A node is right if, of the edges into it that
# have a label in EDGES, the one from its predecessor is marked, and no other.
FNR == NR {
  split($0, field, ",")
  if (FNR > 1 && field[5] != "") gold[field[1], field[2] ">" field[3]] = field[5]
  next
}
{
  split($0, field, "\t")
  if (!((field[1], field[2]) in gold)) next
  split(field[2], ends, ">")
  node = field[1] SUBSEP ends[2]
  if (!(node in wrong)) ++all
  wrong[node] += field[3] != gold[field[1], field[2]]
}
END {
  for (node in wrong) right += !wrong[node]
  printf "accuracy %.4f\n", right / all
}
