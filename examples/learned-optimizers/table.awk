# A line for each file curves.TABLE.WIDTH.STEPS.tsv of the benchmark: what each method leaves after all steps.
BEGIN {
  FS = "\t"
  OFS = "\t"
  print "table", "width", "steps", "learned rule", "Adam", "its rate", "SGD", "its rate"
}
FNR == 1 && NR > 1 { show() }
{
  name = FILENAME
  last[$1] = $4
  rate[$1] = $2
  if ($1 != "adam" && $1 != "sgd") learned = $1
}
END { show() }
function show(  parts, count) {
  sub(/.*curves\./, "", name)
  split(name, parts, ".")
  printf "%s\t%s\t%s\t%.4f\t%.4f\t%.3g\t%.4f\t%.3g\n", parts[1], parts[2], parts[3], last[learned], last["adam"], rate["adam"], last["sgd"], rate["sgd"]
}
