/*
 * plot_chart.c
 *		Lines over a logarithmic axis, and a legend beside them.
 */
#include "postgres.h"

#include <math.h>

#include "request/plot.h"
#include "request/report.h"

#define WIDTH		780.0
#define HEIGHT		420.0
#define LEFT		66.0
#define RIGHT		540.0
#define TOP			66.0
#define BOTTOM		360.0
#define LEGEND		(RIGHT + 22)
#define MOST_LABELS	7

typedef struct Scale
{
	double		x_low;			/* logarithms */
	double		x_high;
	double		y_low;
	double		y_high;
	double		y_step;
} Scale;

static double
x_of(const Scale *scale, double x)
{
	return LEFT + (RIGHT - LEFT) * (log10(x) - scale->x_low) / (scale->x_high - scale->x_low);
}

static double
y_of(const Scale *scale, double y)
{
	return BOTTOM - (BOTTOM - TOP) * (y - scale->y_low) / (scale->y_high - scale->y_low);
}

/* ---------- scales ---------- */

/* All points, with whole steps of y around them; a single x gets some room. */
static Scale
find_scale(const PlotChart *chart)
{
	Scale		scale = {.x_low = INFINITY,.x_high = -INFINITY,.y_low = INFINITY,.y_high = -INFINITY};

	for (int i = 0; i < chart->nlines; i++)
		for (int j = 0; j < chart->lines[i].npoints; j++)
		{
			scale.y_low = Min(scale.y_low, chart->lines[i].y[j]);
			scale.y_high = Max(scale.y_high, chart->lines[i].y[j]);
			if (chart->lines[i].npoints > 1)
			{
				scale.x_low = Min(scale.x_low, log10(chart->lines[i].x[j]));
				scale.x_high = Max(scale.x_high, log10(chart->lines[i].x[j]));
			}
		}
	if (!(scale.x_low < scale.x_high))
	{
		scale.x_low = log10(chart->mark > 0 ? chart->mark : 1) - 1;
		scale.x_high = scale.x_low + 2;
	}
	if (chart->from_zero)
		scale.y_low = 0;
	scale.y_step = nice_step(Max(scale.y_high - scale.y_low, 1e-6), 5);
	scale.y_low = scale.y_step * floor(scale.y_low / scale.y_step + 1e-9);
	scale.y_high = scale.y_step * ceil(scale.y_high / scale.y_step - 1e-9);
	if (!chart->from_zero)
		scale.y_high = Min(scale.y_high, 1);
	if (!(scale.y_high > scale.y_low))
		scale.y_low = scale.y_high - scale.y_step;
	return scale;
}

static const char *
short_number(double number)
{
	if (number >= 1e6)
		return psprintf("10^%.0f", log10(number));
	if (number >= 1000)
		return psprintf("%.0f,%03.0f", floor(number / 1000), fmod(number, 1000));
	return psprintf("%.6g", number);
}

/* At 1, 2, 5 of each power of ten, at 1 alone, or at every so many of these. */
static void
append_x_axis(StringInfo svg, const PlotChart *chart, const Scale *scale)
{
	double		decades = scale->x_high - scale->x_low;
	int			stride = (int) Max(ceil(decades / MOST_LABELS), 1);
	bool		between = decades * 3 <= MOST_LABELS;

	for (int power = (int) floor(scale->x_low); power <= scale->x_high + 1e-9; power++)
		for (int digit = 1; digit <= 5; digit = digit == 1 ? 2 : digit + 3)
		{
			double		number = digit * pow(10, power);

			if (log10(number) < scale->x_low - 1e-9 || log10(number) > scale->x_high + 1e-9 ||
				(digit > 1 && !between) || power % stride != 0)
				continue;
			plot_segment(svg, "grid", x_of(scale, number), TOP, x_of(scale, number), BOTTOM);
			plot_text(svg, x_of(scale, number), BOTTOM + 18, "small muted middle",
					  short_number(number));
		}
	plot_text(svg, (LEFT + RIGHT) / 2, BOTTOM + 42, "middle", chart->x_label);
}

static void
append_y_axis(StringInfo svg, const PlotChart *chart, const Scale *scale)
{
	int			steps = (int) rint((scale->y_high - scale->y_low) / scale->y_step);
	int			decimals = (int) Max(0, ceil(-log10(scale->y_step) - 1e-9));

	for (int i = 0; i <= steps; i++)
	{
		double		number = scale->y_low + i * scale->y_step;

		plot_segment(svg, "grid", LEFT, y_of(scale, number), RIGHT, y_of(scale, number));
		plot_text(svg, LEFT - 8, y_of(scale, number) + 4, "small muted end",
				  psprintf("%.*f", decimals, number));
	}
	plot_label(svg, 20, (TOP + BOTTOM) / 2, -90, "middle", chart->y_label, PLOT_TITLE_CHARACTERS);
}

/* ---------- lines ---------- */

/* A single point is one if it is marked. */
static bool
is_level(const PlotLine *line)
{
	return line->npoints == 1 && line->marked < 0;
}

static char *
class_of(const PlotLine *line)
{
	return psprintf("%s s%s", is_level(line) ? "level" : "line", line->class);
}

static void
append_dot(StringInfo svg, const Scale *scale, const PlotLine *line, int point)
{
	appendStringInfoString(svg, "<circle cx=\"");
	append_number(svg, x_of(scale, line->x[point]));
	appendStringInfoString(svg, "\" cy=\"");
	append_number(svg, y_of(scale, line->y[point]));
	append_html(svg, "\" r=\"%d\" class=\"f%s\"/>\n", point == line->marked ? 5 : 3, line->class);
}

static void
append_line(StringInfo svg, const Scale *scale, const PlotLine *line)
{
	char	   *class = class_of(line);

	if (is_level(line))
	{
		plot_segment(svg, class, LEFT, y_of(scale, line->y[0]), RIGHT, y_of(scale, line->y[0]));
		return;
	}
	append_html(svg, "<path class=\"%s\" d=\"M", class);
	for (int i = 0; i < line->npoints; i++)
	{
		appendStringInfoString(svg, i > 0 ? "L" : "");
		append_number(svg, x_of(scale, line->x[i]));
		appendStringInfoChar(svg, ' ');
		append_number(svg, y_of(scale, line->y[i]));
	}
	appendStringInfoString(svg, "\"/>\n");
	for (int i = 0; i < line->npoints; i++)
		append_dot(svg, scale, line, i);
}

static void
append_legend(StringInfo svg, const PlotChart *chart)
{
	double		y = TOP + 10;

	for (int i = 0; i < chart->nlines; i++)
	{
		const PlotLine *line = &chart->lines[i];

		plot_segment(svg, class_of(line), LEGEND, y - 4, LEGEND + 20, y - 4);
		plot_text(svg, LEGEND + 28, y, "", line->name);
		if (line->note != NULL)
			plot_text(svg, LEGEND + 28, y + 16, "small muted", line->note);
		y += line->note != NULL ? 42 : 26;
	}
}

void
plot_chart(StringInfo svg, const PlotChart *chart)
{
	Scale		scale = find_scale(chart);

	plot_begin(svg, WIDTH, HEIGHT, chart->title);
	if (chart->below != NULL)
		plot_text(svg, 16, 48, "small muted", chart->below);
	append_x_axis(svg, chart, &scale);
	append_y_axis(svg, chart, &scale);
	if (chart->mark > 0)
	{
		double		x = x_of(&scale, chart->mark);
		bool		left = x > (LEFT + RIGHT) / 2;

		plot_segment(svg, "mark", x, TOP, x, BOTTOM);
		plot_text(svg, left ? x - 6 : x + 6, BOTTOM - 8, left ? "small muted end" : "small muted",
				  chart->mark_label);
	}
	for (int i = chart->nlines - 1; i >= 0; i--)
		append_line(svg, &scale, &chart->lines[i]);
	append_legend(svg, chart);
	plot_end(svg);
}
