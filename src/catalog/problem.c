/*
 * problem.c
 *		Questions that cannot be encoded: an error, or a note for whoever goes on
 *		without an answer.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "catalog/features.h"
#include "server/privpred.h"

#define PROBLEM_SIZE 512

static bool noting = false;
static char noted[PROBLEM_SIZE]; /* empty: nothing */

void
question_refuse(const char *message, const char *detail, const char *hint)
{
	if (!noting)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s", message),
						detail != NULL ? errdetail("%s", detail) : 0, errhint("%s", hint)));
	if (noted[0] != '\0')
		return;
	if (detail != NULL)
		message = psprintf("%s: %s", message, detail);
	strlcpy(noted, message, pg_mbcliplen(message, strlen(message), PROBLEM_SIZE - 1) + 1);
}

void
question_note_problems(bool wanted)
{
	noting = wanted;
	if (wanted)
		noted[0] = '\0';
}

const char *
question_problem(void)
{
	return noting && noted[0] != '\0' ? noted : NULL;
}
