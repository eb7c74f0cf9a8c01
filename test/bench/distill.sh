# shellcheck shell=bash disable=SC2154
# A student of 1,600 private labels of Adult, within (2, 1e-6).  Needs DATA.

if ! have_data adult; then
	chapter "distill: left out, it needs DATA"
	sample fact:left_out "distilling, without DATA"
else
	chapter "distill: adult"
	need_data adult
	distill_epsilon=$(sql -c "SELECT per_answer FROM privpred.epsilon_for(2, 1e-6, 1600)")
	sql >/dev/null <<-SQL
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		CREATE ROLE asker LOGIN;
		CREATE TABLE adult_public AS SELECT * FROM adult_test ORDER BY md5(id::text) LIMIT 1600;
		CREATE TABLE adult_rest AS SELECT * FROM adult_test t WHERE NOT EXISTS (SELECT FROM adult_public p WHERE p.id = t.id);
		GRANT SELECT ON adult_public TO asker;
		SELECT privpred.grant_budget('asker', 'adult_train', epsilon => 2, delta => 1e-6, per_answer => $distill_epsilon);
		SELECT privpred.create_model('distill_teacher', 'adult_train', label => 'y', classes => '{0,1}',
			features => '[$(seq -s, -f '"f%g"' 50)]', learner => 'logistic', teachers => 500, epsilon => $distill_epsilon);
	SQL
	# One student is the whole budget.
	sql -U asker -c "SET privpred.max_answers_per_statement = -1" \
		-c "SELECT privpred.distill('student', 'distill_teacher', 'adult_public', learner => 'linear', options => '{\"ridge\": 30}')" >/dev/null
	sample distill/adult "$(sql -c "SELECT private_accuracy FROM privpred.evaluate('student', 'adult_rest')")"
fi
