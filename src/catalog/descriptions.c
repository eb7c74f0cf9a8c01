/*
 * descriptions.c
 *		Descriptions of tables: rows of privpred.description.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "catalog/cells.h"
#include "server/query.h"
#include "server/session.h"

int64
description_number(void)
{
	CatalogSession session;
	int64		   number;

	catalog_begin(&session);
	query_write("SELECT pg_catalog.nextval('privpred.model_training_id_seq')");
	number = row_int8(0, 1);
	catalog_end(&session);
	return number;
}

void
description_insert(const DescriptionRecord *description)
{
	char		  *user = GetUserNameFromId(GetUserId(), false);
	CatalogSession session;

	catalog_begin(&session);
	query_write("INSERT INTO privpred.description (description_id, relation_id, epsilon_units, "
				"delta, charge, columns, features, null_shares, left_out, described_by) "
				"VALUES ($1, $2, $3, $4, $5, $6, $7::pg_catalog.json, $8::pg_catalog.jsonb, "
				"$9::pg_catalog.jsonb, $10)",
				ARG_INT8(description->id), ARG_INT8(description->relation_id),
				ARG_INT8(description->epsilon), ARG_FLOAT8(description->delta),
				ARG_TEXT(description->charge), ARG_POINTER(NAMEARRAYOID, description->columns),
				ARG_TEXT(description->features), ARG_TEXT(description->null_shares),
				ARG_TEXT(description->left_out), ARG_NAME(user));
	CommandCounterIncrement();
	catalog_end(&session);
}

bool
description_exists(int64 relation_id)
{
	CatalogSession session;
	bool		   exists;

	catalog_begin(&session);
	query_read("SELECT EXISTS (SELECT FROM privpred.description WHERE relation_id "
			   "OPERATOR(pg_catalog.=) $1)",
			   ARG_INT8(relation_id));
	exists = row_bool(0, 1);
	catalog_end(&session);
	return exists;
}
