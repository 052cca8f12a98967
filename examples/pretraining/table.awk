# Converts logs named WAY.SIZE.SEED.jsonl to one line per evaluation: way, size, seed, step, accuracy.
BEGIN { OFS = "\t" }
FNR == 1 {
  name = FILENAME
  sub(/.*\//, "", name)
  split(name, part, ".")
}
match($0, /"valid_accuracy":[0-9.e+-]+/) {
  accuracy = substr($0, RSTART + 17, RLENGTH - 17)
  match($0, /"step":[0-9]+/)
  print part[1], part[2], part[3], substr($0, RSTART + 7, RLENGTH - 7), accuracy
}
