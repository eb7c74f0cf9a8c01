----------------------------------------------------------------------
-- Functions for analysts: private_predict, private_score and check
----------------------------------------------------------------------

-- One form for every type that numbers, objects and rows are written in: a call that
-- fits ours exactly cannot be caught by somebody else's function of the same name.
-- There are no defaults, because a function that needs none would be preferred.
-- The same functions stand in privpred, a schema that is closed to everybody.
CREATE FUNCTION @extschema@.private_predict(model text, features float8[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, float8[]) IS
'one private answer, paid from the caller''s budget; numbers in their own units, levels one-hot, booleans 0/1, in declared order';

CREATE FUNCTION @extschema@.private_predict(model text, features numeric[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, numeric[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION @extschema@.private_predict(model text, features jsonb)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_jsonb'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, jsonb) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION @extschema@.private_predict(model text, features json)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_json'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, json) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION @extschema@.private_predict(model text, features record)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_row'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, record) IS
'one private answer, paid from the caller''s budget; a row whose columns are matched by name';

CREATE FUNCTION @extschema@.private_predict(model text, features text)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_text'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_predict(text, text) IS
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text; literals without a type take this form';

CREATE FUNCTION @extschema@.private_score(model text, features float8[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; numbers in their own units, levels one-hot, booleans 0/1, in declared order';
CREATE FUNCTION @extschema@.private_score(model text, features float8[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features float8[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, float8[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features numeric[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features numeric[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, numeric[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features bigint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, bigint[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features int[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, int[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features smallint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, smallint[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION @extschema@.private_score(model text, features real[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features real[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, real[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features jsonb)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION @extschema@.private_score(model text, features jsonb, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features jsonb, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, jsonb, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features json)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION @extschema@.private_score(model text, features json, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features json, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, json, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features record)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a row whose columns are matched by name';
CREATE FUNCTION @extschema@.private_score(model text, features record, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features record, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, record, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION @extschema@.private_score(model text, features text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text; literals without a type take this form';
CREATE FUNCTION @extschema@.private_score(model text, features text, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION @extschema@.private_score(model text, features text, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION @extschema@.private_score(text, text, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_predict(model text, features float8[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, float8[]) IS
'one private answer, paid from the caller''s budget; numbers in their own units, levels one-hot, booleans 0/1, in declared order';

CREATE FUNCTION privpred.private_predict(model text, features numeric[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, numeric[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features bigint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, bigint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features int[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, int[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features smallint[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, smallint[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features real[])
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_array'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, real[]) IS
'one private answer, paid from the caller''s budget; an array of other numbers, read as one of float8';

CREATE FUNCTION privpred.private_predict(model text, features jsonb)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_jsonb'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, jsonb) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION privpred.private_predict(model text, features json)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_json'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, json) IS
'one private answer, paid from the caller''s budget; features by name';

CREATE FUNCTION privpred.private_predict(model text, features record)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_row'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, record) IS
'one private answer, paid from the caller''s budget; a row whose columns are matched by name';

CREATE FUNCTION privpred.private_predict(model text, features text)
RETURNS text AS 'MODULE_PATHNAME', 'private_predict_text'
LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_predict(text, text) IS
'one private answer, paid from the caller''s budget; a JSON object or an array of numbers, written as text; literals without a type take this form';

CREATE FUNCTION privpred.private_score(model text, features float8[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; numbers in their own units, levels one-hot, booleans 0/1, in declared order';
CREATE FUNCTION privpred.private_score(model text, features float8[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features float8[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, float8[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features numeric[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features numeric[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features numeric[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, numeric[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features bigint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features bigint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features bigint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, bigint[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features int[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features int[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features int[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, int[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features smallint[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features smallint[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features smallint[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, smallint[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features real[])
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[]) IS
'one private number, paid from the caller''s budget: a score or a predicted number; an array of other numbers, read as one of float8';
CREATE FUNCTION privpred.private_score(model text, features real[], "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[], float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features real[], "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_array'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, real[], float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features jsonb)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION privpred.private_score(model text, features jsonb, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features jsonb, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_jsonb'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, jsonb, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features json)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json) IS
'one private number, paid from the caller''s budget: a score or a predicted number; features by name';
CREATE FUNCTION privpred.private_score(model text, features json, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features json, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_json'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, json, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features record)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a row whose columns are matched by name';
CREATE FUNCTION privpred.private_score(model text, features record, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features record, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_row'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, record, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.private_score(model text, features text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text) IS
'one private number, paid from the caller''s budget: a score or a predicted number; a JSON object or an array of numbers, written as text; literals without a type take this form';
CREATE FUNCTION privpred.private_score(model text, features text, "precision" float8)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text, float8) IS
'the same, to a precision; NULL is the model''s own';
CREATE FUNCTION privpred.private_score(model text, features text, "precision" float8, class text)
RETURNS float8 AS 'MODULE_PATHNAME', 'private_score_text'
LANGUAGE C VOLATILE PARALLEL RESTRICTED COST 10000;
COMMENT ON FUNCTION privpred.private_score(text, text, float8, text) IS
'the same of a class: its score';

CREATE FUNCTION privpred.check(model text, features float8[], OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_array' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, float8[]) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; an array of numbers';

CREATE FUNCTION privpred.check(model text, features jsonb, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_jsonb' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, jsonb) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; features by name';

CREATE FUNCTION privpred.check(model text, features json, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_json' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, json) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; features by name';

CREATE FUNCTION privpred.check(model text, features record, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_row' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, record) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; a row whose columns are matched by name';

CREATE FUNCTION privpred.check(model text, features text, OUT accepted boolean, OUT problem text, OUT hint text)
AS 'MODULE_PATHNAME', 'privpred_check_text' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100;
COMMENT ON FUNCTION privpred.check(text, text) IS
'would private_predict take this question, and if not, why; from the declaration alone, for whoever may ask it; costs nothing; a JSON object or an array of numbers, written as text';
