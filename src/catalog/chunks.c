/*
 * chunks.c
 *		What each teacher of a stored model was fitted on: the column "chunks".
 *
 * An ensemble is stored in the order of its bytes, so that its order says nothing of
 * who taught what.  Here is, for each teacher, the digest of what it was fitted on, zero
 * if it saw no row, and which member of the ensemble it is: retraining fits those
 * anew whose rows have changed, and forgetting finds the one teacher of a unit.  As
 * secret as the rows; its size follows from the number of teachers.
 */
#include "postgres.h"

#include "catalog/store.h"
#include "learner/bytes.h"

#define CHUNKS_MAGIC 0x31435050 /* "PPC1" */
#define CHUNKS_HEADER 4
#define CHUNK_SIZE (DIGEST_BYTES + 4)

TeacherChunks *
teacher_chunks_create(int teachers)
{
	TeacherChunks *chunks = palloc_object(TeacherChunks);

	chunks->teachers = teachers;
	chunks->digests = palloc0(teachers * sizeof(ChunkDigest));
	chunks->positions = palloc0_array(uint32, teachers);
	return chunks;
}

TeacherChunks *
teacher_chunks_read(const ModelRecord *model)
{
	int					 teachers = model->spec.teachers;
	TeacherChunks		*chunks;
	const unsigned char *bytes;

	if (model->chunks == NULL || model->predictor == NULL ||
		VARSIZE_ANY_EXHDR(model->chunks) != CHUNKS_HEADER + (Size) teachers * CHUNK_SIZE)
		return NULL;
	bytes = (const unsigned char *) VARDATA_ANY(model->chunks);
	if (read_u32(bytes) != CHUNKS_MAGIC)
		return NULL;
	bytes += CHUNKS_HEADER;
	chunks = teacher_chunks_create(teachers);
	for (int i = 0; i < teachers; i++, bytes += CHUNK_SIZE)
	{
		memcpy(chunks->digests[i], bytes, DIGEST_BYTES);
		chunks->positions[i] = read_u32(bytes + DIGEST_BYTES);
		if (chunks->positions[i] >= teachers)
			return NULL;
	}
	return chunks;
}

bytea *
teacher_chunks_write(const TeacherChunks *chunks)
{
	Size		   size = VARHDRSZ + CHUNKS_HEADER + (Size) chunks->teachers * CHUNK_SIZE;
	bytea		  *result = palloc(size);
	unsigned char *bytes = (unsigned char *) VARDATA(result);

	SET_VARSIZE(result, size);
	write_u32(bytes, CHUNKS_MAGIC);
	bytes += CHUNKS_HEADER;
	for (int i = 0; i < chunks->teachers; i++, bytes += CHUNK_SIZE)
	{
		memcpy(bytes, chunks->digests[i], DIGEST_BYTES);
		write_u32(bytes + DIGEST_BYTES, chunks->positions[i]);
	}
	return result;
}

bool
chunk_is_empty(const TeacherChunks *chunks, int teacher)
{
	static const ChunkDigest zero = {0};

	return memcmp(chunks->digests[teacher], zero, DIGEST_BYTES) == 0;
}
