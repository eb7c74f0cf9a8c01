----------------------------------------------------------------------
-- Forgetting a unit, and certificates of it
----------------------------------------------------------------------

CREATE FUNCTION privpred.forget(relation regclass, unit text, delete_rows boolean DEFAULT false,
	dry_run boolean DEFAULT false, at text DEFAULT 'now')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_forget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forget(regclass, text, boolean, boolean, text) IS
'owner: takes a unit out of every model of a protected table, after its rows were deleted or with delete_rows, by fitting again the one teacher that saw it; says what was done, and the number of the certificate; a unit of several columns is written like an array; dry_run says what would be done; at => ''next retrain'' leaves each model as it is until then';

CREATE FUNCTION privpred.forget(relation regclass, unit anyelement, delete_rows boolean DEFAULT false,
	dry_run boolean DEFAULT false, at text DEFAULT 'now')
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_forget' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.forget(regclass, anyelement, boolean, boolean, text) IS
'the same for ids that are not text; a unit of several columns is a row';

CREATE FUNCTION privpred.certificate(certificate bigint)
RETURNS jsonb AS 'MODULE_PATHNAME', 'privpred_certificate' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.certificate(bigint) IS
'owner: what forget() did, as a document for the person, with its place in the ledger; it names nobody';

CREATE FUNCTION privpred.verify_certificate(certificate jsonb, unit text DEFAULT NULL,
	OUT ok boolean, OUT problem text, OUT entry bigint)
AS 'MODULE_PATHNAME', 'privpred_verify_certificate' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.verify_certificate(jsonb, text) IS
'owner: checks a certificate against the ledger, whose chain it recomputes, against the models that still have the version it names, and, if a unit is given, that it is about this unit';

CREATE FUNCTION privpred.chunk_index(model text)
RETURNS text AS 'MODULE_PATHNAME', 'privpred_chunk_index' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION privpred.chunk_index(text) IS
'owner: the statement that makes an index of the table by teacher of a model, so that forget() reads one chunk instead of all rows; it shows which units share a teacher';
