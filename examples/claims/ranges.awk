# For a picture: variant, mean, least and largest of the column `value` of a table of runs.
BEGIN { FS = "\t" }
NR == 1 { for (i = 1; i <= NF; ++i) if ($i == value) column = i; next }
{
  if (!($1 in sum)) { variants[++count] = $1; least[$1] = largest[$1] = $column }
  sum[$1] += $column
  ++runs[$1]
  if ($column < least[$1]) least[$1] = $column
  if ($column > largest[$1]) largest[$1] = $column
}
END { for (i = 1; i <= count; ++i) { v = variants[i]; print v, sum[v] / runs[v], least[v], largest[v] } }
