/*
 * stream.c
 *		open_stream, close_stream: streams of models that answer through them.
 */
#include "postgres.h"

#include <math.h>

#include "mechanism/sparse/draw.h"
#include "request/request.h"

static CachedModel *
streamed_model(const char *name)
{
	CachedModel		*model = known_model_decoded(name, CurrentMemoryContext, asking_role());
	const Mechanism *mechanism = model->record->mechanism;

	if (mechanism->charge_kind != CHARGE_PER_STREAM)
		ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				errmsg("model \"%s\" does not answer through streams", name),
				errdetail("Mechanism \"%s\" is charged %s.", mechanism->name,
						  mechanism->charge_kind == CHARGE_PER_ANSWER ? "for each answer" : "once"),
				errhint("Ask it with private_predict; mechanisms \"sparse\" and \"soft\" "
						"need streams."));
	return model;
}

/*
 * A stream pays for a run of its threshold for every unstable answer, each with its
 * delta (docs/mechanisms.md, section 6).  The product is rounded up.
 */
LedgerPrice
stream_price(const ModelRecord *model, const StreamTerms *terms)
{
	LedgerPrice price = request_price(model);
	int			runs = terms->unstable;

	memset(&price.finite, 0, sizeof(Charge));
	price.finite.part[0].shape = CHARGE_PURE;
	price.finite.part[0].times = terms->unstable;
	price.finite.part[0].epsilon = terms->epsilon;
	price.finite.delta = runs * terms->delta;
	if (fma(runs, terms->delta, -price.finite.delta) > 0)
		price.finite.delta = nextafter(price.finite.delta, INFINITY);
	price.infinite = price.finite;
	if (price.finite.delta >= 1)
		refuse(errmsg("unstable times delta must be below 1"),
			   errhint("Choose delta so that their product is far less than one over the "
					   "number of protected units."));
	return price;
}

/* Warns if the declared numbers alone tell that a stream is of no use. */
static void
warn_if_useless(const ModelRecord *model, const StreamTerms *terms)
{
	int64 width = sparse_width(terms->epsilon, terms->delta);
	int64 farthest = (model->spec.teachers - 1) / 2;

	if (farthest < width)
		ereport(WARNING, errmsg("most answers of this stream will be unstable"),
				errdetail("Teachers that all agree are " INT64_FORMAT
						  " changes away from another answer; a typical threshold is " INT64_FORMAT
						  ".",
						  farthest, width),
				errhint("Declare at least " INT64_FORMAT " teachers, or a larger epsilon or delta.",
						3 * width));
}

int64
request_open_stream(const char *name, const StreamTerms *terms)
{
	CachedModel		  *cached = streamed_model(name);
	const ModelRecord *model = cached->record;
	LedgerPrice		   price = stream_price(model, terms);
	int64			   stream;

	check_paid_once(cached);
	stream = ledger_stream_open(&price, terms);
	warn_if_useless(model, terms);
	return stream;
}

void
request_close_stream(const char *name)
{
	LedgerPrice price = request_price(streamed_model(name)->record);

	ledger_stream_close(&price);
}
