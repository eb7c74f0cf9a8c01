----------------------------------------------------------------------
-- Event triggers: tables and roles that are dropped
----------------------------------------------------------------------

CREATE FUNCTION privpred.on_sql_drop()
RETURNS event_trigger AS 'MODULE_PATHNAME', 'privpred_on_sql_drop' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_sql_drop() IS
'forgets protected tables that are dropped, so that a re-used identity inherits nothing';

CREATE EVENT TRIGGER privpred_on_sql_drop ON sql_drop EXECUTE FUNCTION privpred.on_sql_drop();

CREATE FUNCTION privpred.on_rename()
RETURNS event_trigger AS 'MODULE_PATHNAME', 'privpred_on_rename' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_rename() IS
'remembers new names of protected tables, and refuses those of tables that have an account';

-- Every command that can give a table another name or schema.
CREATE EVENT TRIGGER privpred_on_rename ON ddl_command_end
	WHEN TAG IN ('ALTER TABLE', 'ALTER FOREIGN TABLE', 'ALTER VIEW', 'ALTER INDEX', 'ALTER SCHEMA', 'ALTER EXTENSION')
	EXECUTE FUNCTION privpred.on_rename();

CREATE FUNCTION privpred.on_drop_owned() RETURNS event_trigger
	AS 'MODULE_PATHNAME', 'privpred_on_drop_owned' LANGUAGE C;
COMMENT ON FUNCTION privpred.on_drop_owned() IS 'revokes the budgets of roles after DROP OWNED BY';

CREATE EVENT TRIGGER privpred_on_drop_owned ON ddl_command_end WHEN TAG IN ('DROP OWNED')
	EXECUTE FUNCTION privpred.on_drop_owned();

-- This loads the library, which then notices that the extension is dropped.
CREATE EVENT TRIGGER privpred_on_drop_extension ON ddl_command_start
	WHEN TAG IN ('DROP EXTENSION', 'DROP SCHEMA')
	EXECUTE FUNCTION privpred.on_drop_owned();
