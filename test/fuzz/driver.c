/*
 * driver.c
 *		Runs one target inside a single-user server, so that jsonb, memory contexts
 *		and errors are the server's own.
 *
 * fuzz(target, arguments) hands over to libFuzzer.  Without clang (FUZZ_REPLAY) the
 * arguments are directories, whose files are replayed.
 */
#include "fuzz.h"

#include <dirent.h>
#include <sys/stat.h>

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/fd.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/resowner.h"

#include "catalog/features.h"

PG_MODULE_MAGIC;

PGDLLEXPORT Datum fuzz(PG_FUNCTION_ARGS);
PG_FUNCTION_INFO_V1(fuzz);

static const struct
{
	const char *name;
	FuzzTarget	run;
} targets[] = {
	{"predictor", fuzz_predictor}, {"state", fuzz_state},	  {"charge", fuzz_charge},
	{"features", fuzz_features},   {"options", fuzz_options}, {"question", fuzz_question},
	{"model", fuzz_model},
};

static FuzzTarget	  target;
MemoryContext		  fuzz_iteration;
static unsigned char *exact = NULL;

void
fuzz_broken(const char *promise)
{
	fprintf(stderr, "broken promise: %s\n", promise);
	abort();
}

char *
fuzz_text(const uint8 *data, Size size)
{
	char *text = palloc(size + 1);

	memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

unsigned char *
fuzz_exact(const uint8 *data, Size size)
{
	free(exact);
	exact = malloc(Max(size, 1));
	if (exact == NULL)
		abort();
	memcpy(exact, data, size);
	return exact;
}

/* What users can cause has an error code of its own. */
static void
check_error(void)
{
	MemoryContext caller = MemoryContextSwitchTo(fuzz_iteration);
	ErrorData	 *error = CopyErrorData();

	FlushErrorState();
	if (getenv("FUZZ_VERBOSE") != NULL)
		fprintf(stderr, "refused: %s\n", error->message);
	/* damage is what the stored state of a model is refused with */
	if (ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INTERNAL_ERROR &&
		error->sqlerrcode != ERRCODE_DATA_CORRUPTED)
	{
		fprintf(stderr, "internal error: %s\n", error->message);
		abort();
	}
	if (error->message == NULL || error->message[0] == '\0')
		fuzz_broken("an error says something");
	MemoryContextSwitchTo(caller);
}

static int
one_input(const uint8 *data, size_t size)
{
	MemoryContext caller = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(fuzz_iteration);
	PG_TRY();
	{
		target(data, size);
	}
	PG_CATCH();
	{
		check_error();
	}
	PG_END_TRY();
	question_note_problems(false);
	RollbackAndReleaseCurrentSubTransaction();
	CurrentResourceOwner = owner;
	MemoryContextSwitchTo(caller);
	fuzz_unguard_all();
	MemoryContextReset(fuzz_iteration);
	free(exact);
	exact = NULL;
	return 0;
}

#ifdef FUZZ_REPLAY

static int64
replay(const char *directory)
{
	DIR			  *files = AllocateDir(directory);
	struct dirent *entry;
	int64		   count = 0;

	while ((entry = ReadDir(files, directory)) != NULL)
	{
		char	   *path = psprintf("%s/%s", directory, entry->d_name);
		struct stat status;
		FILE	   *file;
		uint8	   *data;

		if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		data = palloc(Max(status.st_size, 1));
		file = AllocateFile(path, "rb");
		if (file == NULL || fread(data, 1, status.st_size, file) != status.st_size)
			elog(ERROR, "cannot read \"%s\"", path);
		FreeFile(file);
		(void) one_input(data, status.st_size);
		count++;
	}
	FreeDir(files);
	return count;
}

static void
run(int argc, char **argv)
{
	int64 count = 0;

	for (int i = 1; i < argc; i++)
		if (argv[i][0] != '-')
			count += replay(argv[i]);
	fprintf(stderr, "\nDone %lld runs\n", (long long) count);
}

#else

extern int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*user)(const uint8 *, size_t));

static void
run(int argc, char **argv)
{
	(void) LLVMFuzzerRunDriver(&argc, &argv, one_input);
}

#endif

Datum
fuzz(PG_FUNCTION_ARGS)
{
	char  *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Datum *arguments;
	int	   count;
	char **argv;

	for (int i = 0; i < lengthof(targets); i++)
		if (strcmp(targets[i].name, name) == 0)
			target = targets[i].run;
	if (target == NULL)
		elog(ERROR, "no such target: %s", name);
	deconstruct_array(PG_GETARG_ARRAYTYPE_P(1), TEXTOID, -1, false, TYPALIGN_INT, &arguments, NULL,
					  &count);
	argv = palloc0(sizeof(char *) * (count + 2));
	argv[0] = "fuzz";
	for (int i = 0; i < count; i++)
		argv[i + 1] = TextDatumGetCString(arguments[i]);
	/* Small blocks: what is larger is a block of its own, whose ends the sanitizer knows. */
	fuzz_iteration = AllocSetContextCreateInternal(TopMemoryContext, "fuzz", 0, 1024, 1024);
	run(count + 1, argv);
	PG_RETURN_VOID();
}
