#!/usr/bin/env python3
"""What finetune --ensemble auto chooses and what classify --evaluate says of it, beside peers and beside the truth.

  decisions.py peers TRAIN.tsv TEST.tsv [--labels N]...     accuracy beside scikit-learn's classifiers and fastText
  decisions.py ece TRAIN.tsv TEST.tsv [--labels N]...       calibration error, also with other frequencies of classes
  decisions.py coverage TRAIN.tsv TEST.tsv [--metric NAME]  how often 95 % intervals contain the metric of all of TEST

Files have a LABEL, a tab and a TEXT on each line. --labels N: N texts of each class in five samples (without it: all of
TRAIN); peers are naive Bayes on words and pairs, logistic regression and a linear SVM on their tf-idf with C by five
folds, and fastText (its defaults, and pairs with 25 epochs and a rate of 0.5) where `fasttext` is on PATH. `ece` draws
test sets in which the most frequent class has a third of its texts. `coverage` evaluates one bag on 200 samples of 300
lines of TEST, drawn with replacement. --bin FOLDER: heddle's tools.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import warnings

HERE = pathlib.Path(__file__).resolve().parents[2]


def read(path):
    with open(path, encoding="utf-8", newline="\n") as lines:
        return [line.rstrip("\r\n").split("\t", 1) for line in lines if line.strip()]


def write(path, rows):
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), encoding="utf-8")
    return path


def of_each_class(rows, count, seed):
    draw = random.Random(seed)
    classes = sorted({label for label, _ in rows})
    drawn = [row for c in classes for row in draw.sample([r for r in rows if r[0] == c], count)]
    draw.shuffle(drawn)  # fastText learns in the order of the file
    return drawn


class Heddle:
    def __init__(self, folder, work):
        self.folder, self.work = pathlib.Path(folder), work

    def run(self, tool, *words):
        done = subprocess.run([self.folder / tool, "-q", *map(str, words)], capture_output=True, text=True, check=True)
        return done.stdout

    def choose(self, train, seed=1):
        for old in self.work.glob("chosen*"):
            old.unlink()
        model = self.work / "chosen.h5"
        self.run("finetune", "--ensemble", "auto", "--train", train, "--seed", seed, "-o", model)
        return model

    def evaluate(self, model, test, metric="auto", seed=1):
        words = ["--evaluate", "--json", "--metric", metric, "--seed", seed]
        return json.loads(self.run("classify", model, test, *words))


def sklearn_accuracies(train, test):
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import LinearSVC

    warnings.filterwarnings("ignore", category=ConvergenceWarning)
    words = {"ngram_range": (1, 2), "token_pattern": r"\w+|[^\w\s]"}
    grid = [0.01, 0.1, 1, 10, 100]

    def tuned(classifier, name):
        pipeline = make_pipeline(TfidfVectorizer(sublinear_tf=True, **words), classifier)
        return GridSearchCV(pipeline, {name + "__C": grid}, cv=5)

    models = {
        "naive Bayes": make_pipeline(CountVectorizer(binary=True, **words), MultinomialNB()),
        "logistic": tuned(LogisticRegression(max_iter=2000), "logisticregression"),
        "SVM": tuned(LinearSVC(), "linearsvc"),
    }
    labels, texts = zip(*train)
    gold, asked = zip(*test)
    return {name: model.fit(texts, labels).score(asked, gold) for name, model in models.items()}


def fasttext_accuracies(train, test, work):
    if not shutil.which("fasttext"):
        return {}
    for name, rows in (("train", train), ("test", test)):
        lines = [f"__label__{label.replace(' ', '_')} {text.lower()}\n" for label, text in rows]
        (work / f"{name}.fasttext").write_text("".join(lines), encoding="utf-8")
    found = {}
    for name, words in (("fastText", []), ("fastText, pairs", ["-epoch", "25", "-lr", "0.5", "-wordNgrams", "2"])):
        learn = ["fasttext", "supervised", "-input", work / "train.fasttext", "-output", work / "fasttext"]
        if subprocess.run([*learn, "-thread", "1", "-verbose", "0", *words], capture_output=True).returncode != 0:
            found[name] = float("nan")  # it stops where it meets NaN, as with few labels of long texts
            continue
        asked = ["fasttext", "test", work / "fasttext.bin", work / "test.fasttext"]
        lines = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()
        found[name] = next(float(line.split()[1]) for line in lines if line.startswith("P@1"))
    return found


def samples(options):
    train = read(options.train)
    if not options.labels:
        yield "all", [train]
    for count in options.labels or []:
        yield str(count), [of_each_class(train, count, seed) for seed in range(1, 6)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def peers(options, heddle, work):
    test = read(options.test)
    for name, drawn in samples(options):
        found = []
        for rows in drawn:
            accuracies = sklearn_accuracies(rows, test) | fasttext_accuracies(rows, test, work)
            report = heddle.evaluate(heddle.choose(write(work / "train.tsv", rows)), options.test)
            found.append(accuracies | {"chosen": report["accuracy"], "ECE": report["ece"]})
        print(f"{name:>4}  " + "  ".join(f"{key} {mean(each[key] for each in found):.3f}" for key in found[0]), flush=True)


def shifted(rows):
    counts = {label: sum(row[0] == label for row in rows) for label, _ in rows}
    usual = max(sorted(counts), key=counts.get)
    kept = iter(range(len(rows)))
    return [row for row in rows if row[0] != usual or next(kept) % 3 == 0]


def ece(options, heddle, work):
    test = read(options.test)
    other = write(work / "shifted.tsv", shifted(test))
    for name, drawn in samples(options):
        found = []
        for rows in drawn:
            model = heddle.choose(write(work / "train.tsv", rows))
            found.append([heddle.evaluate(model, path)["ece"] for path in (options.test, other)])
        print(f"{name:>4}  {len(drawn[0])} texts: ECE {mean(f[0] for f in found):.4f}, "
              f"of other frequencies of classes {mean(f[1] for f in found):.4f}", flush=True)


def coverage(options, heddle, work):
    model = heddle.choose(options.train)
    rows = read(options.test)
    truth = heddle.evaluate(model, options.test, options.metric)
    name = truth["interval"]["metric"]
    inside = 0
    draw = random.Random(1)
    for seed in range(options.samples):
        drawn = write(work / "drawn.tsv", draw.choices(rows, k=options.size))
        interval = heddle.evaluate(model, drawn, options.metric, seed)["interval"]
        inside += interval["low"] <= truth[name] <= interval["high"]
    print(f"{name} {truth[name]:.4f} of {len(rows)} texts is in {inside} of {options.samples} intervals "
          f"({100 * inside / options.samples:.1f} %) of {options.size} texts each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measure", choices=["peers", "ece", "coverage"])
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--labels", type=int, action="append")
    parser.add_argument("--metric", default="auto")
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--size", type=int, default=300)
    parser.add_argument("--bin", default=HERE / "build/release/bin")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        {"peers": peers, "ece": ece, "coverage": coverage}[options.measure](options, Heddle(options.bin, work), work)


if __name__ == "__main__":
    main()
