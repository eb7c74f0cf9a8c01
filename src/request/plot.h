/*
 * plot.h
 *		privpred.plot(): pictures of an evaluation, as SVG.
 *
 * plot.c			what is drawn: accuracy against epsilon or answers
 * plot_confusion.c	the confusion matrix
 * plot_chart.c		lines on axes
 * plot_svg.c		the frame: size, colours, text
 *
 * A picture stands alone, in ASCII, runs no scripts and loads nothing; names of
 * models and classes are escaped as in report.h.  Styles are written out for
 * light and dark, because not every renderer knows variables.
 */
#ifndef PRIVPRED_PLOT_H
#define PRIVPRED_PLOT_H

#include "lib/stringinfo.h"

#include "request/request.h"

typedef struct PlotRequest
{
	const char *model;
	Oid			test_relation;
	const char *kind;			/* accuracy, answers, confusion */
	const EpsilonUnits *epsilons;	/* NULL: the usual ones */
	int			nepsilons;
	EpsilonUnits budget;		/* for answers; 0: not given */
	double		delta;
} PlotRequest;

extern text *request_plot(const PlotRequest *request);

/* ---------- plot_svg.c ---------- */

/* Characters of a name that fit. */
#define PLOT_TITLE_CHARACTERS	48
#define PLOT_LABEL_CHARACTERS	16

extern void plot_begin(StringInfo svg, double width, double height, const char *title);
extern void plot_end(StringInfo svg);

/* Text at a place; class says how it looks and where it is anchored. */
extern void plot_text(StringInfo svg, double x, double y, const char *class, const char *text);

/* The same of at most so many characters, turned by an angle. */
extern void plot_label(StringInfo svg, double x, double y, double angle, const char *class,
					   const char *text, int characters);
extern void plot_segment(StringInfo svg, const char *class, double x1, double y1, double x2,
						 double y2);

/* ---------- plot_chart.c ---------- */

typedef struct PlotLine
{
	const char *name;
	const char *note;			/* below it in the legend; NULL: none */
	const char *class;			/* of plot_svg.c */
	int			npoints;		/* one that is not marked: a level, all across */
	double	   *x;
	double	   *y;
	int			marked;			/* the point with a larger dot; -1: none */
} PlotLine;

#define PLOT_MAX_LINES	6

typedef struct PlotChart
{
	char	   *title;
	char	   *below;			/* a line below the title; NULL: none */
	const char *x_label;
	const char *y_label;
	bool		from_zero;		/* the scale of y begins there, and has no top */
	double		mark;			/* x of a vertical line; 0: none */
	const char *mark_label;
	int			nlines;
	PlotLine	lines[PLOT_MAX_LINES];
} PlotChart;

extern void plot_chart(StringInfo svg, const PlotChart *chart);

/* ---------- plot_confusion.c ---------- */

#define PLOT_MAX_CLASSES	30

extern void plot_confusion(StringInfo svg, const Evaluation *evaluation, char *title);

#endif							/* PRIVPRED_PLOT_H */
