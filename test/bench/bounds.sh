# shellcheck shell=bash disable=SC2154
# Rows that mechanisms need against what no method can do with fewer, by epsilon and number of
# features, as privpred.plan() has both: one answer, right 93 times in 100 where 95 are possible.

chapter "bounds: by epsilon"
sql -F $'\t' -c "SELECT format('bounds/%s/%s/%s/%s', kind, mechanism, f, e), rows
	FROM unnest('{5,50}'::int[]) f, unnest('{0.01,0.02,0.05,0.1,0.2,0.5,1,2,5}'::float8[]) e,
		privpred.plan(features => f, epsilon => e, delta => 1e-6, answers => 1, accuracy => 0.95) p,
		LATERAL (VALUES ('needed', p.rows_needed), ('bound', p.rows_at_least)) v (kind, rows)
	WHERE rows IS NOT NULL" >>"$samples"
