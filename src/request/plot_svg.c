/*
 * plot_svg.c
 *		The frame of a picture: size, colours, text.
 */
#include "postgres.h"

#include "request/plot.h"
#include "request/report.h"

/* Every colour twice; what is not a colour once. */
static const char style[] =
"text{font:13px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif;fill:#1a1f2b}\n"
".title{font-size:15px;font-weight:600}.small{font-size:12px}.end{text-anchor:end}.middle{text-anchor:middle}\n"
".italic{font-style:italic}.line,.level,.grid,.mark{fill:none}.line{stroke-width:2.25;stroke-linejoin:round}\n"
".level{stroke-width:1.75;stroke-dasharray:7 5}.mark{stroke-width:1.25;stroke-dasharray:2 4}\n"
".page{fill:#fff}.muted{fill:#667085}.grid{stroke:#e3e6ed}.mark{stroke:#667085}\n"
".s1{stroke:#3566c5}.f1{fill:#3566c5}.s2{stroke:#d3722c}.f2{fill:#d3722c}\n"
".s3{stroke:#2f8f6b}.f3{fill:#2f8f6b}.s4{stroke:#98a1b2}.f4{fill:#98a1b2}\n"
".cell{fill:#eceff4}.heat{fill:#3566c5}.on{fill:#fff}.off{fill:#1a1f2b}\n"
"@media (prefers-color-scheme:dark){text{fill:#e4e8f0}.page{fill:#1b1f28}.muted{fill:#98a2b5}\n"
".grid{stroke:#2d3341}.mark{stroke:#98a2b5}\n"
".s1{stroke:#6f9cf0}.f1{fill:#6f9cf0}.s2{stroke:#f09a5a}.f2{fill:#f09a5a}\n"
".s3{stroke:#57c79b}.f3{fill:#57c79b}.s4{stroke:#7d8798}.f4{fill:#7d8798}\n"
".cell{fill:#272d39}.heat{fill:#6f9cf0}.on{fill:#12151b}.off{fill:#e4e8f0}}\n";

void
plot_begin(StringInfo svg, double width, double height, const char *title)
{
	appendStringInfo(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
					 "width=\"%.0f\" height=\"%.0f\" role=\"img\">\n", width, height, width, height);
	append_html(svg, "<title>%s</title>\n<style>\n", title);
	appendStringInfoString(svg, style);
	appendStringInfo(svg, "</style>\n<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n",
					 width, height);
	plot_label(svg, 16, 28, 0, "title", title, PLOT_TITLE_CHARACTERS + 40);
}

void
plot_end(StringInfo svg)
{
	appendStringInfoString(svg, "</svg>\n");
}

void
plot_label(StringInfo svg, double x, double y, double angle, const char *class, const char *text,
		   int characters)
{
	append_html(svg, "<text class=\"%s\" ", class);
	if (angle == 0)
	{
		appendStringInfoString(svg, "x=\"");
		append_number(svg, x);
		appendStringInfoString(svg, "\" y=\"");
		append_number(svg, y);
	}
	else
	{
		appendStringInfoString(svg, "transform=\"translate(");
		append_number(svg, x);
		appendStringInfoChar(svg, ' ');
		append_number(svg, y);
		appendStringInfoString(svg, ") rotate(");
		append_number(svg, angle);
		appendStringInfoChar(svg, ')');
	}
	appendStringInfoString(svg, "\">");
	append_text_up_to(svg, text, characters);
	appendStringInfoString(svg, "</text>\n");
}

void
plot_text(StringInfo svg, double x, double y, const char *class, const char *text)
{
	plot_label(svg, x, y, 0, class, text, PG_INT16_MAX);
}

void
plot_segment(StringInfo svg, const char *class, double x1, double y1, double x2, double y2)
{
	append_html(svg, "<path class=\"%s\" d=\"M", class);
	append_number(svg, x1);
	appendStringInfoChar(svg, ' ');
	append_number(svg, y1);
	appendStringInfoChar(svg, 'L');
	append_number(svg, x2);
	appendStringInfoChar(svg, ' ');
	append_number(svg, y2);
	appendStringInfoString(svg, "\"/>\n");
}
