# Naive Bayes on words and pairs of neighbouring words, with add-one smoothing: a baseline to compare text classifiers
# with. Trains on the first file and prints the accuracy on the second one.
#
#     awk -f naive_bayes.awk train.tsv test.tsv          LABEL, a tab and the text per line, as finetune reads them
#
# The features of a text are its distinct words and pairs, in lower case. The predicted class has the largest
#
#     log p(class) + sum over features f of log (count(f, class) + 1) / (total(class) + V)
#
# count(f, class) being the number of training texts of the class that have f, total(class) the sum of these counts,
# and V the number of distinct features in training; features that did not occur there are left out.
BEGIN { FS = "\t" }

# Sets features[1..n] to the features of a text and returns n.
function extract(text,    words, w, n, i, has) {
  w = split(tolower(text), words, " ")
  for (i = 1; i <= w; ++i) {
    n = add(words[i], has, n)
    if (i < w) n = add(words[i] " " words[i + 1], has, n)
  }
  return n + 0
}

function add(feature, has, n) {
  if (!(feature in has)) features[++n] = feature
  has[feature]
  return n
}

function predicted(text,    n, i, class, score, best, best_score) {
  n = extract(text)
  for (class in texts) {
    score = log(texts[class])
    for (i = 1; i <= n; ++i) {
      if (features[i] in known) score += log((count[features[i], class] + 1) / (total[class] + vocabulary))
    }
    if (best == "" || score > best_score) { best = class; best_score = score }
  }
  return best
}

FNR == NR {
  ++texts[$1]
  for (i = extract($2); i > 0; --i) {
    if (!(features[i] in known)) ++vocabulary
    known[features[i]]
    ++count[features[i], $1]
    ++total[$1]
  }
  next
}

{ ++tested; correct += predicted($2) == $1 }

END {
  if (!tested) { print "naive_bayes.awk: takes two files with examples" > "/dev/stderr"; exit 1 }
  printf "accuracy %.4f\n", correct / tested
}
