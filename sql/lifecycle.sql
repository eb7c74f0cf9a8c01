-- Tables and roles come and go; budgets and models follow them, and nobody inherits by accident.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS privpred;
RESET client_min_messages;
CREATE FUNCTION refused(command text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  detail text;
  hint text;
BEGIN
  EXECUTE command;
  RETURN 'ACCEPTED';
EXCEPTION WHEN OTHERS THEN
  GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
  RETURN concat_ws(' | ', SQLSTATE, SQLERRM, nullif(detail, ''), nullif(hint, ''));
END $$;
\pset format unaligned
CREATE ROLE life_owner;
CREATE ROLE life_heir;
CREATE ROLE life_analyst;
CREATE SCHEMA life AUTHORIZATION life_owner;
SET ROLE life_owner;
CREATE TABLE life.t (id int PRIMARY KEY, x float8, y boolean);
INSERT INTO life.t SELECT i, (i % 100) / 100.0, i % 100 > 50 FROM generate_series(1, 1000) i;
SELECT privpred.protect('life.t');
SELECT privpred.create_model('life', 'life.t', label => 'y', features => '["x"]', teachers => 10, epsilon => 10) ->> 'version';
SELECT privpred.grant_budget('life_analyst', 'life.t', epsilon => 1000);

-- renamed, moved to another schema, given to another owner: the same table
ALTER TABLE life.t RENAME TO renamed;
RESET ROLE;
CREATE SCHEMA "life Two" AUTHORIZATION life_owner;
ALTER TABLE life.renamed SET SCHEMA "life Two";
SET ROLE life_owner;
SELECT privpred.retrain('life') ->> 'version';
SELECT name, relation FROM privpred.models;
SET ROLE life_analyst;
SELECT private_predict('life', ARRAY[0.9]);
SELECT relation, epsilon_spent FROM privpred.budgets;
RESET ROLE;
ALTER TABLE "life Two".renamed OWNER TO life_heir;
GRANT USAGE ON SCHEMA "life Two" TO life_heir;
SET ROLE life_owner;
SELECT refused($c$SELECT privpred.retrain('life')$c$);
SELECT count(*) FROM privpred.models;
SET ROLE life_heir;
SELECT privpred.retrain('life') ->> 'version';

-- the label, a feature or the unit is changed under the model
ALTER TABLE "life Two".renamed RENAME x TO xx;
SELECT refused($c$SELECT privpred.retrain('life')$c$);
ALTER TABLE "life Two".renamed RENAME xx TO x;
ALTER TABLE "life Two".renamed ALTER x TYPE text;
SELECT refused($c$SELECT privpred.retrain('life')$c$);
ALTER TABLE "life Two".renamed ALTER x TYPE float4 USING x::float4;
SELECT privpred.retrain('life') ->> 'version';
ALTER TABLE "life Two".renamed DROP CONSTRAINT t_pkey;
ALTER TABLE "life Two".renamed ALTER id DROP NOT NULL;
SELECT refused($c$SELECT privpred.retrain('life')$c$);
ALTER TABLE "life Two".renamed ALTER id SET NOT NULL;
SELECT privpred.retrain('life') ->> 'version';
-- and the model still answers
SET ROLE life_analyst;
SELECT private_predict('life', ARRAY[0.1]);

-- a role with a budget cannot be dropped by accident, nor can its budget be inherited
RESET ROLE;
SELECT refused('DROP ROLE life_analyst');
SELECT role_name AS holder, spent_units > 0 AS has_spent FROM privpred.account a JOIN privpred.protected_relation r USING (relation_id)
WHERE r.relation = '"life Two".renamed'::regclass AND role IS NOT NULL;
DROP OWNED BY life_analyst;
SET ROLE life_analyst;
SELECT refused($c$SELECT private_predict('life', ARRAY[0.1])$c$);
RESET ROLE;
DROP ROLE life_analyst;
-- the next role with that number starts from nothing (the number is forced here)
CREATE ROLE life_newcomer;
UPDATE privpred.account SET role = 'life_newcomer'::regrole WHERE role_name = 'life_analyst';
SET ROLE life_newcomer;
SELECT refused($c$SELECT private_predict('life', ARRAY[0.1])$c$);
SELECT count(*) FROM privpred.models;
RESET ROLE;

-- the table goes, its models and budgets go, the ledger stays; a new table of that name is not protected
CREATE ROLE life_widow;
SELECT privpred.grant_budget('life_widow', '"life Two".renamed', epsilon => 1);
SELECT refused('DROP ROLE life_widow');
SET ROLE life_heir;
DROP TABLE "life Two".renamed;
RESET ROLE;
SELECT role_name, status FROM privpred.budgets WHERE role_name = 'life_widow';
DROP ROLE life_widow;

-- a budget of whoever becomes the owner stays, and counts no longer when it is revoked
CREATE TABLE life.given (id int PRIMARY KEY, x float8, y boolean);
SELECT privpred.protect('life.given');
SELECT privpred.grant_budget('life_heir', 'life.given', epsilon => 1);
ALTER TABLE life.given OWNER TO life_heir;
SELECT role_name, status FROM privpred.budgets WHERE relation = 'life.given'::regclass;
SELECT privpred.revoke_budget('life_heir', 'life.given');
SELECT privpred.grant_budget('life_heir', 'life.given', epsilon => 2);
-- DROP OWNED by the role itself revokes nothing that others have granted
SELECT privpred.grant_budget('life_newcomer', 'life.given', epsilon => 2);
SET ROLE life_newcomer;
DROP OWNED BY life_newcomer;
RESET ROLE;
SELECT role_name, status FROM privpred.budgets WHERE relation = 'life.given'::regclass ORDER BY 1;
-- nor do privileges on the table's row type, which are something else; and they stay when the budget goes
GRANT USAGE ON SCHEMA life TO life_heir;
INSERT INTO life.given VALUES (1, 0.5, true);
SELECT privpred.create_model('life given', 'life.given', label => 'y', features => '["x"]', teachers => 10, epsilon => 0.1) ->> 'version';
GRANT USAGE ON TYPE life.given TO life_newcomer;
SELECT refused('DROP ROLE life_newcomer');
REVOKE USAGE ON TYPE life.given FROM life_newcomer;
SET ROLE life_newcomer;
SELECT private_predict('life given', ARRAY[0.1]) IS NOT NULL AS answered;
RESET ROLE;
SELECT refused('DROP ROLE life_newcomer');
GRANT USAGE ON TYPE life.given TO life_newcomer;
SELECT privpred.revoke_budget('life_newcomer', 'life.given');
SELECT refused('DROP ROLE life_newcomer');
REVOKE USAGE ON TYPE life.given FROM life_newcomer;
SELECT count(*) FROM pg_shdepend WHERE refobjid = 'life_newcomer'::regrole;
DROP TABLE life.given;
SELECT count(*) FROM privpred.model WHERE name = 'life';
SELECT relation IS NULL AS forgotten, relation_name, active, dropped_at IS NOT NULL AS dropped FROM privpred.protected_relation WHERE relation_name LIKE '%life%' ORDER BY relation_id;
SELECT count(*) > 0 AS ledger_stays FROM privpred.ledger_entry WHERE model = 'life';
SELECT refused($c$SELECT private_predict('life', ARRAY[0.1])$c$);
CREATE TABLE "life Two".renamed (id int PRIMARY KEY, x float8, y boolean);
SELECT refused($c$SELECT privpred.create_model('life', '"life Two".renamed', label => 'y', features => '["x"]')$c$);

-- a schema drop takes a protected table along
CREATE TABLE life.u (id int PRIMARY KEY, x float8, y boolean);
SELECT privpred.protect('life.u');
DROP SCHEMA life CASCADE;
DROP SCHEMA "life Two" CASCADE;
SELECT count(*) FROM privpred.protected_relation WHERE relation_name LIKE '%life%' AND relation IS NULL;

-- partitions and inheritance are trained as one table
CREATE TABLE parted (id int NOT NULL, x float8, y text) PARTITION BY RANGE (id);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (500);
CREATE TABLE parted_2 PARTITION OF parted DEFAULT;
INSERT INTO parted SELECT i, (i % 100) / 100.0, CASE WHEN i % 100 > 50 THEN 'b' ELSE 'a' END FROM generate_series(1, 1000) i;
SELECT privpred.protect('parted', unit => 'id');
SELECT privpred.create_model('parted', 'parted', label => 'y', classes => '{a,b}', features => '["x"]', teachers => 10, epsilon => 10, learner => 'linear') ->> 'version';
SELECT rows, majority_accuracy > 0.9 AS learnt FROM privpred.evaluate('parted', 'parted');
-- the same rows cannot have two budgets: not a partition beside its parent, nor the other way round, nor by attaching it later
SELECT refused($$SELECT privpred.protect('parted_1', unit => 'id')$$);
CREATE TABLE above (id int NOT NULL, x float8, y text) PARTITION BY RANGE (id);
CREATE TABLE below PARTITION OF above FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (id);
CREATE TABLE lowest PARTITION OF below DEFAULT;
SELECT privpred.protect('lowest', unit => 'id');
SELECT refused($$SELECT privpred.protect('above', unit => 'id')$$);
SELECT refused($$SELECT privpred.protect('below', unit => 'id')$$);
SELECT privpred.unprotect('lowest');
SELECT privpred.protect('above', unit => 'id');
SELECT refused($$SELECT privpred.protect('lowest', unit => 'id')$$);
CREATE TABLE parted_3 (id int NOT NULL, x float8, y text);
SELECT privpred.protect('parted_3', unit => 'id');
ALTER TABLE parted DETACH PARTITION parted_1;
ALTER TABLE parted ATTACH PARTITION parted_3 FOR VALUES FROM (0) TO (500);
SELECT refused($$SELECT privpred.retrain('parted')$$);
SELECT refused($$SELECT privpred.create_model('parted_3', 'parted_3', label => 'y', classes => '{a,b}', features => '["x"]')$$);
SELECT privpred.unprotect('parted_3');
SELECT privpred.retrain('parted') ->> 'version';
DROP TABLE above, parted_1;
-- relations that are not there, or not any more
SELECT call, refused('SELECT privpred.' || call) FROM unnest(ARRAY[$$evaluate('parted', 0)$$, $$distill('s', 'parted', 1)$$, $$littlestone_dimension(1)$$,
  $$protect(1)$$, $$unprotect(0)$$, $$grant_budget(current_user::regrole, 1, 1)$$, $$create_model('s', 1, label => 'y', features => '["x"]')$$]) call;
-- what changes something says so before it begins
BEGIN READ ONLY;
SELECT refused('SELECT privpred.' || call) FROM unnest(ARRAY[$$protect('parted')$$, $$unprotect('parted')$$, $$retrain('parted')$$, $$drop_model('parted')$$,
  $$create_model('s', 'parted', label => 'y', features => '["x"]')$$, $$distill('s', 'parted', 'parted')$$, $$chunk_index('parted')$$,
  $$grant_budget(current_user::regrole, 'parted', 1)$$, $$revoke_budget(current_user::regrole, 'parted')$$, $$forget('parted', 1)$$]) call;
COMMIT;
-- a damaged catalog is noticed
CREATE FUNCTION damaged(change text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE 'UPDATE privpred.model SET ' || change || $c$ WHERE name = 'parted'$c$;
  RAISE EXCEPTION '%', refused($c$SELECT privpred.retrain('parted')$c$);
EXCEPTION WHEN raise_exception THEN
  RETURN SQLERRM;
END $$;
SELECT damaged('learner = NULL');
SELECT damaged($$bin_edges = '{}'$$);
SELECT damaged($$bin_edges = '{1,2}'$$);
DROP FUNCTION damaged;
DROP TABLE parted;
DROP ROLE life_newcomer, life_heir, life_owner;
DROP FUNCTION refused;
