#!/usr/bin/python3
"""Is what privpred.plan() recommends the best there is?

usage: recommend.py [--baseline] DATA CACHE [STEM...]

For every data set, size, budget and number of answers: trains every mechanism
that the plan prices, with the parameters that it suggests, and votes of many
ensembles of both learners besides; measures all of them by privpred.evaluate()
on the same test rows; and prints what the recommended one lacks of the best
(regret).  Measurements are kept in the file CACHE (JSON), so that a plan with
other constants is judged in seconds.  With --baseline the plan is told the share
of the commonest class.  Uses the server that psql finds, as
plan_calibration.py does.
"""
import itertools
import json
import os
import re
import sys

from plan_calibration import BOUNDS, DataSet, ONE_RANGE, sql

# (epsilon, delta, answers)
BUDGETS = ((1, 0, 1), (1, 0, 10), (.5, 0, 10), (1, 0, 100), (5, 0, 100), (.2, 1e-6, 10), (1, 1e-6, 10), (1, 1e-6, 100), (1, 1e-6, 1000),
           (1, 1e-6, 10000), (4, 1e-6, 100), (4, 1e-6, 1000), (4, 1e-6, 10000))
ENSEMBLES = (5, 11, 25, 51, 101, 201, 501, 1001, 2001)
MECHANISMS = ('vote', 'average', 'gradient', 'distill', 'stable_erm', 'sparse', 'cover', 'threshold', 'stable_flip', 'relabel')
EVALUATED, PUBLIC = 4000, 6400

# Sizes; what is left of the training rows is public, without labels.
SIZES = {'adult': (30000, 8000, 2000), 'bank_raw': (29000, 8000, 2000), 'mnist7x7': (53000, 15000),
         'german_raw': (800,), 'pima': (614,), 'adult_gain': (30000, 2000), 'adult_sex': (30000, 8000, 2000),
         'mnist_odd': (30000, 8000, 2000)}

# Other questions about these: one column, for mechanisms of one feature, and two that no constant of the plan comes from.
QUESTIONS = {'adult_gain': dict(source='adult_raw', only='capital_gain'), 'adult_sex': dict(source='adult_raw', label='sex'),
             'mnist_odd': dict(source='mnist7x7', relabel="(digit::int % 2)::text")}
BOUNDS['adult_raw'] = dict(age=(17, 90), fnlwgt=(0, 1500000), education_num=(1, 16), capital_gain=(0, 50000), capital_loss=(0, 5000),
                           hours_per_week=(1, 99))

# Small sets vary with the salt and the draw: so many trainings each.
SMALL, TRAININGS = 2000, 5


class Measured:
    """What evaluate() found, by data set, size and parameters."""

    def __init__(self, path):
        self.path = path
        self.known = json.load(open(path)) if os.path.exists(path) else {}

    def get(self, key, measure):
        if key not in self.known:
            self.known[key] = measure()
            with open(self.path, 'w') as out:
                json.dump(self.known, out, indent=1)
            print('  measured', key, self.known[key], file=sys.stderr, flush=True)
        return self.known[key]


class Bench:
    def __init__(self, root, stem, measured):
        question = QUESTIONS.get(stem, {})
        self.data = DataSet(root, question.get('source', stem))
        self.stem, self.measured = stem, measured
        self.ask(**question)
        self.tables = {}
        source = self.data.stem
        sql(f'''SET client_min_messages = error; DROP TABLE IF EXISTS {source}_eval;
            CREATE TABLE {source}_eval AS SELECT * FROM {source}_test ORDER BY hashint4(id) LIMIT {EVALUATED}''')
        plain = measured.get(f'{stem} one model', lambda: self.evaluate(
            self.table(self.data.rows), "learner => 'logistic', teachers => 1"))
        self.accuracy, self.baseline = plain['majority_accuracy'], plain['baseline_accuracy']

    def ask(self, source=None, only=None, label=None, relabel=None):
        """Another question about the same rows."""
        data = self.data
        if only:
            data.features = {only: data.features[only]}
        if label:
            data.label, data.classes = label, data.features.pop(label)['levels']
        if relabel:
            for split in ('train', 'test'):
                sql(f'UPDATE {source}_{split} SET "{data.label}" = {relabel}')
            data.classes = sql(f'SELECT DISTINCT "{data.label}" FROM {source}_train ORDER BY 1').splitlines()
        data.width = sum(len(f.get('levels', 'x')) for f in data.features.values())

    def table(self, units):
        if units not in self.tables:
            self.tables[units] = self.data.table(units)
        return self.tables[units]

    def run(self, table, parameters, more):
        """Trains, runs SQL that gives one JSON object, and drops."""
        out = sql(self.data.create(table, parameters) + more + "; SELECT privpred.drop_model('calibration')")
        return json.loads([line for line in out.splitlines() if line.startswith(('{', '['))][-1])

    def evaluate(self, table, parameters):
        return self.run(table, parameters, f"SELECT to_jsonb(e) - 'confusion' FROM privpred.evaluate('calibration', '{self.data.stem}_eval') e")

    def curve(self, units, learner, teachers, epsilons):
        """Accuracy of votes at each epsilon: to accounts without and with delta."""
        def measure():
            rows = self.run(self.table(units), f"learner => '{learner}', teachers => {teachers}", f'''
                SELECT jsonb_object_agg(trim_scale(epsilon), jsonb_build_array(private_accuracy, approximate_accuracy))
                FROM privpred.accuracy_curve('calibration', '{self.data.stem}_eval', '{{{','.join(epsilons)}}}')''')
            return rows

        def mean():
            all_rows = [measure() for _ in range(self.times(units))]
            return {e: [round(sum(r[e][i] for r in all_rows) / len(all_rows), 4) for i in (0, 1)] for e in all_rows[0]}
        key = f'{self.stem} {units} vote {learner} {teachers}'
        if not set(epsilons) <= set(self.measured.known.get(key, ())):
            self.measured.known.pop(key, None)
        return self.measured.get(key, mean)

    def times(self, units):
        return TRAININGS if units <= SMALL else 1

    def stream(self, table, parameters, unstable, answers):
        """Right answers among all that are asked, as the plan counts them."""
        shares = self.run(table, parameters, f'''SELECT jsonb_build_array(sum(approximate_rows) FILTER (WHERE class = answer) / sum(approximate_rows),
            sum(approximate_rows) FILTER (WHERE answer IS NULL) / sum(approximate_rows)) FROM privpred.confusion_matrix('calibration', '{self.data.stem}_eval')''')
        return shares[0] * min(1, unstable / max(shares[1], 1e-12) / answers)

    def student(self, units, plan):
        """A student of as many public rows as there are, up to those suggested."""
        source, table = self.data.stem, self.table(units)
        labels = int(re.search(r'labels => (\d+)', plan['statements'])[1])
        sql(f'''SET client_min_messages = error; DROP TABLE IF EXISTS {source}_public;
            CREATE TABLE {source}_public AS SELECT * FROM {source}_train t WHERE NOT EXISTS (SELECT FROM {table} p WHERE p.id = t.id)
            ORDER BY hashint4(id) LIMIT {min(labels, PUBLIC)}''')
        return self.run(table, plan['parameters'], f'''SET privpred.max_answers_per_statement = -1;
            SELECT privpred.distill('student', 'calibration', '{source}_public') IS NULL;
            SELECT to_jsonb(e) - 'confusion' FROM privpred.evaluate('student', '{source}_eval') e; SELECT privpred.drop_model('student')''')['private_accuracy']

    def suggested(self, units, plan, answers):
        """The accuracy of one row of the plan, or None if it cannot be had."""
        mechanism, parameters, pure = plan['mechanism'], plan['parameters'], plan['total_delta'] == 0
        if mechanism == 'distill' and units >= self.data.rows:
            return None
        key = f'{self.stem} {units} {parameters} {"pure" if pure else "delta"}'

        def measure():
            if mechanism == 'distill':
                return self.student(units, plan)
            if mechanism == 'sparse':
                return self.stream(self.table(units), parameters, int(re.search(r'unstable => (\d+)', plan['statements'])[1]), answers)
            if mechanism in ('stable_flip', 'relabel'):
                return None
            return self.evaluate(self.table(units), parameters)['private_accuracy' if pure else 'approximate_accuracy']
        if mechanism == 'distill':
            key += ' student of ' + re.search(r'labels => (\d+)', plan['statements'])[1]
        if mechanism == 'sparse':
            key += f' {answers} of ' + re.search(r'unstable => (\d+)', plan['statements'])[1]
        def mean():
            values = [measure() for _ in range(self.times(units))]
            return None if None in values else sum(values) / len(values)
        return self.measured.get(key, mean)

    def plan(self, units, budget):
        epsilon, delta, answers = budget
        return json.loads(sql(f'''SELECT jsonb_agg(p ORDER BY rank) FROM privpred.plan(n => {units}, features => {self.data.width},
            classes => {len(self.data.classes)}, epsilon => {epsilon}, delta => {delta}, answers => {answers},
            accuracy => {self.accuracy:.3f}{f', baseline => {self.baseline:.3f}' if DECLARE_BASELINE else ''}) p'''))

    def cell(self, units, budget, epsilons):
        """What was measured, by name, and the name and expectation of the recommended."""
        plans = self.plan(units, budget)
        found, chosen, expected = {}, 'none', None
        for plan in plans:
            mechanism = plan['mechanism']
            if mechanism not in MECHANISMS or not plan['parameters'] or not plan['feasible']:
                continue
            name = mechanism
            if mechanism in ('vote', 'average', 'sparse'):
                name += ' ' + re.search(r"learner => '(\w+)', teachers => (\d+)", plan['parameters']).expand(r'\1 \2')
            value = self.suggested(units, plan, budget[2])
            if value is not None:
                found[name] = value
            if plan['recommended']:
                chosen, expected = name, plan['expected_accuracy']
        epsilon, pure = epsilons[budget]
        found['commonest class'] = self.baseline
        for learner, teachers in itertools.product(('logistic', 'boost'), ENSEMBLES):
            # Thousands of trees take long, and lose to those of fewer teachers.
            if units / teachers >= max(16, 5 * len(self.data.classes)) and (learner == 'logistic' or teachers * len(self.data.classes) <= 2010):
                curve = self.curve(units, learner, teachers, sorted({e for e, _ in epsilons.values()}))
                found.setdefault(f'vote {learner} {teachers}', curve[epsilon][0 if pure else 1])
        return found, chosen, expected

    def epsilons(self):
        """Epsilon of one answer of a vote, and whether the account is pure, by budget."""
        result = {}
        for budget in BUDGETS:
            vote = next(p for p in self.plan(10000, budget) if p['mechanism'] == 'vote')
            result[budget] = f"{vote['per_answer_epsilon']:.12f}".rstrip('0').rstrip('.'), vote['total_delta'] == 0
        return result


def main(root, cache, stems):
    measured = Measured(cache)
    regrets = []
    for stem in stems:
        bench = Bench(root, stem, measured)
        epsilons = bench.epsilons()
        print(f'{stem}: accuracy => {bench.accuracy:.3f}, baseline => {bench.baseline:.3f}')
        for units, budget in itertools.product(SIZES[stem], BUDGETS):
            found, chosen, expected = bench.cell(units, budget, epsilons)
            best = max(found, key=found.get)
            have = found.get(chosen)
            regret = None if have is None else found[best] - have
            regrets.append((regret, stem, units, budget))
            others = {}
            for name, value in found.items():
                others[name.split()[0]] = max(others.get(name.split()[0], 0), value)
            print(f'| {stem} | {units:,} | ({budget[0]}, {budget[1]:g}) | {budget[2]:,} | {chosen} | '
                  f'{"" if expected is None else f"{expected:.3f}"} | {"" if have is None else f"{have:.3f}"} | {best} {found[best]:.3f} | '
                  f'{"" if regret is None else f"{regret:.3f}"} | ' +
                  ' '.join(f'{n} {v:.3f}' for n, v in sorted(others.items(), key=lambda i: -i[1])) + ' |', flush=True)
    known = [r for r, *_ in regrets if r is not None]
    print(f'{len(regrets)} cells, {len(known)} with a recommendation: {sum(r <= .01 for r in known)} within 0.01 of the best, '
          f'{sum(r <= .02 for r in known)} within 0.02; largest regret {max(known):.3f}')


if __name__ == '__main__':
    DECLARE_BASELINE = '--baseline' in sys.argv
    sys.argv = [a for a in sys.argv if a != '--baseline']
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2], sys.argv[3:] or ['adult', 'bank_raw', 'mnist7x7', 'adult_gain', 'german_raw', 'pima'])
