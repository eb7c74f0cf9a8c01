/*
 * plot_confusion.c
 *		The confusion matrix: shares of each true class, as shades and figures.
 */
#include "postgres.h"

#include <math.h>

#include "request/plot.h"
#include "request/report.h"

#define LEFT		170.0
#define TOP			150.0
#define SPACE		480.0		/* for all cells */
#define LARGEST		64.0		/* cell */
#define LEAST_WIDTH	460.0

/* Narrower cells have no figures. */
#define FIGURE_CELL	30.0

/* Darker cells have light figures. */
#define DARK		0.55

static void
append_cell(StringInfo svg, double x, double y, double size, double share)
{
	static const char *const class[] = {"cell", "heat"};

	for (int i = 0; i < 2; i++)
	{
		append_html(svg, "<rect class=\"%s\" x=\"", class[i]);
		append_number(svg, x + 1);
		appendStringInfoString(svg, "\" y=\"");
		append_number(svg, y + 1);
		appendStringInfoString(svg, "\" width=\"");
		append_number(svg, size - 2);
		appendStringInfoString(svg, "\" height=\"");
		append_number(svg, size - 2);
		if (i == 1)
		{
			appendStringInfoString(svg, "\" fill-opacity=\"");
			append_number(svg, share);
		}
		appendStringInfoString(svg, "\"/>\n");
	}
	if (size >= FIGURE_CELL)
		plot_text(svg, x + size / 2, y + size / 2 + 4,
				  share > DARK ? "small middle on" : "small middle off",
				  psprintf(size >= 1.3 * FIGURE_CELL ? "%.1f" : "%.0f", 100 * share));
}

static void
append_line(StringInfo svg, const Evaluation *evaluation, int class, int columns, double size)
{
	const MechanismSpec *spec = &evaluation->record->spec;
	const double *cells = &evaluation->private_confusion[class * (spec->nclasses + 1)];
	double		y = TOP + class * size;

	plot_label(svg, LEFT - 10, y + size / 2 + 4, 0, "small end", spec->classes[class],
			   PLOT_LABEL_CHARACTERS);
	for (int i = 0; i < columns; i++)
		append_cell(svg, LEFT + i * size, y, size, evaluation->of_class[class] == 0 ? 0 :
					Min(Max(cells[i] / evaluation->of_class[class], 0), 1));
}

void
plot_confusion(StringInfo svg, const Evaluation *evaluation, char *title)
{
	const MechanismSpec *spec = &evaluation->record->spec;
	bool		stream = evaluation->record->mechanism->charge_kind == CHARGE_PER_STREAM;
	int			columns = spec->nclasses + (stream ? 1 : 0);
	double		size = Min(LARGEST, floor(SPACE / columns));

	plot_begin(svg, Max(LEFT + columns * size + 90, LEAST_WIDTH),
			   TOP + spec->nclasses * size + 30, title);
	plot_text(svg, 16, 48, "small muted",
			  "answers to rows of each class, in percent, to accounts without delta");
	plot_text(svg, LEFT - 10, TOP - 12, "small muted end", "true class");
	for (int i = 0; i < columns; i++)
		plot_label(svg, LEFT + (i + 0.5) * size + 4, TOP - 10, -45,
				   i == spec->nclasses ? "small italic muted" : "small",
				   i == spec->nclasses ? "unstable" : spec->classes[i], PLOT_LABEL_CHARACTERS);
	for (int i = 0; i < spec->nclasses; i++)
		append_line(svg, evaluation, i, columns, size);
	plot_end(svg);
}
