#!/usr/bin/env python3
"""What finetune --ensemble auto chooses and what classify --evaluate says of it, beside peers and beside the truth.

  decisions.py peers TRAIN.tsv TEST.tsv [--labels N]...     accuracy and macro F1 beside scikit-learn's and fastText's
  decisions.py ece TRAIN.tsv TEST.tsv [--labels N]...       calibration error, also with other frequencies of classes
  decisions.py coverage TRAIN.tsv TEST.tsv [--metric NAME]  how often 95 % intervals contain the metric of all of TEST

Files have a LABEL, a tab and a TEXT on each line. --labels N: N texts of each class (all of them where it has fewer) in
five samples; without it: all of TRAIN. Peers are naive Bayes on words and pairs, logistic regression and a linear SVM on
their tf-idf with C by five folds, and fastText (its defaults, and pairs with 25 epochs and a rate of 0.5) where `fasttext`
is on PATH. `peers` also prints the choice's accuracy over the best of scikit-learn's with a 95 % interval, by the bootstrap
over the test texts. `ece` draws test sets in which the most frequent class has a third of its texts. `coverage` evaluates
one bag on 200 samples of 300 lines of TEST, drawn with replacement. --bin FOLDER: heddle's tools.
"""
import argparse
import json
import pathlib
import random
import shutil
import subprocess
import tempfile
import warnings

CLASSIFIERS = ("naive Bayes", "logistic", "SVM")  # scikit-learn's
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
    groups = [[row for row in rows if row[0] == label] for label in classes]
    drawn = [row for group in groups for row in draw.sample(group, min(count, len(group)))]
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

    def answers(self, model, texts):
        path = self.work / "asked.txt"
        path.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
        return [line.split("\t")[0] for line in self.run("classify", model, path).splitlines()]


def sklearn_answers(train, texts):
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
    labels, read_texts = zip(*train)
    return {name: list(model.fit(read_texts, labels).predict(texts)) for name, model in models.items()}


def fasttext_answers(train, texts, work):
    if not shutil.which("fasttext"):
        return {}
    names = {label.replace(" ", "_"): label for label, _ in train}
    lines = [f"__label__{label.replace(' ', '_')} {text.lower()}\n" for label, text in train]
    (work / "train.fasttext").write_text("".join(lines), encoding="utf-8")
    (work / "asked.fasttext").write_text("".join(text.lower() + "\n" for text in texts), encoding="utf-8")
    found = {}
    for name, words in (("fastText", []), ("fastText, pairs", ["-epoch", "25", "-lr", "0.5", "-wordNgrams", "2"])):
        learn = ["fasttext", "supervised", "-input", work / "train.fasttext", "-output", work / "fasttext"]
        if subprocess.run([*learn, "-thread", "1", "-verbose", "0", *words], capture_output=True).returncode != 0:
            continue  # it stops where it meets NaN, as with few labels of long texts
        asked = ["fasttext", "predict", work / "fasttext.bin", work / "asked.fasttext"]
        lines = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.splitlines()
        found[name] = [names.get(line.removeprefix("__label__")) for line in lines]
    return found


def macro_f1(gold, answers):
    classes = set(gold) | set(answers)
    both = [(g, a) for g, a in zip(gold, answers)]
    return mean(2 * sum(g == a == c for g, a in both) / sum((g == c) + (a == c) for g, a in both) for c in classes)


def samples(options):
    train = read(options.train)
    if not options.labels:
        yield "all", [train]
    for count in options.labels or []:
        yield str(count), [of_each_class(train, count, seed) for seed in range(1, 6)]


def mean(values):
    values = list(values)
    return sum(values) / len(values)


def difference(right, name, peer, draws=2000):
    """right[name] has a list for each sample: for each test text, whether it was answered correctly."""
    ours, others = ([mean(each) for each in zip(*right[who])] for who in (name, peer))
    each = [a - b for a, b in zip(ours, others)]
    draw = random.Random(1)
    means = sorted(mean(draw.choices(each, k=len(each))) for _ in range(draws))
    return f"{mean(each):+.3f} [{means[draws // 40]:+.3f}, {means[-1 - draws // 40]:+.3f}]"


def peers(options, heddle, work):
    gold, texts = zip(*read(options.test))
    for name, drawn in samples(options):
        right, f1, errors = {}, {}, []
        for rows in drawn:
            model = heddle.choose(write(work / "train.tsv", rows))
            answers = sklearn_answers(rows, texts) | fasttext_answers(rows, texts, work)
            answers["chosen"] = heddle.answers(model, texts)
            for who, given in answers.items():
                right.setdefault(who, []).append([g == a for g, a in zip(gold, given, strict=True)])
                f1.setdefault(who, []).append(macro_f1(gold, given))
            errors.append(heddle.evaluate(model, options.test)["ece"])
        accuracy = {who: mean(map(mean, lists)) for who, lists in right.items()}
        best = max((who for who in accuracy if who in CLASSIFIERS), key=accuracy.get)
        table = "  ".join(f"{who} {accuracy[who]:.3f} (F1 {mean(f1[who]):.3f})" for who in accuracy)
        print(f"{name:>4}  {table}  ECE {mean(errors):.3f}  over {best} {difference(right, 'chosen', best)}", flush=True)


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
              f"with shifted frequencies {mean(f[1] for f in found):.4f}", flush=True)


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
