/*
 * predictor.c
 *		The stored form of predictors inside the server: building and packing.
 *
 * Class names are stored in UTF-8, so that a dump can be restored into a
 * database with another encoding.
 */
#include "postgres.h"

#include <math.h>

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "learner/learners.h"

/* Of a constant that is not padded. */
#define CONSTANT_SIZE 4

struct PredictorBuilder
{
	int			   nclasses;
	int			   width;
	StringInfoData bytes;  /* header, names, then the only member */
	Size		   member; /* where it starts */
};

/* ---------- checking ---------- */

pg_noreturn static void
refuse_bytes(const char *problem, int sqlstate)
{
	ereport(ERROR, errcode(sqlstate), errmsg("invalid predictor"),
			errdetail_internal("%s", problem));
}

void
predictor_read(const Predictor *stored, PredictorShape *shape)
{
	const char *problem = predictor_parse((const unsigned char *) VARDATA_ANY(stored),
										  VARSIZE_ANY_EXHDR(stored), shape);

	if (problem != NULL)
		refuse_bytes(problem, ERRCODE_INVALID_BINARY_REPRESENTATION);
}

char *
stored_string(const unsigned char **position)
{
	const char *bytes;
	uint32_t	length;

	*position = predictor_next_string(*position, &bytes, &length);
	return pnstrdup(bytes, length);
}

char *
stored_text(const unsigned char **position)
{
	char *utf8 = stored_string(position);

	return pg_any_to_server(utf8, strlen(utf8), PG_UTF8);
}

Predictor *
predictor_from_bytes(const char *bytes, Size size, int sqlstate)
{
	PredictorShape shape;
	const char	  *problem = predictor_parse((const unsigned char *) bytes, size, &shape);
	Predictor	  *result;

	if (problem == NULL && GetDatabaseEncoding() != PG_SQL_ASCII)
	{
		const unsigned char *position = shape.names;

		for (uint32 i = 0; i < shape.nclasses; i++)
		{
			const char *name;
			uint32		length;

			position = predictor_next_string(position, &name, &length);
			if (!pg_verify_mbstr(PG_UTF8, name, length, true))
				problem = "One of its class names is not valid UTF-8.";
		}
	}
	if (problem != NULL)
		refuse_bytes(problem, sqlstate);
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), bytes, size);
	return result;
}

/* ---------- building ---------- */

static unsigned char *
append_space(StringInfo bytes, Size size)
{
	unsigned char *start;

	if (size >= MaxAllocSize)
		ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("predictor is too large"),
				errhint("Use fewer teachers, features or classes."));
	enlargeStringInfo(bytes, size);
	start = (unsigned char *) bytes->data + bytes->len;
	bytes->len += size;
	return start;
}

static void
append_string(StringInfo bytes, const char *string, Size length)
{
	write_u32(append_space(bytes, 4), length);
	memcpy(append_space(bytes, length), string, length);
}

static void
append_header(StringInfo bytes, uint32 nclasses, uint32 width, uint32 nmembers, uint32 fallback)
{
	unsigned char *header = append_space(bytes, PREDICTOR_HEADER_SIZE);

	memset(header, 0, PREDICTOR_HEADER_SIZE);
	memcpy(header, PREDICTOR_MAGIC, 4);
	header[4] = PREDICTOR_VERSION;
	write_u32(header + 8, nclasses);
	write_u32(header + 12, width);
	write_u32(header + 16, nmembers);
	write_u32(header + 20, fallback);
}

PredictorBuilder *
builder_create(int nclasses, char **classes, int width, int default_class)
{
	PredictorBuilder *builder = palloc(sizeof(PredictorBuilder));

	builder->nclasses = nclasses;
	builder->width = width;
	initStringInfo(&builder->bytes);
	append_header(&builder->bytes, nclasses, width, 1, default_class);
	for (int i = 0; i < nclasses; i++)
	{
		char *name = pg_server_to_any(classes[i], strlen(classes[i]), PG_UTF8);

		append_string(&builder->bytes, name, strlen(name));
	}
	builder->member = builder->bytes.len;
	return builder;
}

unsigned char *
builder_member(PredictorBuilder *builder, uint32 kind, Size size)
{
	unsigned char *start;

	builder->bytes.len = builder->member;
	start = append_space(&builder->bytes, PREDICTOR_MEMBER_HEADER + size);
	write_u32(start, kind);
	write_u32(start + 4, size);
	return start + PREDICTOR_MEMBER_HEADER;
}

Size
linear_member_size(int nclasses, int width, const LearnerOptions *options)
{
	return sizeof(double) * LINEAR_VECTORS(nclasses) * (width + 1);
}

void
builder_constant(PredictorBuilder *builder, int class_index)
{
	write_u32(builder_member(builder, MEMBER_CONSTANT, CONSTANT_SIZE), class_index);
}

void
builder_linear(PredictorBuilder *builder, const double *weights)
{
	Size		   size = linear_member_size(builder->nclasses, builder->width, NULL);
	unsigned char *body = builder_member(builder, MEMBER_LINEAR, size);

	for (Size i = 0; i < size / 8; i++)
		write_double(body + 8 * i, weights[i]);
}

void
builder_forest(PredictorBuilder *builder, const Forest *forest)
{
	forest_store(forest, builder_member(builder, MEMBER_FOREST, forest_stored_size(forest)));
}

void
builder_sql(PredictorBuilder *builder, const char *predict, const char *type, const char *value)
{
	Size size = 12 + strlen(predict) + strlen(type) + strlen(value);

	(void) builder_member(builder, MEMBER_SQL, size);
	builder->bytes.len -= size;
	append_string(&builder->bytes, predict, strlen(predict));
	append_string(&builder->bytes, type, strlen(type));
	append_string(&builder->bytes, value, strlen(value));
}

/* Checks what a learner wrote by the same rules as what a user wrote. */
Predictor *
builder_finish(PredictorBuilder *builder)
{
	return predictor_from_bytes(builder->bytes.data, builder->bytes.len, ERRCODE_INTERNAL_ERROR);
}

/* ---------- packing ---------- */

bool
predictor_same_shape(const Predictor *a, const Predictor *b)
{
	PredictorShape sa;
	PredictorShape sb;

	predictor_read(a, &sa);
	predictor_read(b, &sb);
	return sa.nclasses == sb.nclasses && sa.width == sb.width &&
		   sa.default_class == sb.default_class && sa.names_size == sb.names_size &&
		   memcmp(sa.names, sb.names, sa.names_size) == 0;
}

static int
compare_members(const void *a, const void *b)
{
	const PredictorMember *ma = a;
	const PredictorMember *mb = b;

	if (ma->kind != mb->kind)
		return ma->kind < mb->kind ? -1 : 1;
	if (ma->size != mb->size)
		return ma->size < mb->size ? -1 : 1;
	return memcmp(ma->body, mb->body, ma->size);
}

/* All members of all predictors, sorted by their bytes. */
static PredictorMember *
collect_members(int n, Predictor *const *predictors, uint32 *nmembers, Size *size)
{
	PredictorMember *members;
	uint64			 total = 0;
	uint32			 filled = 0;

	for (int i = 0; i < n; i++)
	{
		PredictorShape shape;

		predictor_read(predictors[i], &shape);
		total += shape.nmembers;
	}
	if (total > PRIVPRED_MAX_TEACHERS)
		refuse(errmsg("an ensemble has at most %d members", PRIVPRED_MAX_TEACHERS));
	members = palloc(total * sizeof(PredictorMember));
	*size = 0;
	for (int i = 0; i < n; i++)
	{
		PredictorShape		 shape;
		const unsigned char *position;

		predictor_read(predictors[i], &shape);
		position = shape.members;
		for (uint32 m = 0; m < shape.nmembers; m++)
			position = predictor_next_member(position, &members[filled++]);
		*size += shape.members_size;
	}
	qsort(members, filled, sizeof(PredictorMember), compare_members);
	*nmembers = filled;
	return members;
}

Predictor *
predictor_pack(int n, Predictor *const *predictors)
{
	PredictorShape	 shape;
	PredictorMember *members;
	uint32			 nmembers;
	Size			 members_size;
	StringInfoData	 bytes;
	unsigned char	*position;
	Predictor		*result;

	StaticAssertStmt(PRIVPRED_MAX_TEACHERS == 100000 && PRIVPRED_MAX_CLASSES == 1000 &&
						 PRIVPRED_MAX_WIDTH == 16384,
					 "predictor_format.c repeats these limits");

	members = collect_members(n, predictors, &nmembers, &members_size);
	predictor_read(predictors[0], &shape);

	initStringInfo(&bytes);
	bytes.len = VARHDRSZ;
	append_header(&bytes, shape.nclasses, shape.width, nmembers, shape.default_class);
	memcpy(append_space(&bytes, shape.names_size), shape.names, shape.names_size);
	position = append_space(&bytes, members_size);
	for (uint32 i = 0; i < nmembers; i++)
	{
		Size size = PREDICTOR_MEMBER_HEADER + members[i].size;

		memcpy(position, members[i].body - PREDICTOR_MEMBER_HEADER, size);
		position += size;
	}
	result = (Predictor *) bytes.data;
	SET_VARSIZE(result, bytes.len);
	return result;
}

/* A teacher that always says the same, in the space of one that learnt. */
static void
append_constant(StringInfo bytes, uint32 class_index, Size size)
{
	unsigned char *start = append_space(bytes, PREDICTOR_MEMBER_HEADER + size);

	memset(start, 0, PREDICTOR_MEMBER_HEADER + size);
	write_u32(start, MEMBER_CONSTANT);
	write_u32(start + 4, size);
	write_u32(start + PREDICTOR_MEMBER_HEADER, class_index);
}

Predictor *
predictor_complete(const Learner *learner, const LearnerOptions *options, const Predictor *packed,
				   int teachers, int width, int default_class)
{
	int				  nclasses = options->nclasses;
	PredictorBuilder *builder = builder_create(nclasses, options->classes, width, default_class);
	StringInfo		  bytes = &builder->bytes;
	Size		   size = learner->member_size ? learner->member_size(nclasses, width, options) : 4;
	PredictorShape shape = {0};
	const unsigned char *position;

	if (packed != NULL)
		predictor_read(packed, &shape);
	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		PredictorMember member;

		position = predictor_next_member(position, &member);
		if (member.kind == MEMBER_CONSTANT)
			append_constant(bytes, read_u32(member.body), size);
		else
			memcpy(append_space(bytes, PREDICTOR_MEMBER_HEADER + member.size),
				   member.body - PREDICTOR_MEMBER_HEADER, PREDICTOR_MEMBER_HEADER + member.size);
	}
	for (int i = shape.nmembers; i < teachers; i++)
		append_constant(bytes, default_class, size);
	write_u32((unsigned char *) bytes->data + 16, teachers);
	return builder_finish(builder);
}

/* ---------- teachers by number ---------- */

PredictorMember *
predictor_members(const Predictor *stored, int *nmembers)
{
	PredictorShape		 shape;
	PredictorMember		*members;
	const unsigned char *position;

	predictor_read(stored, &shape);
	members = palloc_array(PredictorMember, shape.nmembers);
	position = shape.members;
	for (uint32 i = 0; i < shape.nmembers; i++)
	{
		position = predictor_next_member(position, &members[i]);
		if (members[i].kind == MEMBER_CONSTANT)
			members[i].size = CONSTANT_SIZE;
	}
	*nmembers = shape.nmembers;
	return members;
}

typedef struct NumberedMember
{
	PredictorMember member;
	int				teacher;
} NumberedMember;

/* Those that saw no row come last. */
static int
compare_numbered(const void *a, const void *b)
{
	const NumberedMember *na = a;
	const NumberedMember *nb = b;

	if ((na->member.kind == 0) != (nb->member.kind == 0))
		return na->member.kind == 0 ? 1 : -1;
	if (na->member.kind == 0)
		return 0;
	return compare_members(&na->member, &nb->member);
}

Predictor *
predictor_assemble(const Learner *learner, const LearnerOptions *options, int teachers,
				   const PredictorMember *members, int width, int default_class, uint32 *positions)
{
	int				  nclasses = options->nclasses;
	PredictorBuilder *builder = builder_create(nclasses, options->classes, width, default_class);
	StringInfo		  bytes = &builder->bytes;
	Size			  size =
		 learner->member_size ? learner->member_size(nclasses, width, options) : CONSTANT_SIZE;
	NumberedMember *sorted = palloc_array(NumberedMember, teachers);

	for (int i = 0; i < teachers; i++)
		sorted[i] = (NumberedMember){members[i], i};
	qsort(sorted, teachers, sizeof(NumberedMember), compare_numbered);
	for (int i = 0; i < teachers; i++)
	{
		const PredictorMember *member = &sorted[i].member;

		if (member->kind == 0)
			append_constant(bytes, default_class, size);
		else if (member->kind == MEMBER_CONSTANT)
			append_constant(bytes, read_u32(member->body), size);
		else
			memcpy(append_space(bytes, PREDICTOR_MEMBER_HEADER + member->size),
				   member->body - PREDICTOR_MEMBER_HEADER, PREDICTOR_MEMBER_HEADER + member->size);
		positions[sorted[i].teacher] = i;
	}
	write_u32((unsigned char *) bytes->data + 16, teachers);
	pfree(sorted);
	return builder_finish(builder);
}
