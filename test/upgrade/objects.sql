-- What the extension consists of, one property a line: the same for a database that was upgraded
-- and for one in which the extension was created.  Names of objects, not their numbers.
WITH member AS (
  SELECT d.classid, d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
  WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e' AND e.extname = 'privpred'
), named AS (
  SELECT m.classid, m.objid, i.type || ' ' || i.identity AS object
  FROM member m, pg_identify_object(m.classid, m.objid, 0) i
), class AS (
  SELECT c.*, n.object FROM named n JOIN pg_class c ON c.oid = n.objid WHERE n.classid = 'pg_class'::regclass
), acl AS (
  SELECT object, proacl AS acl FROM named JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid
  UNION ALL SELECT object, relacl FROM class
  UNION ALL SELECT object || ' column ' || attname, attacl FROM class JOIN pg_attribute a ON attrelid = class.oid WHERE attacl IS NOT NULL
  UNION ALL SELECT object, typacl FROM named JOIN pg_type t ON classid = 'pg_type'::regclass AND t.oid = objid
  UNION ALL SELECT object, nspacl FROM named JOIN pg_namespace s ON classid = 'pg_namespace'::regclass AND s.oid = objid
), property(object, property, value) AS (
  SELECT object, 'exists', NULL FROM named
  UNION ALL SELECT object, 'comment', obj_description(objid, classid::regclass::name) FROM named
  -- pg_dump leaves out what the script itself has granted
  UNION ALL SELECT object, 'initial privileges', ARRAY(SELECT a::text FROM unnest(p.initprivs) a ORDER BY 1)::text
    FROM named JOIN pg_init_privs p ON p.classoid = classid AND p.objoid = objid AND p.objsubid = 0
  UNION ALL SELECT object, 'privileges', CASE WHEN acl IS NOT NULL THEN ARRAY(SELECT a::text FROM unnest(acl) a ORDER BY 1)::text END FROM acl
  UNION ALL SELECT object, 'definition', pg_get_functiondef(p.oid)
    FROM named JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid WHERE p.prokind <> 'a'
  UNION ALL SELECT object, 'function', concat_ws(' | ', prokind, provolatile, proparallel, procost, prorows, proisstrict, prosecdef, proleakproof, proretset,
      proconfig, probin, prosrc, prosupport, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), lanname)
    FROM named JOIN pg_proc p ON classid = 'pg_proc'::regclass AND p.oid = objid JOIN pg_language l ON l.oid = p.prolang
  UNION ALL SELECT object, 'aggregate', concat_ws(' | ', aggkind, aggnumdirectargs, aggtransfn, aggfinalfn, aggcombinefn, aggserialfn, aggdeserialfn, aggmtransfn,
      aggminvtransfn, aggmfinalfn, aggfinalextra, aggfinalmodify, aggsortop, aggtranstype::regtype, aggtransspace, aggmtranstype, coalesce(agginitval, 'NULL'))
    FROM named JOIN pg_aggregate a ON classid = 'pg_proc'::regclass AND a.aggfnoid = objid
  UNION ALL SELECT object, 'class', concat_ws(' | ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, relreplident, relhasrules, relhastriggers,
      ARRAY(SELECT o FROM unnest(reloptions) o ORDER BY 1), a.amname) FROM class LEFT JOIN pg_am a ON a.oid = relam
  UNION ALL SELECT object, 'view', pg_get_viewdef(class.oid) FROM class WHERE relkind = 'v'
  -- counted without those that were dropped; the ledger's process knows columns of accounts by their place
  UNION ALL SELECT object, 'column ' || a.place, concat_ws(' | ', attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated, attstorage,
      attcompression, pg_get_expr(adbin, adrelid), collname, col_description(class.oid, attnum))
    FROM class JOIN (SELECT *, row_number() OVER (PARTITION BY attrelid ORDER BY attnum) AS place FROM pg_attribute WHERE attnum > 0 AND NOT attisdropped) a
      ON a.attrelid = class.oid AND relkind <> 'S'
    LEFT JOIN pg_attrdef ON adrelid = class.oid AND adnum = attnum LEFT JOIN pg_collation l ON l.oid = attcollation
  UNION ALL SELECT object, 'gap before column ' || attname, NULL FROM class JOIN pg_attribute a ON attrelid = class.oid
    WHERE relname = 'account' AND attnum > 0 AND NOT attisdropped
      AND attnum <> (SELECT count(*) FROM pg_attribute b WHERE b.attrelid = class.oid AND b.attnum > 0 AND NOT b.attisdropped AND b.attnum <= a.attnum)
  UNION ALL SELECT object, 'constraint ' || conname, concat_ws(' | ', pg_get_constraintdef(k.oid), convalidated) FROM class JOIN pg_constraint k ON conrelid = class.oid
    WHERE contype <> 'n'
  UNION ALL SELECT object, 'index ' || indexrelid::regclass, concat_ws(' | ', pg_get_indexdef(indexrelid), indisvalid, indisclustered, indisreplident) FROM class JOIN pg_index ON indrelid = class.oid
  UNION ALL SELECT object, 'trigger ' || tgname, concat_ws(' | ', pg_get_triggerdef(t.oid), tgenabled) FROM class JOIN pg_trigger t ON tgrelid = class.oid AND NOT tgisinternal
  UNION ALL SELECT object, 'policy ' || polname, concat_ws(' | ', polcmd, polroles, pg_get_expr(polqual, polrelid), pg_get_expr(polwithcheck, polrelid)) FROM class JOIN pg_policy ON polrelid = class.oid
  UNION ALL SELECT object, 'sequence', concat_ws(' | ', seqtypid::regtype, seqstart, seqincrement, seqmax, seqmin, seqcache, seqcycle) FROM class JOIN pg_sequence ON seqrelid = class.oid
  UNION ALL SELECT object, 'type', concat_ws(' | ', typtype, typlen, typbyval, typcategory, typispreferred, typdelim, typinput, typoutput, typreceive, typsend, typmodin, typmodout,
      typanalyze, typalign, typstorage, typnotnull, typbasetype::regtype, typdefault) FROM named JOIN pg_type t ON classid = 'pg_type'::regclass AND t.oid = objid
  UNION ALL SELECT object, 'cast', concat_ws(' | ', castfunc::regproc, castcontext, castmethod) FROM named JOIN pg_cast c ON classid = 'pg_cast'::regclass AND c.oid = objid
  UNION ALL SELECT object, 'operator', concat_ws(' | ', oprcode, oprrest, oprjoin, oprcom::regoperator, oprnegate::regoperator, oprcanmerge, oprcanhash)
    FROM named JOIN pg_operator o ON classid = 'pg_operator'::regclass AND o.oid = objid
  UNION ALL SELECT object, 'event trigger', concat_ws(' | ', evtevent, evtfoid::regprocedure, evtenabled, evttags::text)
    FROM named JOIN pg_event_trigger t ON classid = 'pg_event_trigger'::regclass AND t.oid = objid
  UNION ALL SELECT 'extension', 'version', extversion FROM pg_extension WHERE extname = 'privpred'
  UNION ALL SELECT 'extension', 'dumps ' || c.oid::regclass, x.condition
    FROM pg_extension e, unnest(e.extconfig, e.extcondition) x(oid, condition) JOIN pg_class c ON c.oid = x.oid WHERE extname = 'privpred'
  -- in our schema, and nobody's
  UNION ALL SELECT i.type || ' ' || i.identity, 'is not part of the extension', NULL
    FROM (SELECT 'pg_class'::regclass, c.oid FROM pg_class c WHERE relnamespace = 'privpred'::regnamespace AND relkind IN ('r', 'v', 'S', 'm', 'p', 'f')
      UNION ALL SELECT 'pg_proc'::regclass, oid FROM pg_proc WHERE pronamespace = 'privpred'::regnamespace) o(classid, objid),
      pg_identify_object(o.classid, o.objid, 0) i
    WHERE (o.classid, o.objid) NOT IN (SELECT classid, objid FROM member)
)
SELECT line FROM (SELECT replace(concat_ws(' | ', object, property, coalesce(value, '-')), E'\n', ' ') AS line FROM property) l ORDER BY line COLLATE "C";
