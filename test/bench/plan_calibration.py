#!/usr/bin/python3
"""The constants of privpred.plan(), and how far it is from what is measured.

usage: plan_calibration.py fit|compare DATA [STEM...]

Uses the server that psql finds (PGHOST, PGPORT, ...; a throw-away database
with the extension), and DATA as described in docs/planning.md.  "fit" trains
ensembles, reads their votes and fits the two constants of each learner; "compare"
prints what plan() expects beside what evaluate() measures.  Needs numpy and
scipy, as Debian packages them.
"""
import csv
import gzip
import itertools
import json
import math
import subprocess
import sys

import numpy as np
from scipy.optimize import minimize
from scipy.stats import norm

EPSILONS = (.02, .05, .1, .2, .5, 1)

# Declared bounds; other columns of the raw sets are categories.
BOUNDS = {
    'bank_raw': dict(age=(18, 95), balance=(-3000, 20000), day=(1, 31), duration=(0, 1500), campaign=(1, 20),
                     pdays=(-1, 400), previous=(0, 10)),
    'german_raw': dict(duration=(4, 72), amount=(0, 20000), rate=(1, 4), residence=(1, 4), age=(18, 75),
                       credits=(1, 4), liable=(1, 2)),
    'pima': dict(pregnant=(0, 17), glucose=(40, 200), pressure=(30, 120), triceps=(0, 60), insulin=(0, 500),
                 mass=(15, 60), pedigree=(0, 2.5), age=(20, 80)),
}
ONE_RANGE = {'adult': (0, 1), 'mnist7x7': (0, 255)}


def sql(text):
    run = subprocess.run(['psql', '-qAtX', '-v', 'ON_ERROR_STOP=1'], input=text, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return run.stdout.strip()


def quote(text):
    return "'" + text.replace("'", "''") + "'"


class DataSet:
    """Tables STEM_train and STEM_test, and what an owner would declare of them."""

    def __init__(self, root, stem):
        self.stem = stem
        with gzip.open(f'{root}/{stem}_train.csv.gz', 'rt') as lines:
            rows = list(csv.reader(lines))
        header, rows = rows[0], rows[1:]
        self.rows, self.label = len(rows), header[-1]
        self.classes = sorted({row[-1] for row in rows})
        self.features = {}
        for i, name in enumerate(header[1:-1], 1):
            bounds = ONE_RANGE.get(stem) or BOUNDS.get(stem, {}).get(name)
            self.features[name] = (dict(min=bounds[0], max=bounds[1]) if bounds
                                   else dict(levels=sorted({row[i] for row in rows})))
        self.width = sum(len(f.get('levels', 'x')) for f in self.features.values())
        for split in ('train', 'test'):
            columns = ', '.join(f'"{n}" {"float8" if "min" in f else "text"}' for n, f in self.features.items())
            sql(f'''SET client_min_messages = error; DROP TABLE IF EXISTS {stem}_{split};
                CREATE TABLE {stem}_{split} (id int PRIMARY KEY, {columns}, "{self.label}" text);
                \\copy {stem}_{split} FROM PROGRAM 'zcat {root}/{stem}_{split}.csv.gz' CSV HEADER''')

    def table(self, units):
        """A table of so many of the rows, protected."""
        if units >= self.rows:
            name = f'{self.stem}_train'
        else:
            name = f'{self.stem}_{units}'
            sql(f'''SET client_min_messages = error; DROP TABLE IF EXISTS {name};
                CREATE TABLE {name} (LIKE {self.stem}_train INCLUDING ALL);
                INSERT INTO {name} SELECT * FROM {self.stem}_train ORDER BY hashint4(id) LIMIT {units}''')
        sql(f"SET client_min_messages = error; SELECT privpred.protect('{name}', declared_units => {units})")
        return name

    def create(self, table, parameters):
        """The statement that trains a model called calibration."""
        classes = ', '.join(quote(c) for c in self.classes)
        return (f"SET client_min_messages = error; SET maintenance_work_mem = '1GB'; "
                f"SELECT privpred.create_model('calibration', '{table}', label => '{self.label}', "
                f"classes => ARRAY[{classes}], features => {quote(json.dumps(self.features))}, {parameters}) IS NULL;")

    def votes(self, units, teachers, learner):
        """Counts of votes, classes wide, and the right class, of test rows."""
        columns = ', '.join(f'"{n}"' for n in self.features)
        out = sql(self.create(self.table(units), f"learner => '{learner}', teachers => {teachers}") + f'''
            SELECT "{self.label}", privpred.votes(predictor, privpred.encode(features, ROW({columns})))
              FROM (SELECT m.predictor, v.features FROM privpred.model m JOIN privpred.models v USING (name)
                     WHERE name = 'calibration') m,
                   (SELECT * FROM {self.stem}_test ORDER BY hashint4(id) LIMIT 3000) t;
            SELECT privpred.drop_model('calibration')''')
        lines = [line.split('|') for line in out.splitlines() if '{' in line]
        votes = [json.loads(v) for _, v in lines]
        return (np.array([[v.get(c, 0) for c in self.classes] for v in votes]),
                np.array([self.classes.index(y) for y, _ in lines]))

    def evaluate(self, table, parameters):
        out = sql(self.create(table, parameters) + f'''
            SELECT private_accuracy, approximate_accuracy FROM privpred.evaluate('calibration', '{self.stem}_test');
            SELECT privpred.drop_model('calibration')''')
        return [float(x) for line in out.splitlines() if '|' in line for x in line.split('|')]


# ---------- the law of votes, as in src/mechanism/plan_law.c ----------

NODES = (-2.8569700138728, -1.3556261799743, 0, 1.3556261799743, 2.8569700138728)
WEIGHTS = (.011257411327721, .22207592200561, .53333333333333, .22207592200561, .011257411327721)
EDGES = np.arange(-80, 120) * .1


def law_vote(accuracy, classes, variance, bias, teachers, epsilon):
    mu = norm.ppf(accuracy - bias * variance / (1 + variance))
    mass = norm.cdf(EDGES + .1 - mu) - norm.cdf(EDGES - mu)
    share = norm.cdf((EDGES + .05) / math.sqrt(max(variance, 1e-6)))
    total = 0
    for node, weight in zip(NODES, WEIGHTS):
        right = np.clip(teachers * share + node * np.sqrt(teachers * share * (1 - share)), 0, teachers)
        a, b = (np.exp(np.clip(epsilon / 2 * x, -600, 600)) for x in (2 * right - teachers, right))
        total += weight * (mass / (1 + 1 / a + (classes - 2) / b)).sum()
    return total


def exponential(votes, labels, epsilon):
    z = np.exp((votes - votes.max(1, keepdims=True)) * epsilon / 2)
    return (z / z.sum(1, keepdims=True))[np.arange(len(labels)), labels].mean()


def fit(sets):
    constant = {'logistic': 10, 'boost': 0}
    for learner in constant:
        cells = []
        for data in sets:
            votes, labels = data.votes(data.rows, 1, learner)
            plain = (votes.argmax(1) == labels).mean()
            print(f'{data.stem}: one {learner} model is right {plain:.3f}')
            for teachers in (5, 25, 100, 400, 1000):
                if data.rows / teachers < 15:
                    continue
                votes, labels = data.votes(data.rows, teachers, learner)
                cells += [(data, teachers, plain, e, exponential(votes, labels, e)) for e in EPSILONS]

        def predict(p, cell):
            data, teachers, plain, epsilon, _ = cell
            k = len(data.classes)
            variance = abs(p[0]) * (data.width + constant[learner]) * (k - 1) * teachers / data.rows
            return law_vote(plain, k, variance, p[1], teachers, epsilon)

        weight = lambda cell: min(6, cell[0].rows / 1000)
        best = minimize(lambda p: sum(weight(c) * (predict(p, c) - c[4]) ** 2 for c in cells), (.3, .06),
                        method='Nelder-Mead', options=dict(maxiter=80)).x
        print(f'{learner}: per_feature {best[0]:.3f}, bias {best[1]:.3f}')
        for (data, teachers), group in itertools.groupby(cells, lambda c: (c[0], c[1])):
            print(f'  {data.stem:10} {teachers:5} teachers: measured/difference at epsilon {EPSILONS}: ' +
                  ' '.join(f'{c[4]:.3f}/{predict(best, c) - c[4]:+.3f}' for c in group))


def compare(sets):
    known, differences = {}, ([], [])
    for data in sets:
        votes, labels = data.votes(data.rows, 1, 'logistic')
        plain = round(float((votes.argmax(1) == labels).mean()), 3)
        baseline = round(float(np.bincount(labels).max() / len(labels)), 3)
        print(f'{data.stem}: accuracy => {plain}, baseline => {baseline}')
        for units, (epsilon, delta, answers) in itertools.product(
                (data.rows, data.rows // 4), ((1, 0, 1), (.5, 0, 10), (1, 1e-6, 100), (1, 1e-6, 1000), (4, 1e-6, 1000))):
            table = data.table(units)
            for declared in ('', f', baseline => {baseline}'):
                plan = sql(f'''SELECT mechanism, expected_accuracy, parameters FROM privpred.plan(n => {units},
                    features => {data.width}, classes => {len(data.classes)}, epsilon => {epsilon}, delta => {delta},
                    answers => {answers}, accuracy => {plain}, learner => 'logistic'{declared})
                    WHERE mechanism IN ('vote', 'gradient') AND parameters IS NOT NULL''')
                for line in plan.splitlines():
                    mechanism, expected, parameters = line.split('|')
                    if (table, parameters) not in known:
                        known[table, parameters] = data.evaluate(table, parameters)[1 if delta else 0]
                    measured = known[table, parameters]
                    differences[declared != ''].append(abs(measured - float(expected)))
                    print(f'  n {units:6} budget ({epsilon}, {delta:g}) {answers:5} answers {mechanism:9}'
                          f' expected {float(expected):.3f} measured {measured:.3f} {float(expected) - measured:+.3f}{declared}',
                          flush=True)
    for declared in (False, True):
        print(f'{"with" if declared else "without"} baseline: {len(differences[declared])} cells, '
              f'{sum(d > .02 for d in differences[declared])} differ by more than 0.02; largest difference {max(differences[declared]):.3f}')


if __name__ == '__main__':
    if len(sys.argv) < 3 or sys.argv[1] not in ('fit', 'compare'):
        sys.exit(__doc__)
    stems = sys.argv[3:] or ['adult', 'bank_raw', 'mnist7x7']
    {'fit': fit, 'compare': compare}[sys.argv[1]]([DataSet(sys.argv[2], stem) for stem in stems])
