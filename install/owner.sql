----------------------------------------------------------------------
-- Functions for owners
----------------------------------------------------------------------

CREATE FUNCTION privpred.protect(relation regclass, unit name DEFAULT NULL, protects text DEFAULT 'rows',
	declared_units bigint DEFAULT NULL, max_rows_per_unit int DEFAULT NULL,
	epsilon_cap float8 DEFAULT NULL, delta_cap float8 DEFAULT NULL, force boolean DEFAULT false,
	same_units_as regclass DEFAULT NULL, public_tables regclass[] DEFAULT NULL)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_protect' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.protect(regclass, name, text, bigint, int, float8, float8, boolean, regclass, regclass[]) IS
'owner: declares that a table''s rows are protected, and which column says whose row it is (default: as before, or the primary key); sizes and caps may be declared again later, and a delta_cap that is left out stays as it was; the unit may change until something is spent; force sets a delta_cap above 0.01, which is refused otherwise; same_units_as: another protected table about the same units, with which it shares all budgets from then on';

CREATE FUNCTION privpred.unprotect(relation regclass)
RETURNS void AS 'MODULE_PATHNAME', 'privpred_unprotect' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.unprotect(regclass) IS
'owner: ends protection; refused while models or budgets exist; what was spent is remembered';

CREATE FUNCTION privpred.create_model(name text, relation regclass, label name, features json,
	classes text[] DEFAULT NULL, mechanism text DEFAULT 'vote', learner text DEFAULT 'logistic',
	teachers int DEFAULT 100, epsilon float8 DEFAULT 0.1, options jsonb DEFAULT '{}', holdout float8 DEFAULT 0)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_create_model' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.create_model(text, regclass, name, json, text[], text, text, int, float8, jsonb, float8) IS
'owner: trains a model on a protected table and returns its public card; bounds, levels and classes are declared, epsilon is the price of one answer, and holdout the share of the units that never train';

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

CREATE FUNCTION privpred.describe(relation regclass, columns name[] DEFAULT NULL, epsilon float8 DEFAULT 0.3,
	delta float8 DEFAULT 1e-6, cuts int DEFAULT 16, given json DEFAULT '{}')
RETURNS json AS 'MODULE_PATHNAME', 'privpred_describe' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.describe(regclass, name[], float8, float8, int, json) IS
'owner: bounds, cuts and levels of a protected table''s columns, by noisy histograms, as create_model takes them, after every budget on the table has been charged for it; of columns that are given nothing is read';

CREATE FUNCTION privpred.describe_cost(relation regclass, columns name[] DEFAULT NULL, epsilon float8 DEFAULT 0.3,
	delta float8 DEFAULT 1e-6, given json DEFAULT '{}', OUT histograms int, OUT sigma float8, OUT smallest_cell bigint,
	OUT smallest_level bigint, OUT epsilon float8, OUT delta float8)
AS 'MODULE_PATHNAME', 'privpred_describe_cost' LANGUAGE C VOLATILE PARALLEL RESTRICTED;
COMMENT ON FUNCTION privpred.describe_cost(regclass, name[], float8, float8, json) IS
'what describe() would cost, and how many units a cell of a number and a level must have, about, to be seen through its noise; reads no row';

CREATE FUNCTION privpred.row_cells(seed bigint, "row" record)
RETURNS bytea AS 'MODULE_PATHNAME', 'privpred_row_cells' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.row_cells(bigint, record) IS
'internal: the cells of a row''s values in describe(), behind a hash of them';

CREATE FUNCTION privpred.lesser_row(a bytea, b bytea)
RETURNS bytea AS 'MODULE_PATHNAME', 'privpred_lesser_row' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION privpred.lesser_row(bytea, bytea) IS
'internal: step of least_row()';

CREATE AGGREGATE privpred.least_row(bytea) (
	SFUNC = privpred.lesser_row, STYPE = bytea, COMBINEFUNC = privpred.lesser_row, PARALLEL = SAFE);
COMMENT ON AGGREGATE privpred.least_row(bytea) IS
'internal: the row that speaks for a unit in describe()';

CREATE FUNCTION privpred.evaluate(model text, test regclass DEFAULT NULL, OUT rows bigint,
	OUT private_accuracy float8, OUT majority_accuracy float8, OUT baseline_accuracy float8,
	OUT approximate_accuracy float8, OUT exponential_accuracy float8, OUT gaussian_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT plain_rmse float8, OUT baseline_rmse float8,
	OUT exact boolean, OUT confusion jsonb, OUT accuracy_by_epsilon jsonb, OUT margin float8)
AS 'MODULE_PATHNAME', 'privpred_evaluate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.evaluate(text, regclass) IS
'owner: accuracy on labelled rows, or without a table on those of the units that the model holds out: the expectation of the private answers (to accounts without delta and, as approximate_accuracy, with delta), the teachers'' plain majority, always the most common class, and what accounts with delta would get by either noise of mechanism vote; for labels that are numbers the root mean squared errors of private answers (likewise), of answers without noise, and of always their mean; whether the expectations are exact or estimated by drawing, from a sample of the rows if there are many, and by how much the accuracies may be off, 99 times in 100; the tables of confusion_matrix() and accuracy_curve() as JSON; not private, costs nothing';

CREATE FUNCTION privpred.confusion_matrix(model text, test regclass DEFAULT NULL, OUT class text, OUT answer text,
	OUT rows float8, OUT share float8, OUT approximate_rows float8, OUT approximate_share float8)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_confusion_matrix'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.confusion_matrix(text, regclass) IS
'owner: of labelled rows of each class (those of a table, or of the units held out), how many are expected to be answered by each class (NULL: unstable answers of a stream), and what share of the class that is; to accounts without and with delta; not private, costs nothing';

CREATE FUNCTION privpred.accuracy_curve(model text, test regclass DEFAULT NULL, epsilons float8[] DEFAULT NULL, OUT epsilon numeric,
	OUT own boolean, OUT private_accuracy float8, OUT approximate_accuracy float8,
	OUT private_rmse float8, OUT approximate_rmse float8, OUT remark text)
RETURNS SETOF record AS 'MODULE_PATHNAME', 'privpred_accuracy_curve'
LANGUAGE C VOLATILE PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION privpred.accuracy_curve(text, regclass, float8[]) IS
'owner: the expected accuracy on labelled rows (those of a table, or of the units held out) at other epsilons per answer, where the same training serves them, and at the model''s own; NULL where a model would have to be trained anew, as the remark says; not private, costs nothing';

CREATE FUNCTION privpred.release_accuracy(model text, epsilon float8, OUT accuracy float8, OUT standard_error float8, OUT units bigint)
AS 'MODULE_PATHNAME', 'privpred_release_accuracy' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.release_accuracy(text, float8) IS
'owner: the expected accuracy of a model''s private answers (to accounts without delta) on so many of the units that it holds out, with exact noise for epsilon, after every budget on its relation has been charged for it, and for the model itself if that is charged once; privpred.models then shows it to everybody';

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
	m.charge, m.pure_charge, m.holdout, m.accuracy AS released_accuracy, m.accuracy_error AS released_accuracy_error,
	m.accuracy_at AS released_accuracy_at
FROM privpred.model m
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) m.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE r.relation OPERATOR(pg_catalog.=) ANY (b.population)
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.models IS
'models of the tables you own and of those you hold a budget for';
COMMENT ON COLUMN privpred.models.name IS 'what private_predict is asked for';
COMMENT ON COLUMN privpred.models.relation IS 'the protected table that it was trained on';
COMMENT ON COLUMN privpred.models.mechanism IS 'how answers are drawn';
COMMENT ON COLUMN privpred.models.learner IS 'how its teachers are trained; NULL: the mechanism learns by itself';
COMMENT ON COLUMN privpred.models.version IS '1, and one more after each retrain';
COMMENT ON COLUMN privpred.models.status IS 'ready';
COMMENT ON COLUMN privpred.models.classes IS 'declared classes of the label, in order; empty: the label is a number';
COMMENT ON COLUMN privpred.models.features IS 'declared features in order, with bounds and levels';
COMMENT ON COLUMN privpred.models.teachers IS 'predictors that vote; 0: none';
COMMENT ON COLUMN privpred.models.epsilon IS 'price of an answer, of an unstable answer of a stream, or of the whole model; see charge_kind';
COMMENT ON COLUMN privpred.models.charge_kind IS 'per_answer, per_stream (for unstable answers, when the stream is opened) or once (then any number of answers)';
COMMENT ON COLUMN privpred.models.created_at IS 'when it was made';
COMMENT ON COLUMN privpred.models.created_by IS 'who made it';
COMMENT ON COLUMN privpred.models.label IS 'the column that is predicted';
COMMENT ON COLUMN privpred.models.options IS 'as declared';
COMMENT ON COLUMN privpred.models.trained_at IS 'when this version was trained';
COMMENT ON COLUMN privpred.models.charge IS 'of a purchase, to an account of finite order; NULL: none can pay';
COMMENT ON COLUMN privpred.models.pure_charge IS 'of a purchase, to an account of infinite order; NULL: none can pay';
COMMENT ON COLUMN privpred.models.holdout IS 'share of the units that never train, and that evaluate(model) is for; NULL: none';
COMMENT ON COLUMN privpred.models.released_accuracy IS 'a private accuracy on the hold-out that its owner released to everybody; NULL: none';
COMMENT ON COLUMN privpred.models.released_accuracy_error IS 'by how much it may be off';
COMMENT ON COLUMN privpred.models.released_accuracy_at IS 'when it was released';

CREATE VIEW privpred.descriptions WITH (security_barrier) AS
SELECT d.description_id AS id, r.relation, d.at,
	pg_catalog.trim_scale(d.epsilon_units OPERATOR(pg_catalog./) 1000000000000.0) AS epsilon, d.delta, d.charge,
	d.columns, d.features, d.null_shares, d.left_out, d.described_by
FROM privpred.description d
	JOIN privpred.protected_relation r ON r.relation_id OPERATOR(pg_catalog.=) d.relation_id
	JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) r.relation::pg_catalog.oid
WHERE pg_catalog.pg_has_role(c.relowner, 'USAGE')
	OR EXISTS (SELECT FROM privpred.budgets b
		WHERE r.relation OPERATOR(pg_catalog.=) ANY (b.population)
			AND b.status OPERATOR(pg_catalog.<>) 'revoked');
COMMENT ON VIEW privpred.descriptions IS
'descriptions of the tables you own and of those you hold a budget for; reading them is free';
COMMENT ON COLUMN privpred.descriptions.charge IS
'what every budget was charged, and those that are granted later start with; NULL if no row was read';
COMMENT ON COLUMN privpred.descriptions.null_shares IS
'noisy numbers of units with NULL, as shares of declared_units';
COMMENT ON COLUMN privpred.descriptions.left_out IS
'columns that are not in features, and why';
COMMENT ON COLUMN privpred.descriptions.id IS 'its number';
COMMENT ON COLUMN privpred.descriptions.relation IS 'the protected table';
COMMENT ON COLUMN privpred.descriptions.at IS 'when it was described';
COMMENT ON COLUMN privpred.descriptions.epsilon IS 'that it took';
COMMENT ON COLUMN privpred.descriptions.delta IS 'that it took';
COMMENT ON COLUMN privpred.descriptions.columns IS 'that were described';
COMMENT ON COLUMN privpred.descriptions.features IS 'what create_model can be told of them';
COMMENT ON COLUMN privpred.descriptions.described_by IS 'who described it';
