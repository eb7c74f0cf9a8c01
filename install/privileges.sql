----------------------------------------------------------------------
-- Privileges: everything is closed, then opened by name
----------------------------------------------------------------------

REVOKE ALL ON ALL TABLES IN SCHEMA privpred FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA privpred FROM PUBLIC;
-- learners: they read nothing but what their caller passes to them
GRANT EXECUTE ON FUNCTION
	privpred.logistic(anyelement, double precision[]),
	privpred.logistic(anyelement, double precision[], jsonb),
	privpred.svm(anyelement, double precision[]),
	privpred.svm(anyelement, double precision[], jsonb),
	privpred.linear(anyelement, double precision[]),
	privpred.linear(anyelement, double precision[], jsonb),
	privpred.naive_bayes(anyelement, double precision[]),
	privpred.naive_bayes(anyelement, double precision[], jsonb),
	privpred.centroid(anyelement, double precision[]),
	privpred.centroid(anyelement, double precision[], jsonb),
	privpred.stump(anyelement, double precision[]),
	privpred.stump(anyelement, double precision[], jsonb),
	privpred.knn(anyelement, double precision[]),
	privpred.knn(anyelement, double precision[], jsonb),
	privpred.boost(anyelement, double precision[]),
	privpred.boost(anyelement, double precision[], jsonb),
	privpred.forest(anyelement, double precision[]),
	privpred.forest(anyelement, double precision[], jsonb),
	privpred.tree(anyelement, double precision[]),
	privpred.tree(anyelement, double precision[], jsonb),
	privpred.explain(privpred.predictor, text[]),
	privpred.predictor_json(privpred.predictor),
	privpred.threshold(anyelement, "any"),
	privpred.threshold(anyelement, "any", jsonb),
	privpred.sql_learner(anyelement, double precision[], jsonb),
	privpred.ensemble(privpred.predictor),
	privpred.teach(anyelement, double precision[], text, jsonb, bytea),
	privpred.teach_state(privpred.training_state, bytea),
	privpred.partial_state(anyelement, double precision[], jsonb),
	privpred.partial_state(text, double precision[], jsonb),
	-- Citus wants the right to call the parts of what it sends to workers.
	privpred.state_transition(privpred.training_state, text, double precision[], jsonb),
	privpred.state_merge(privpred.training_state, privpred.training_state),
	privpred.merge_states(privpred.training_state),
	privpred.sum_units(double precision, double precision[], bytea),
	privpred.sum_units(double precision[], double precision[], bytea),
	privpred.sum_sorted_units(bytea, double precision, double precision[], "any"),
	privpred.merge_sums(privpred.unit_sums),
	privpred.unit_sums_add_row(privpred.unit_sums, double precision, double precision[], bytea),
	privpred.unit_sums_add_unit(privpred.unit_sums, double precision[], double precision[], bytea),
	privpred.unit_sums_add_sorted(privpred.unit_sums, bytea, double precision, double precision[], "any"),
	privpred.unit_sums_merge(privpred.unit_sums, privpred.unit_sums),
	privpred.pack_unit(double precision, double precision[], bigint),
	privpred.finish_state(privpred.training_state),
	privpred.unit_share(bytea, integer, "any"),
	privpred.node_agrees(jsonb, "any"),
	privpred.hash_partition_has(integer, integer, "any"),
	privpred.belongs_here(boolean),
	privpred.teacher_of(anyelement, bytea, integer),
	privpred.unit_hash(anyelement, bytea),
	privpred.row_cells(bigint, record),
	privpred.lesser_row(bytea, bytea),
	privpred.least_row(bytea),
	privpred.predict(privpred.predictor, double precision[]),
	privpred.votes(privpred.predictor, double precision[])
	TO PUBLIC;
-- pure arithmetic
GRANT EXECUTE ON FUNCTION privpred.answers_for, privpred.epsilon_for TO PUBLIC;
-- plans: from declarations alone; the parts run as the caller
GRANT EXECUTE ON FUNCTION privpred.plan, privpred._plan, privpred._plan_table, privpred._plan_columns,
	privpred._plan_figures TO PUBLIC;
-- reads only what the caller may read
GRANT EXECUTE ON FUNCTION privpred.littlestone_dimension(regclass) TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.solve_stable_flip, privpred.solve_relabel TO PUBLIC;
-- requests: each checks who owns the relation
GRANT EXECUTE ON FUNCTION privpred.protect, privpred.unprotect, privpred.create_model,
	privpred.retrain, privpred.forget(regclass, text, boolean, boolean, text), privpred.forget(regclass, anyelement, boolean, boolean, text),
	privpred.certificate, privpred.verify_certificate, privpred.chunk_index, privpred.drop_model, privpred.distill, privpred.export_model, privpred.describe, privpred.describe_cost, privpred.release_accuracy, privpred.evaluate,
	privpred.confusion_matrix, privpred.accuracy_curve, privpred.plot(text, regclass, text, float8[], float8, float8), privpred.audit, privpred.encode(jsonb, record),
	privpred.encode(jsonb, "any") TO PUBLIC;
GRANT SELECT ON privpred.models, privpred.descriptions TO PUBLIC;
-- released models: whoever owns the relation, or pays; the parts of explain run as the caller
GRANT EXECUTE ON FUNCTION privpred.read_model, privpred.explain(text), privpred.plot(text),
	privpred._encoded, privpred._effects, privpred._own_units, privpred._regions, privpred._indent, privpred._explain_leaf, privpred._explain_tree,
	privpred._explain_member TO PUBLIC;
-- questions: each checks who has a budget
GRANT EXECUTE ON FUNCTION
	privpred.check(text, float8[]),
	privpred.check(text, jsonb),
	privpred.check(text, json),
	privpred.check(text, record),
	privpred.check(text, text),
	privpred.private_predict(text, float8[]),
	privpred.private_score(text, float8[]),
	privpred.private_score(text, float8[], float8),
	privpred.private_score(text, float8[], float8, text),
	privpred.private_predict(text, numeric[]),
	privpred.private_score(text, numeric[]),
	privpred.private_score(text, numeric[], float8),
	privpred.private_score(text, numeric[], float8, text),
	privpred.private_predict(text, bigint[]),
	privpred.private_score(text, bigint[]),
	privpred.private_score(text, bigint[], float8),
	privpred.private_score(text, bigint[], float8, text),
	privpred.private_predict(text, int[]),
	privpred.private_score(text, int[]),
	privpred.private_score(text, int[], float8),
	privpred.private_score(text, int[], float8, text),
	privpred.private_predict(text, smallint[]),
	privpred.private_score(text, smallint[]),
	privpred.private_score(text, smallint[], float8),
	privpred.private_score(text, smallint[], float8, text),
	privpred.private_predict(text, real[]),
	privpred.private_score(text, real[]),
	privpred.private_score(text, real[], float8),
	privpred.private_score(text, real[], float8, text),
	privpred.private_predict(text, jsonb),
	privpred.private_score(text, jsonb),
	privpred.private_score(text, jsonb, float8),
	privpred.private_score(text, jsonb, float8, text),
	privpred.private_predict(text, json),
	privpred.private_score(text, json),
	privpred.private_score(text, json, float8),
	privpred.private_score(text, json, float8, text),
	privpred.private_predict(text, record),
	privpred.private_score(text, record),
	privpred.private_score(text, record, float8),
	privpred.private_score(text, record, float8, text),
	privpred.private_predict(text, text),
	privpred.private_score(text, text),
	privpred.private_score(text, text, float8),
	privpred.private_score(text, text, float8, text)
	TO PUBLIC;
-- ledger
GRANT SELECT ON privpred.budgets, privpred.my_budget, privpred.ledger, privpred.leases, privpred.ceilings TO PUBLIC;
GRANT EXECUTE ON FUNCTION
	privpred.ledger_incarnation(),
	privpred.budget_entries(),
	privpred.account_epsilon(bigint, float8, bigint),
	privpred.account_charge(text, text, bigint, bigint),
	privpred.account_purchases(text, text, bigint, bigint, bigint, float8),
	privpred.account_window(timestamptz, interval, timestamptz),
	privpred.grant_budget(regrole, regclass, float8, float8, timestamptz, interval, float8, float8, boolean),
	privpred.revoke_budget(regrole, regclass),
	privpred.cost(text, bigint),
	privpred.cost_of(text),
	privpred.verify_ledger(bytea, boolean),
	privpred.forgive_lease(bigint)
	TO PUBLIC;
-- streams: of the caller's own budgets
GRANT SELECT ON privpred.streams TO PUBLIC;
GRANT EXECUTE ON FUNCTION privpred.open_stream(text, int, float8, float8, bigint, boolean),
	privpred.close_stream(text) TO PUBLIC;
-- report: shows what the caller finds in the views; its parts and those of plot run as the caller
GRANT EXECUTE ON FUNCTION privpred.report(), privpred._html, privpred._amount, privpred._loss, privpred._nice_step,
	privpred._left_out, privpred._report_style, privpred._report_warnings, privpred._report_budgets,
	privpred._report_charts, privpred._report_spenders, privpred._report_relations, privpred._report_models,
	privpred._report_ledger, privpred._report_figures, privpred._svg_text, privpred._plot_frame,
	privpred._plot_chart, privpred._plot_confusion, privpred._plot_curve, privpred._plot_answers,
	privpred._plot_shapes, privpred._axis_number TO PUBLIC;
-- build: the version, which everybody may know
GRANT EXECUTE ON FUNCTION privpred.build() TO PUBLIC;
-- progress: shows what is running on tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.progress_entries() TO PUBLIC;
GRANT SELECT ON privpred.progress TO PUBLIC;
-- counts: shows what the caller asked, and what others asked of tables that the caller owns
GRANT EXECUTE ON FUNCTION privpred.stat_entries() TO PUBLIC;
GRANT SELECT ON privpred.stat TO PUBLIC;
