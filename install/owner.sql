----------------------------------------------------------------------
-- Functions for owners
----------------------------------------------------------------------

CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT NULL)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: the primary key); sizes and caps may be declared again later, and a delta_cap that is left out stays as it was';

CREATE FUNCTION privpred.unprotect(relation regclass)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_unprotect' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.unprotect(regclass) IS
'owner: ends protection; refused while models or budgets exist; what was spent is remembered';

CREATE FUNCTION privpred.create_model(name text, relation regclass, label name, features json,
	classes text[] DEFAULT NULL, mechanism text DEFAULT 'vote', learner text DEFAULT 'logistic',
	teachers int DEFAULT 100, epsilon float8 DEFAULT 0.1, options jsonb DEFAULT '{}')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_create_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.create_model(text, regclass, name, json, text[], text, text, int, float8, jsonb) IS
'owner: trains a model on a protected table and returns its public card; bounds, levels and classes are declared, epsilon is the price of one answer';

CREATE FUNCTION privpred.retrain(name text)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_retrain' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.retrain(text) IS
'owner: trains a new version of a model on today''s rows, with the same declarations and the same budgets';

CREATE FUNCTION privpred.drop_model(name text)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_drop_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.drop_model(text) IS
'owner: removes a model; what was spent on it stays spent';

CREATE FUNCTION privpred.distill(student text, teacher text, public_relation regclass,
	learner text DEFAULT 'logistic', labels bigint DEFAULT NULL, options jsonb DEFAULT '{}')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_distill' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.distill(text, text, regclass, text, bigint, jsonb) IS
'anyone with a budget, or the owner: labels public rows (all, or the first so many) with a model, pays for the labels, and trains a student on them whose answers are free to whoever has paid for the labels once';

CREATE FUNCTION privpred.export_model(name text)
RETURNS json AS 'MODULE_PATHNAME', 'privpred_export_model' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.export_model(text) IS
'owner: a released model (a student, or any model that is charged once) as JSON, after every budget on its relation has been charged for it';

CREATE FUNCTION privpred.evaluate(model text, test regclass, OUT rows bigint,
	OUT private_accuracy float8, OUT majority_accuracy float8, OUT baseline_accuracy float8,
	OUT approximate_accuracy float8, OUT exponential_accuracy float8, OUT gaussian_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT plain_rmse float8, OUT baseline_rmse float8,
	OUT exact boolean, OUT confusion jsonb, OUT accuracy_by_epsilon jsonb, OUT margin float8)
AS 'MODULE_PATHNAME', 'privpred_evaluate' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.evaluate(text, regclass) IS
'owner: accuracy on labelled rows: the expectation of the private answers (to accounts without delta and, as approximate_accuracy, with delta), the teachers'' plain majority, always the most common class, and what accounts with delta would get by either noise of mechanism vote; for labels that are numbers the root mean squared errors of private answers (likewise), of answers without noise, and of always their mean; whether the expectations are exact or estimated by drawing, from a sample of the rows if there are many, and by how much the accuracies may be off, 99 times in 100; the tables of confusion_matrix() and accuracy_curve() as JSON; not private, costs nothing';

CREATE FUNCTION privpred.confusion_matrix(model text, test regclass, OUT class text, OUT answer text,
	OUT rows float8, OUT share float8, OUT approximate_rows float8, OUT approximate_share float8)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_confusion_matrix'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.confusion_matrix(text, regclass) IS
'owner: of labelled rows of each class, how many are expected to be answered by each class (NULL: unstable answers of a stream), and what share of the class that is; to accounts without and with delta; not private, costs nothing';

CREATE FUNCTION privpred.accuracy_curve(model text, test regclass, epsilons float8[] DEFAULT NULL, OUT epsilon numeric,
	OUT own boolean, OUT private_accuracy float8, OUT approximate_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT remark text)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_accuracy_curve'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.accuracy_curve(text, regclass, float8[]) IS
'owner: the expected accuracy on labelled rows at other epsilons per answer, where the same training serves them, and at the model''s own; NULL where a model would have to be trained anew, as the remark says; not private, costs nothing';

CREATE FUNCTION privpred.audit(model text, draws bigint DEFAULT NULL)
RETURNS TABLE (mechanism text, pair text, event text, charge text, compared text, claimed_epsilon float8,
	claimed_delta float8, epsilon_lower_bound float8, would_detect float8, draws_each bigint, confidence float8, verdict text)
AS 'MODULE_PATHNAME', 'privpred_audit' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10 COST 1000000;
COMMENT ON FUNCTION privpred.audit(text, bigint) IS
'owner: trains models like this one on made-up tables that differ in one unit, draws from both, and compares what is seen with what the model''s account pays: consistent, violated, or no power; reads no protected row, charges nobody, leaves nothing behind';

CREATE FUNCTION privpred.littlestone_dimension(class regclass)
RETURNS int AS 'MODULE_PATHNAME', 'privpred_littlestone_dimension' LANGUAGE C STABLE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.littlestone_dimension(regclass) IS
'anyone: the Littlestone dimension of a finite class, a table (hypothesis, point, label) that the caller may read; exact, or refused if it takes too long';

CREATE FUNCTION privpred.encode(features jsonb, row_of_features record)
RETURNS float8[] AS 'MODULE_PATHNAME', 'privpred_encode_row' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION privpred.encode(jsonb, record) IS
'one training row as learners see it, from a stored feature specification and ROW(...) in its order; never fails on a value';

CREATE FUNCTION privpred.encode(features jsonb, VARIADIC columns "any")
RETURNS float8[] AS 'MODULE_PATHNAME', 'privpred_encode_columns' LANGUAGE C IMMUTABLE PARALLEL SAFE COST 10;
COMMENT ON FUNCTION privpred.encode(jsonb, "any") IS
'one training row as learners see it, from a stored feature specification and the columns in its order; never fails on a value';

CREATE VIEW privpred.models WITH (security_barrier) AS
SELECT m.name, r.relation, m.mechanism, m.learner, m.version, m.status, m.classes, m.features,
	m.teachers, pg_catalog.trim_scale(m.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon,
	m.charge_kind, m.created_at, m.created_by, m.label, m.options, m.trained_at,
	m.charge, m.pure_charge
FROM privpred.model m
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) m.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE b.relation::pg_catalog.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.models IS
'models of the tables you own and of those you hold a budget for';
