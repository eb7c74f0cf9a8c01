# Audits of released models through SQL: every training draws a model anew from
# one of two neighbouring tables, and the owner looks at what it says.  Each
# audit is repeated against a mutant, a model that spends more than the audit is
# told, and must catch it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::RealBin/../lib";
use Privpred::Stats qw(audit_epsilon audit_range clopper_pearson_lower clopper_pearson_upper);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# False alarms: at most this often for each bound.
my $alpha = 1e-8;

my $node = PostgreSQL::Test::Cluster->new('released');
$node->init;
$node->append_conf('postgresql.conf', q{
fsync = off
client_min_messages = warning
});
$node->start;

sub sql { return $node->safe_psql('postgres', $_[0]) }

# All labellings of two points; the owner's question is whether b is said to be 1.
sql(q{
CREATE EXTENSION privpred;
CREATE TABLE constants (hypothesis text, point text, label int);
INSERT INTO constants SELECT h, p, h FROM unnest('{0,1}'::int[]) h, unnest('{a,b}'::text[]) p;
CREATE TABLE labellings (hypothesis text, point text, label int);
INSERT INTO labellings SELECT h, p, CASE p WHEN 'a' THEN h & 1 ELSE h >> 1 END FROM generate_series(0, 3) h, unnest('{a,b}'::text[]) p;
CREATE TABLE question (x text, y int);
INSERT INTO question VALUES ('b', 1);
CREATE FUNCTION times_one(model text, n int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  result bigint = 0;
BEGIN
  FOR i IN 1 .. n LOOP
    PERFORM privpred.retrain(model);
    result = result + (privpred.evaluate(model, 'question')).private_accuracy;
  END LOOP;
  RETURN result;
END $$;
});

sub counts
{
	my ($model, $n) = @_;
	my $ones = sql(qq{SELECT times_one('$model', $n)});
	return { 1 => $ones, 0 => $n - $ones };
}

# ---------- cover, label_private ----------

# The error of one of two constants is one more, or one less, than that of the
# other: the odds change by exactly epsilon.
foreach my $protects ('rows', 'labels')
{
	my $mechanism = $protects eq 'rows' ? 'cover' : 'label_private';
	my $draws = 500;
	my $claim = 2;
	sql(qq{
CREATE TABLE $protects (id int PRIMARY KEY, x text, y int);
SELECT privpred.protect('$protects', protects => '$protects', declared_units => 10000);
});
	foreach my $epsilon ($claim, 2 * $claim)
	{
		sql(qq{SELECT privpred.create_model('$protects $epsilon', '$protects', label => 'y', classes => '{0,1}', features => '{"x": {"levels": ["a", "b"]}}',
			mechanism => '$mechanism', epsilon => $epsilon, options => '{"class_table": "public.constants", "accuracy": 1}')});
		sql(qq{TRUNCATE $protects; INSERT INTO $protects VALUES (1, 'a', 0), (2, 'b', 1), (3, 'b', 1)});
		my $from = counts("$protects $epsilon", $draws);
		sql(qq{UPDATE $protects SET y = 0 WHERE id = 2});
		my $to = counts("$protects $epsilon", $draws);
		my $range = audit_range($draws, $from, $to, $alpha, outputs => 2);
		my $bound = audit_epsilon($draws, $from, $to, $alpha, outputs => 2);
		if ($epsilon == $claim)
		{
			cmp_ok($range, '<=', $claim, "$mechanism: bounded range $claim holds (lower bound $range)");
			cmp_ok($bound, '<=', $claim, "$mechanism: epsilon $claim holds (lower bound $bound)");
			my $expected = 1 / (1 + exp(-$claim / 2));
			cmp_ok(clopper_pearson_lower($from->{1}, $draws, $alpha), '<=', $expected, "$mechanism: not too often the better one ($from->{1})");
			cmp_ok(clopper_pearson_upper($from->{1}, $draws, $alpha), '>=', $expected, "$mechanism: not too rarely");
		}
		else
		{
			cmp_ok($range, '>', $claim, "$mechanism: spending twice is caught (lower bound $range)");
		}
	}
}

# A unit with many rows is one unit: two hundred wrong rows weigh as much as one.
sql(q{
CREATE TABLE visits (visit int PRIMARY KEY, id int NOT NULL, x text, y int);
SELECT privpred.protect('visits', unit => 'id', declared_units => 10000);
INSERT INTO visits SELECT i, 1, 'a', 0 FROM generate_series(1, 200) i;
INSERT INTO visits VALUES (1001, 2, 'b', 1), (1002, 3, 'b', 1);
SELECT privpred.create_model('visits', 'visits', label => 'y', classes => '{0,1}', features => '{"x": {"levels": ["a", "b"]}}',
	mechanism => 'cover', epsilon => 2, options => '{"class_table": "public.constants", "accuracy": 1}');
});
my $visits = counts('visits', 500)->{1};
cmp_ok(clopper_pearson_lower($visits, 500, $alpha), '<=', 1 / (1 + exp(-1)), "rows of one unit count once: not too often ($visits)");
cmp_ok(clopper_pearson_upper($visits, 500, $alpha), '>=', 1 / (1 + exp(-1)), 'rows of one unit count once: not too rarely');

# ---------- the stable histogram of littlestone ----------

# One batch alone has rows.  Its hypothesis depends on one unit, and no other
# batch gives it: if it is kept, it is chosen, as the others are wrong about 40
# units.  Without that unit it cannot be.
sql(q{
CREATE TABLE people (id int PRIMARY KEY, x text, y int);
SELECT privpred.protect('people', declared_units => 220);
});
my $delta = 0.05;
my $draws = 1600;
foreach my $spent ($delta, 0.3)
{
	my $model = "littlestone $spent";
	my $n = $spent == $delta ? $draws : 800;
	sql(qq{
TRUNCATE people;
SELECT privpred.create_model('$model', 'people', label => 'y', classes => '{0,1}', features => '{"x": {"levels": ["a", "b"]}}',
	mechanism => 'littlestone', epsilon => 1, options => '{"class_table": "public.labellings", "batches": 11, "delta": $spent}');
INSERT INTO people
SELECT id, CASE WHEN row_number() OVER (ORDER BY id) = 1 THEN 'b' ELSE 'a' END, 1
FROM (SELECT id, privpred.unit_hash(id, m.salt)::numeric AS hash FROM generate_series(1, 2000) id, privpred.model m WHERE m.name = '$model') s
WHERE (CASE WHEN hash < 0 THEN hash + 18446744073709551616 ELSE hash END) % 11 = 0 ORDER BY id LIMIT 41;
});
	is(sql(q{SELECT count(*) || ' ' || count(*) FILTER (WHERE x = 'b') FROM people}), '41 1', "$model: one batch has rows");
	my $from = counts($model, $n);
	sql(q{UPDATE people SET y = 0 WHERE x = 'b'});
	my $to = counts($model, $n);
	my $bound = audit_epsilon($n, $from, $to, $alpha, delta => $delta, outputs => 2);
	if ($spent == $delta)
	{
		cmp_ok($bound, '<=', 1, "littlestone: epsilon 1 holds with delta $delta (lower bound $bound, kept $from->{1} of $n)");
		my $expected = exp(-10 / 4) / (1 + exp(-1 / 4));
		cmp_ok(clopper_pearson_upper($from->{1}, $n, $alpha), '>=', $expected * 0.99, "littlestone: kept as often as it may be");
	}
	else
	{
		cmp_ok($bound, '>', 1, "littlestone: a larger delta is caught (lower bound $bound, kept $from->{1} of $n)");
	}
	is($to->{1}, 0, "littlestone: what no batch gives is never kept");
}

$node->stop;
done_testing();
