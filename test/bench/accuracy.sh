# shellcheck shell=bash disable=SC2154
# Accuracy of private answers on rows that were not trained on: the exact
# expectation over the noise, from privpred.evaluate().

# evaluate DATA LABEL FEATURES MORE LEARNER TEACHERS EPSILON: trains on DATA_train
# with those, and samples the accuracies on DATA_test
evaluate() {
	local answer
	answer=$(sql -F ' ' <<-SQL
		SET client_min_messages = warning;
		SET maintenance_work_mem = '1GB';
		\\o /dev/null
		SELECT privpred.create_model('accuracy', '$1_train', label => '$2', features => '$3',
			learner => '$5', teachers => $6, epsilon => $7 $4);
		\\o
		SELECT private_accuracy, majority_accuracy, baseline_accuracy
		  FROM privpred.evaluate('accuracy', '$1_test');
		\\o /dev/null
		SELECT privpred.drop_model('accuracy');
	SQL
	)
	# shellcheck disable=SC2086
	set -- "$1" "$5" "$6" "$7" $answer
	sample "accuracy/$1/$2/$3/$4" "$5"
	sample "majority/$1/$2/$3" "$6"
	sample "baseline/$1" "$7"
}

# A whole table of accuracies: evaluate_all DATA LABEL FEATURES MORE
evaluate_all() {
	local learner teachers epsilon
	chapter "accuracy: $1"
	evaluate "$@" logistic 1 1
	for teachers in 25 100 500; do
		for epsilon in 0.02 0.05 0.1 0.2 0.5 1; do
			evaluate "$@" logistic $teachers $epsilon
		done
	done
	for learner in svm linear naive_bayes centroid stump; do
		evaluate "$@" $learner 100 0.5
	done
}

sql -c "SELECT make_rows('synthetic_train', 50000, 0.1), make_rows('synthetic_test', 20000, 0.9)" >/dev/null
sample best/synthetic "$(sql -c "SELECT avg(greatest(p, 1 - p)) FROM synthetic_test, certainty(f1, f2, f3, f4, f5, f6) p")"
evaluate_all synthetic y "$features" ""

if have_data adult; then
	need_data adult
	evaluate_all adult "${of_adult[@]}"
fi
if have_data mnist7x7; then
	chapter "accuracy: mnist7x7"
	need_data mnist7x7
	for epsilon in 0.05 0.1 0.2 0.5 1; do
		evaluate mnist7x7 "${of_mnist7x7[@]}" logistic 100 $epsilon
	done
	for learner in linear naive_bayes centroid; do
		evaluate mnist7x7 "${of_mnist7x7[@]}" $learner 100 0.5
	done
fi
have_data adult || sample fact:left_out "accuracy on Adult, without DATA"
