----------------------------------------------------------------------
-- plot
----------------------------------------------------------------------

CREATE FUNCTION privpred._svg_text(x numeric, y numeric, class text, value text,
	most int DEFAULT 200, angle int DEFAULT 0) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	SELECT pg_catalog.format(CASE WHEN angle OPERATOR(pg_catalog.=) 0
		THEN e'<text class="%s" x="%s" y="%s">%s</text>\n'
		ELSE e'<text class="%s" transform="translate(%s %s) rotate(%5$s)">%4$s</text>\n' END,
		class, pg_catalog.trim_scale(pg_catalog.round(x, 1)),
			pg_catalog.trim_scale(pg_catalog.round(y, 1)), privpred._html(value, most), angle) $$;
COMMENT ON FUNCTION privpred._svg_text(numeric, numeric, text, text, int, int) IS
'text at a place in a picture of plot()';

CREATE FUNCTION privpred._plot_frame(width numeric, height numeric, title text, below text[],
	body text)
RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- Every colour stands here twice, because not every renderer knows variables.
	SELECT pg_catalog.concat(pg_catalog.format(
		e'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$s %2$s" '
		'width="%1$s" height="%2$s" role="img">\n<title>%3$s</title>\n<style>', width, height,
		privpred._html(title)), $css$
svg{max-width:100%;height:auto}
text{font:13px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
fill:#1a1f2b}
.title{font-size:15px;font-weight:600}.small{font-size:12px}.tiny{font-size:11px}
.end{text-anchor:end}.middle{text-anchor:middle}.italic{font-style:italic}
.line,.level,.grid,.mark{fill:none}.line{stroke-width:2.25;stroke-linejoin:round}
.level{stroke-width:1.75;stroke-dasharray:7 5}.mark{stroke-width:1.25;stroke-dasharray:2 4}
.page{fill:#fff}.muted{fill:#667085}.grid{stroke:#e3e6ed}.mark{stroke:#667085}
.s1{stroke:#3566c5}.f1{fill:#3566c5}.s2{stroke:#d3722c}.f2{fill:#d3722c}
.s3{stroke:#2f8f6b}.f3{fill:#2f8f6b}.s4{stroke:#98a1b2}.f4{fill:#98a1b2}
.s5{stroke:#a64ca6}.f5{fill:#a64ca6}.s6{stroke:#c2a21b}.f6{fill:#c2a21b}
.s7{stroke:#2a9bb8}.f7{fill:#2a9bb8}.s8{stroke:#b8455f}.f8{fill:#b8455f}
.band{stroke:none;fill-opacity:.22}.whisker{fill:none;stroke-width:5;stroke-opacity:.3}
.zero{fill:none;stroke:#98a1b2}.cell{fill:#eceff4}.heat,.shade{fill:#3566c5}.on{fill:#fff}.off{fill:#1a1f2b}
@media (prefers-color-scheme:dark){text{fill:#e4e8f0}.page{fill:#1b1f28}.muted{fill:#98a2b5}
.grid{stroke:#2d3341}.mark{stroke:#98a2b5}
.s1{stroke:#6f9cf0}.f1{fill:#6f9cf0}.s2{stroke:#f09a5a}.f2{fill:#f09a5a}
.s3{stroke:#57c79b}.f3{fill:#57c79b}.s4{stroke:#7d8798}.f4{fill:#7d8798}
.s5{stroke:#d083d0}.f5{fill:#d083d0}.s6{stroke:#e0c64f}.f6{fill:#e0c64f}
.s7{stroke:#5cc6e0}.f7{fill:#5cc6e0}.s8{stroke:#ef7f98}.f8{fill:#ef7f98}
.zero{stroke:#7d8798}.cell{fill:#272d39}.heat,.shade{fill:#6f9cf0}.on{fill:#12151b}.off{fill:#e4e8f0}}
$css$,
		pg_catalog.format(e'</style>\n<rect class="page" width="%s" height="%s"/>\n', width,
			height),
		privpred._svg_text(16, 28, 'title', title, 80),
		(SELECT pg_catalog.string_agg(privpred._svg_text(16,
			30 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) b.place), 'small muted', b.said),
			''
			ORDER BY b.place) FROM pg_catalog.unnest(below) WITH ORDINALITY b(said, place)),
		body, e'</svg>\n') $$;
COMMENT ON FUNCTION privpred._plot_frame(numeric, numeric, text, text[], text) IS
'size, colours, title and remarks of a picture of plot()';

-- lines: name, note, class, marked (the place of a point with a larger dot) and points [x, y];
-- a point that is alone and not marked is a level, all across.
CREATE FUNCTION privpred._plot_chart(title text, below text[], x_title text, y_title text,
	from_zero boolean, mark numeric, lines jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	WITH line AS (
		SELECT l.place, l.line OPERATOR(pg_catalog.->>) 'name' AS name,
			l.line OPERATOR(pg_catalog.->>) 'note' AS note,
			l.line OPERATOR(pg_catalog.->>) 'class' AS class,
				(l.line OPERATOR(pg_catalog.->>) 'marked')::pg_catalog.int4 AS marked,
			l.line OPERATOR(pg_catalog.->) 'points' AS points,
			pg_catalog.jsonb_array_length(l.line OPERATOR(pg_catalog.->) 'points')
				OPERATOR(pg_catalog.=) 1
				AND l.line OPERATOR(pg_catalog.->>) 'marked' IS NULL AS is_level
		FROM pg_catalog.jsonb_array_elements(lines) WITH ORDINALITY l(line, place)
	), point AS (
		SELECT l.place AS line, l.class, l.is_level, p.place,
			l.marked OPERATOR(pg_catalog.=) p.place AS marked,
			pg_catalog.log((p.point OPERATOR(pg_catalog.->>) 0)::pg_catalog.numeric) AS x,
				(p.point OPERATOR(pg_catalog.->>) 1)::pg_catalog.numeric AS y
		FROM line l, pg_catalog.jsonb_array_elements(l.points) WITH ORDINALITY p(point, place)
	), extent AS (
		SELECT e.x_low, e.x_high, e.y_low, e.y_high,
			privpred._nice_step(GREATEST(e.y_high OPERATOR(pg_catalog.-) e.y_low, 0.000001),
				5) AS step
		FROM (
			SELECT CASE WHEN r.x_low OPERATOR(pg_catalog.<) r.x_high THEN r.x_low
				ELSE pg_catalog.log(COALESCE(mark, 1)) OPERATOR(pg_catalog.-) 1 END AS x_low,
				CASE WHEN r.x_low OPERATOR(pg_catalog.<) r.x_high THEN r.x_high
					ELSE pg_catalog.log(COALESCE(mark, 1)) OPERATOR(pg_catalog.+) 1 END AS x_high,
				CASE WHEN from_zero THEN 0 ELSE r.y_low END AS y_low, r.y_high
			FROM (
				SELECT pg_catalog.min(p.x) FILTER (WHERE NOT p.is_level) AS x_low,
					pg_catalog.max(p.x) FILTER (WHERE NOT p.is_level) AS x_high,
						pg_catalog.min(p.y) AS y_low,
					pg_catalog.max(p.y) AS y_high
				FROM point p) r) e
	), bound AS (
		-- whole steps of y around all points; shares end at 1
		SELECT e.x_low, e.x_high, e.step,
			48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) pg_catalog.cardinality(below))
			AS top,
			e.step OPERATOR(pg_catalog.*) pg_catalog.floor(e.y_low OPERATOR(pg_catalog./) e.step)
				OPERATOR(pg_catalog.-) CASE WHEN e.y_low OPERATOR(pg_catalog.=) e.y_high THEN e.step
				ELSE 0 END
				AS y_low,
			CASE WHEN from_zero THEN e.step OPERATOR(pg_catalog.*) pg_catalog.ceil(e.y_high
				OPERATOR(pg_catalog./) e.step)
				ELSE LEAST(1, e.step OPERATOR(pg_catalog.*) pg_catalog.ceil(e.y_high
					OPERATOR(pg_catalog./) e.step)) END AS y_high
		FROM extent e
	), scale AS MATERIALIZED (
		-- x = left + x_unit * (log x - x_low), y = bottom - y_unit * (y - y_low)
		SELECT b.*, 66 AS x_left, 620 AS x_right, b.top OPERATOR(pg_catalog.+) 280 AS bottom,
			554 OPERATOR(pg_catalog./) (b.x_high OPERATOR(pg_catalog.-) b.x_low) AS x_unit,
				280 OPERATOR(pg_catalog./) GREATEST(b.y_high OPERATOR(pg_catalog.-) b.y_low,
				0.000001) AS y_unit
		FROM bound b
	), placed AS (
		SELECT p.*, pg_catalog.trim_scale(pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit
			OPERATOR(pg_catalog.*) (p.x OPERATOR(pg_catalog.-) s.x_low)), 2)) AS cx,
			pg_catalog.trim_scale(pg_catalog.round(s.bottom OPERATOR(pg_catalog.-) (s.y_unit
				OPERATOR(pg_catalog.*) (p.y OPERATOR(pg_catalog.-) s.y_low)), 2)) AS cy
		FROM point p, scale s
	), x_tick AS (
		-- at 1, 2, 5 of each power of ten, at 1 alone, or at every so many of these
		SELECT pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit OPERATOR(pg_catalog.*) (
			pg_catalog.log(t.number) OPERATOR(pg_catalog.-) s.x_low)), 1) AS x, t.number
		FROM scale s, pg_catalog.generate_series(pg_catalog.floor(s.x_low)::pg_catalog.int4,
			pg_catalog.floor(s.x_high)::pg_catalog.int4) power,
			pg_catalog.unnest('{1,2,5}'::pg_catalog.int4[]) digit,
			LATERAL (SELECT pg_catalog.round(digit
				OPERATOR(pg_catalog.*) pg_catalog.power(10::pg_catalog.numeric, power),
				12) AS number) t
		WHERE t.number OPERATOR(pg_catalog.>) 0
			AND pg_catalog.log(t.number) OPERATOR(pg_catalog.>=) (s.x_low
			OPERATOR(pg_catalog.-) 0.000001)
			AND pg_catalog.log(t.number) OPERATOR(pg_catalog.<=) (s.x_high
				OPERATOR(pg_catalog.+) 0.000001)
			AND (digit OPERATOR(pg_catalog.=) 1 OR (s.x_high OPERATOR(pg_catalog.-) s.x_low)
				OPERATOR(pg_catalog.*) 3 OPERATOR(pg_catalog.<=) 7)
			AND pg_catalog.mod(power,
				GREATEST(pg_catalog.ceil((s.x_high OPERATOR(pg_catalog.-) s.x_low)
				OPERATOR(pg_catalog./) 7), 1)) OPERATOR(pg_catalog.=) 0
	), y_tick AS (
		SELECT pg_catalog.round(s.bottom OPERATOR(pg_catalog.-) (s.y_unit OPERATOR(pg_catalog.*) (
			s.step OPERATOR(pg_catalog.*) i)), 1) AS y,
			pg_catalog.round(s.y_low OPERATOR(pg_catalog.+) (s.step OPERATOR(pg_catalog.*) i),
				GREATEST(0, pg_catalog.ceil(0 OPERATOR(pg_catalog.-) pg_catalog.log(
				s.step)))::pg_catalog.int4) AS number
		FROM scale s, pg_catalog.generate_series(0,
			pg_catalog.round((s.y_high OPERATOR(pg_catalog.-) s.y_low)
			OPERATOR(pg_catalog./) s.step)::pg_catalog.int4) i
	)
	SELECT privpred._plot_frame(640, s.bottom OPERATOR(pg_catalog.+) 64 OPERATOR(pg_catalog.+) (38
		OPERATOR(pg_catalog.*) pg_catalog.ceil(pg_catalog.jsonb_array_length(lines)
		OPERATOR(pg_catalog./) 2.0)), title,
		below, pg_catalog.concat(
		(SELECT pg_catalog.string_agg(pg_catalog.concat(pg_catalog.format(
			e'<path class="grid" d="M%1$s %2$sL%1$s %3$s"/>\n', t.x, s.top,
				s.bottom), privpred._svg_text(t.x, s.bottom OPERATOR(pg_catalog.+) 18,
					'small muted middle',
				CASE WHEN t.number OPERATOR(pg_catalog.>=) 1000000 THEN pg_catalog.format('10^%s',
					pg_catalog.round(pg_catalog.log(t.number)))
					WHEN t.number OPERATOR(pg_catalog.>=) 1 THEN pg_catalog.to_char(t.number,
						'FM999,990')
					ELSE pg_catalog.trim_scale(t.number)::pg_catalog.text END)), '' ORDER BY t.x)
						FROM x_tick t),
		privpred._svg_text((s.x_left OPERATOR(pg_catalog.+) s.x_right) OPERATOR(pg_catalog./) 2,
			s.bottom OPERATOR(pg_catalog.+) 42, 'middle', x_title),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(pg_catalog.format(
			e'<path class="grid" d="M%1$s %2$sL%3$s %2$s"/>\n', s.x_left,
				t.y, s.x_right), privpred._svg_text(s.x_left OPERATOR(pg_catalog.-) 8,
					t.y OPERATOR(pg_catalog.+) 4, 'small muted end',
				t.number::pg_catalog.text)), '' ORDER BY t.y DESC) FROM y_tick t),
		privpred._svg_text(20, (s.top OPERATOR(pg_catalog.+) s.bottom) OPERATOR(pg_catalog./) 2,
			'middle', y_title, 48, 270),
		(SELECT pg_catalog.concat(pg_catalog.format(
			e'<path class="mark" d="M%1$s %2$sL%1$s %3$s"/>\n', pg_catalog.trim_scale(m.x), s.top,
				s.bottom), privpred._svg_text(CASE WHEN m.x OPERATOR(pg_catalog.>) 343
					THEN m.x OPERATOR(pg_catalog.-) 6 ELSE m.x OPERATOR(pg_catalog.+) 6 END,
				s.bottom OPERATOR(pg_catalog.-) 8, CASE WHEN m.x OPERATOR(pg_catalog.>) 343
					THEN 'small muted end' ELSE 'small muted' END,
				pg_catalog.format('this model: %s', pg_catalog.trim_scale(mark))))
			FROM (SELECT pg_catalog.round(s.x_left OPERATOR(pg_catalog.+) (s.x_unit
				OPERATOR(pg_catalog.*) (pg_catalog.log(mark) OPERATOR(pg_catalog.-) s.x_low)),
				1) AS x) m
			WHERE mark IS NOT NULL),
		(SELECT pg_catalog.string_agg(CASE WHEN l.is_level THEN (
				SELECT pg_catalog.format(e'<path class="level s%1$s" d="M%2$s %3$sL%4$s %3$s"/>\n',
					l.class, s.x_left,
					p.cy, s.x_right) FROM placed p WHERE p.line OPERATOR(pg_catalog.=) l.place)
			ELSE (
				SELECT pg_catalog.concat(pg_catalog.format(e'<path class="line s%s" d="M%s"/>\n',
					l.class,
						pg_catalog.string_agg(pg_catalog.concat(p.cx, ' ', p.cy), 'L'
							ORDER BY p.place)),
					pg_catalog.string_agg(pg_catalog.format(
						e'<circle cx="%s" cy="%s" r="%s" class="f%s"/>\n', p.cx, p.cy,
						CASE WHEN p.marked THEN 5 ELSE 3 END, l.class), '' ORDER BY p.place))
				FROM placed p WHERE p.line OPERATOR(pg_catalog.=) l.place) END, ''
					ORDER BY l.place DESC) FROM line l),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(e'<path class="%s s%s" d="M%s %sH%s"/>\n', CASE WHEN l.is_level
					THEN 'level'
					ELSE 'line' END, l.class, k.x, k.y OPERATOR(pg_catalog.-) 4,
						k.x OPERATOR(pg_catalog.+) 22),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 30, k.y, '', l.name),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 30, k.y OPERATOR(pg_catalog.+) 15,
					'small muted', l.note)), '' ORDER BY l.place)
			FROM line l, LATERAL (SELECT s.x_left OPERATOR(pg_catalog.+) (290
				OPERATOR(pg_catalog.*) pg_catalog.mod(l.place OPERATOR(pg_catalog.-) 1, 2)) AS x,
				s.bottom OPERATOR(pg_catalog.+) 72 OPERATOR(pg_catalog.+) (38
					OPERATOR(pg_catalog.*) pg_catalog.floor((l.place OPERATOR(pg_catalog.-) 1)
					OPERATOR(pg_catalog./) 2.0)) AS y) k)))
	FROM scale s $$;
COMMENT ON FUNCTION privpred._plot_chart(text, text[], text, text, boolean, numeric, jsonb) IS
'lines over a logarithmic axis, and a legend below them: accuracy and answers of plot()';

CREATE FUNCTION privpred._plot_confusion(title text, cells jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- cells: class, answer and rows, in the order of the classes; without answer: unstable
	WITH cell AS (
		SELECT pg_catalog.dense_rank() OVER (ORDER BY c.first) OPERATOR(pg_catalog.-) 1 AS y,
			pg_catalog.row_number() OVER (PARTITION BY c.class
				ORDER BY c.place) OPERATOR(pg_catalog.-) 1 AS x,
			c.class, c.answer, c.total,
			CASE WHEN c.total OPERATOR(pg_catalog.>) 0
				THEN LEAST(GREATEST(c.rows OPERATOR(pg_catalog./) c.total, 0), 1)
				ELSE 0 END AS share
		FROM (
			SELECT e.place, e.cell OPERATOR(pg_catalog.->>) 'class' AS class,
				e.cell OPERATOR(pg_catalog.->>) 'answer' AS answer,
				(e.cell OPERATOR(pg_catalog.->>) 'rows')::pg_catalog.numeric AS rows,
				pg_catalog.min(e.place) OVER (PARTITION BY e.cell OPERATOR(pg_catalog.->>) 'class')
					AS first,
				pg_catalog.sum((e.cell OPERATOR(pg_catalog.->>) 'rows')::pg_catalog.numeric)
					OVER (PARTITION BY e.cell OPERATOR(pg_catalog.->>) 'class') AS total
			FROM pg_catalog.jsonb_array_elements(cells) WITH ORDINALITY e(cell, place)) c
	), frame AS MATERIALIZED (
		SELECT 56 OPERATOR(pg_catalog.+) (7 OPERATOR(pg_catalog.*) n.letters) AS x_left,
			100 OPERATOR(pg_catalog.+) (5 OPERATOR(pg_catalog.*) n.letters) AS top, n.across,
			n.down,
			LEAST(64, GREATEST(34, pg_catalog.floor(480.0 OPERATOR(pg_catalog./) n.across))) AS size
		FROM (
			SELECT pg_catalog.max(c.x) OPERATOR(pg_catalog.+) 1 AS across,
				pg_catalog.max(c.y) OPERATOR(pg_catalog.+) 1 AS down,
				LEAST(17, GREATEST(pg_catalog.max(pg_catalog.length(c.class)),
					pg_catalog.max(pg_catalog.length(COALESCE(c.answer, 'unstable')))))
					AS letters
			FROM cell c) n
	)
	SELECT privpred._plot_frame(GREATEST(f.x_left OPERATOR(pg_catalog.+) (f.across
		OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 90, 520),
		f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 84, title,
		ARRAY['Answers to rows of each class, in percent of the class, to accounts without delta.'],
			pg_catalog.concat(
		privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across OPERATOR(pg_catalog.*) f.size
			OPERATOR(pg_catalog./) 2), 74, 'middle', 'answer'),
		privpred._svg_text(20, f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size
			OPERATOR(pg_catalog./) 2), 'middle', 'true class', 48, 270),
		privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 10, f.top OPERATOR(pg_catalog.-) 12, 'small muted', 'rows'),
		(SELECT pg_catalog.string_agg(privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) ((c.x
			OPERATOR(pg_catalog.+) 0.5) OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4,
			f.top OPERATOR(pg_catalog.-) 10,
				CASE WHEN c.answer IS NULL THEN 'small italic muted' ELSE 'small' END,
				COALESCE(c.answer, 'unstable'), 16, 315), '' ORDER BY c.x) FROM cell c
					WHERE c.y OPERATOR(pg_catalog.=) 0),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.-) 10,
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4, 'small end', c.class,
					16),
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) (f.across
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 10,
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
						OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4, 'small muted',
					pg_catalog.to_char(c.total, 'FM999,999,999,990'))), '' ORDER BY c.y) FROM cell c
						WHERE c.x OPERATOR(pg_catalog.=) 0),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(
					e'<rect class="cell" x="%1$s" y="%2$s" width="%3$s" height="%3$s"/>\n'
					'<rect class="heat" x="%1$s" y="%2$s" width="%3$s" height="%3$s" '
					'fill-opacity="%4$s"/>\n', f.x_left OPERATOR(pg_catalog.+) (c.x
						OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 1,
						f.top OPERATOR(pg_catalog.+) (c.y OPERATOR(pg_catalog.*) f.size)
						OPERATOR(pg_catalog.+) 1,
					f.size OPERATOR(pg_catalog.-) 2, pg_catalog.trim_scale(pg_catalog.round(c.share,
						2))),
				privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) ((c.x OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size),
					f.top OPERATOR(pg_catalog.+) ((c.y OPERATOR(pg_catalog.+) 0.5)
					OPERATOR(pg_catalog.*) f.size) OPERATOR(pg_catalog.+) 4,
					pg_catalog.concat(CASE WHEN f.size OPERATOR(pg_catalog.<) 42 THEN 'tiny'
						ELSE 'small' END,
						CASE WHEN c.share OPERATOR(pg_catalog.>) 0.55 THEN ' middle on'
							ELSE ' middle off' END),
					pg_catalog.round(100 OPERATOR(pg_catalog.*) c.share, CASE
						WHEN f.size OPERATOR(pg_catalog.<) 42 THEN 0 ELSE 1 END)::pg_catalog.text)),
						''
				ORDER BY c.y, c.x) FROM cell c),
		(SELECT pg_catalog.string_agg(pg_catalog.format(
			e'<rect class="cell" x="%1$s" y="%2$s" width="20" height="12"/>\n'
					'<rect class="shade" x="%1$s" y="%2$s" width="20" height="12" '
					'fill-opacity="%3$s"/>\n',
					f.x_left OPERATOR(pg_catalog.+) (20 OPERATOR(pg_catalog.*) i),
						f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
						OPERATOR(pg_catalog.+) 30,
						pg_catalog.trim_scale(i OPERATOR(pg_catalog./) 10.0)), ''
				ORDER BY i) FROM pg_catalog.generate_series(0, 10) i),
		(SELECT pg_catalog.string_agg(privpred._svg_text(f.x_left OPERATOR(pg_catalog.+) 10
			OPERATOR(pg_catalog.+) (2 OPERATOR(pg_catalog.*) i),
			f.top OPERATOR(pg_catalog.+) (f.down OPERATOR(pg_catalog.*) f.size)
			OPERATOR(pg_catalog.+) 58,
				'small muted middle', pg_catalog.concat(i, '%')), '' ORDER BY i)
					FROM pg_catalog.unnest('{0,50,100}'::pg_catalog.int4[]) i)))
	FROM frame f $$;
COMMENT ON FUNCTION privpred._plot_confusion(text, jsonb) IS
'the confusion matrix of plot(): shares of each true class, as shades and figures';

CREATE FUNCTION privpred._plot_curve(curve jsonb, figure text, title text, class text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- An epsilon without a known accuracy is left out.
	SELECT pg_catalog.jsonb_build_object('name', title, 'class', class,
		'note', pg_catalog.max(pg_catalog.format('%s at epsilon %s',
			pg_catalog.trim_scale(pg_catalog.round(k.y, 4)), pg_catalog.trim_scale(k.x)))
			FILTER (WHERE k.own), 'marked', pg_catalog.max(k.place) FILTER (WHERE k.own),
		'points', pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(k.x, k.y) ORDER BY k.place))
	FROM (
		SELECT p.x, p.y, p.own, pg_catalog.row_number() OVER (ORDER BY p.x) AS place
		FROM (
			SELECT (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric AS x,
				(c.point OPERATOR(pg_catalog.->>) figure)::pg_catalog.numeric AS y,
				(c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool AS own
			FROM pg_catalog.jsonb_array_elements(curve) c(point)) p
		WHERE p.y IS NOT NULL) k $$;
COMMENT ON FUNCTION privpred._plot_curve(jsonb, text, text, text) IS
'a line of _plot_chart(): a figure of accuracy_curve() against epsilon';

CREATE FUNCTION privpred._plot_answers(epsilon float8, delta float8, mechanism text)
RETURNS TABLE (answers bigint, per_answer numeric, pure boolean)
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp AS $$
	-- 1, 2, 5, 10, ... up to a million, as far as the budget goes
	SELECT s.answers, e.per_answer, e.renyi_order OPERATOR(pg_catalog.=) 'Infinity'
	FROM privpred.answers_for(epsilon, delta, 0.000000001, mechanism) most,
		pg_catalog.generate_series(0, 6) power,
			pg_catalog.unnest('{1,2,5}'::pg_catalog.int4[]) digit,
		LATERAL (SELECT (digit OPERATOR(pg_catalog.*) pg_catalog.round(
			pg_catalog.power(10::pg_catalog.numeric, power)))::pg_catalog.int8 AS answers) s,
		LATERAL privpred.epsilon_for(epsilon, delta, LEAST(s.answers, most.answers), mechanism) e
	WHERE s.answers OPERATOR(pg_catalog.<=) LEAST(most.answers, 1000000)
	ORDER BY s.answers $$;
COMMENT ON FUNCTION privpred._plot_answers(float8, float8, text) IS
'at which epsilon a budget pays for how many answers, and whether its account would be pure; for plot()';

CREATE FUNCTION privpred.plot(model text, test regclass, kind text DEFAULT 'accuracy',
	epsilons float8[] DEFAULT NULL, epsilon float8 DEFAULT NULL, delta float8 DEFAULT 0)
RETURNS text LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE COST 100000
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	missing pg_catalog.text := CASE WHEN model IS NULL THEN 'model' WHEN test IS NULL THEN 'test'
		WHEN kind IS NULL THEN 'kind' WHEN delta IS NULL THEN 'delta' END;
	card pg_catalog.record;
	figures pg_catalog.record;
	cells pg_catalog.jsonb;
	curve pg_catalog.jsonb;
	lines pg_catalog.jsonb;
	pure_figure pg_catalog.text;			-- names of the figures in curve
	delta_figure pg_catalog.text;
	remark pg_catalog.text;
	refused pg_catalog.text;
BEGIN
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'null_value_not_allowed',
			MESSAGE := pg_catalog.format('argument "%s" must not be NULL', missing),
			HINT := 'Give a value, or leave the argument out to get its default.';
	ELSIF kind OPERATOR(pg_catalog.<>) ALL ('{accuracy,answers,confusion}'::pg_catalog.text[]) THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := pg_catalog.format('there is no plot of kind "%s"', kind),
			HINT := 'Use ''accuracy'', ''answers'' or ''confusion''.';
	ELSIF kind OPERATOR(pg_catalog.=) 'answers' AND epsilon IS NULL THEN
		RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
			MESSAGE := 'accuracy against answers needs a budget',
			HINT := 'Say epsilon => 1, delta => 1e-6, for example.';
	END IF;

	SELECT m.mechanism, m.teachers, pg_catalog.cardinality(m.classes) AS classes,
		m.charge_kind OPERATOR(pg_catalog.=) 'once' AS once,
		CASE WHEN m.charge_kind OPERATOR(pg_catalog.=) 'once'
				THEN 'It is charged once, and then answers any number of questions.'
			WHEN m.charge_kind OPERATOR(pg_catalog.=) 'per_stream'
				THEN 'A stream is charged by its unstable answers.'
			WHEN m.charge IS NULL AND m.pure_charge IS NULL
				THEN 'No budget can pay for its answers.' END AS refused
	INTO card FROM privpred.models m JOIN pg_catalog.pg_class c
		ON c.oid OPERATOR(pg_catalog.=) m.relation::pg_catalog.oid
	WHERE m.name OPERATOR(pg_catalog.=) plot.model AND pg_catalog.pg_has_role(c.relowner, 'USAGE');
	IF NOT FOUND THEN
		-- This raises the error that there is no such model, or that the caller is not the owner.
		PERFORM privpred.evaluate(model, test);
	END IF;

	IF kind OPERATOR(pg_catalog.=) 'confusion' THEN
		IF card.classes OPERATOR(pg_catalog.=) 0 OR card.classes OPERATOR(pg_catalog.>) 30 THEN
			RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
				MESSAGE := pg_catalog.format(
					'a confusion matrix is drawn for 2 to 30 classes, not %s', card.classes),
				HINT := 'Use kind => ''accuracy'', or privpred.confusion_matrix().';
		END IF;
		SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('class', c.class, 'answer',
			c.answer,
			'rows', c.rows::pg_catalog.numeric) ORDER BY c.place) INTO cells
		FROM privpred.confusion_matrix(model, test) WITH ORDINALITY
			c(class, answer, rows, share, approximate_rows, approximate_share, place)
		HAVING pg_catalog.sum(c.rows) OPERATOR(pg_catalog.>) 0;
	ELSE
		IF kind OPERATOR(pg_catalog.=) 'answers' AND card.refused IS NULL THEN
			SELECT COALESCE(pg_catalog.array_agg(a.per_answer::pg_catalog.float8),
				'{}') INTO epsilons
			FROM privpred._plot_answers(epsilon, delta, card.mechanism) a;
		END IF;
		IF kind OPERATOR(pg_catalog.=) 'accuracy' OR card.refused IS NULL THEN
			SELECT e.* INTO figures FROM privpred.evaluate(model, test) e;
			curve := figures.accuracy_by_epsilon;
			IF epsilons IS NOT NULL THEN
				SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(c)) INTO curve
				FROM privpred.accuracy_curve(model, test, epsilons) c
					WHERE figures.rows OPERATOR(pg_catalog.>) 0;
			END IF;
		END IF;
	END IF;
	IF cells IS NULL AND curve IS NULL AND (kind OPERATOR(pg_catalog.<>) 'answers'
		OR card.refused IS NULL) THEN
		RAISE EXCEPTION USING ERRCODE := 'no_data_found', MESSAGE := 'there is nothing to draw',
			DETAIL := 'No row of the test table has a label that the model knows.',
			HINT := 'Give labelled rows.';
	ELSIF kind OPERATOR(pg_catalog.=) 'confusion' THEN
		RETURN privpred._plot_confusion(pg_catalog.format('Answers of model %s', model), cells);
	END IF;

	pure_figure := CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'private_accuracy'
		ELSE 'private_rmse' END;
	delta_figure := CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'approximate_accuracy'
		ELSE 'approximate_rmse' END;
	-- Errors of huge numbers are beyond all numbers.
	IF kind OPERATOR(pg_catalog.=) 'accuracy' AND NOT EXISTS (
		SELECT FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE c.point OPERATOR(pg_catalog.->>) pure_figure IS NOT NULL)
	THEN
		RAISE EXCEPTION USING ERRCODE := 'no_data_found', MESSAGE := 'there is nothing to draw',
			DETAIL := 'The errors are too large for numbers.',
			HINT := 'Declare a label in larger units.';
	END IF;
	IF kind OPERATOR(pg_catalog.=) 'answers' THEN
		SELECT pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_object('name', 'private',
			'class', '1', 'points',
				pg_catalog.jsonb_agg(pg_catalog.jsonb_build_array(k.answers, k.y)
					ORDER BY k.answers)
					FILTER (WHERE k.y IS NOT NULL))),
			CASE WHEN pg_catalog.count(k.y) OPERATOR(pg_catalog.<) 2 THEN COALESCE(
				pg_catalog.max(pg_catalog.concat(pg_catalog.upper(pg_catalog.left(k.remark, 1)),
					pg_catalog.substring(k.remark, 2), '.'))
					FILTER (WHERE k.y IS NULL),
				'The budget does not pay for two answers at an epsilon that its declaration allows.') END
		INTO lines, refused
		FROM (
			SELECT a.answers, c.point OPERATOR(pg_catalog.->>) 'remark' AS remark,
				(c.point OPERATOR(pg_catalog.->>) CASE WHEN a.pure THEN pure_figure
					ELSE delta_figure END)::pg_catalog.numeric AS y
			FROM privpred._plot_answers(epsilon, delta, card.mechanism) a
			JOIN pg_catalog.jsonb_array_elements(curve) c(point)
				ON (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric
					OPERATOR(pg_catalog.=) a.per_answer
			WHERE card.refused IS NULL) k;
		refused := COALESCE(card.refused, refused);
		IF refused IS NOT NULL THEN
			RAISE EXCEPTION USING ERRCODE := 'invalid_parameter_value',
				MESSAGE := pg_catalog.format(
					'accuracy against answers cannot be drawn for model "%s"', model),
				DETAIL := refused, HINT := 'Use kind => ''accuracy''.';
		END IF;
	ELSIF figures.exact AND EXISTS (
		SELECT FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE pg_catalog.abs((c.point OPERATOR(pg_catalog.->>) pure_figure)::pg_catalog.numeric
			OPERATOR(pg_catalog.-) (c.point
			OPERATOR(pg_catalog.->>) delta_figure)::pg_catalog.numeric)
			OPERATOR(pg_catalog.>) 0.000000001)
	THEN
		lines := pg_catalog.jsonb_build_array(privpred._plot_curve(curve, pure_figure,
			'private, without delta', '1'),
			privpred._plot_curve(curve, delta_figure, 'private, with delta', '2'));
	ELSE
		lines := pg_catalog.jsonb_build_array(privpred._plot_curve(curve, pure_figure, 'private',
			'1'));
	END IF;
	-- What there is without privacy, and without a model.
	lines := lines OPERATOR(pg_catalog.||) (
		SELECT pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('name', l.name, 'class', l.class,
			'note', pg_catalog.trim_scale(pg_catalog.round(l.y::pg_catalog.numeric, 4)),
			'points', pg_catalog.jsonb_build_array(pg_catalog.jsonb_build_array(1,
				l.y::pg_catalog.numeric))) ORDER BY l.class)
		FROM (VALUES
			-- what is charged once has no noise but in the model
			(CASE WHEN card.teachers OPERATOR(pg_catalog.>) 0
				AND card.classes OPERATOR(pg_catalog.>) 0 THEN 'teachers'' majority, no noise'
				ELSE 'without noise' END, '3', NOT card.once,
				CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN figures.majority_accuracy
					ELSE figures.plain_rmse END),
			(CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'always the commonest class'
				ELSE 'always the mean' END, '4',
				true, CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN figures.baseline_accuracy
					ELSE figures.baseline_rmse END)) l(name, class, shown, y)
		WHERE l.shown);
	remark := (SELECT c.point OPERATOR(pg_catalog.->>) 'remark'
		FROM pg_catalog.jsonb_array_elements(curve) c(point)
		WHERE (c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool);
	RETURN privpred._plot_chart(
		pg_catalog.format(CASE WHEN card.classes OPERATOR(pg_catalog.>) 0
			THEN 'Accuracy of model %s' ELSE 'Error of model %s' END, model),
		pg_catalog.array_remove(ARRAY[
			pg_catalog.format('%s rows, mechanism %s%s', figures.rows, card.mechanism,
				CASE WHEN NOT figures.exact THEN ', estimated' END),
			CASE WHEN kind OPERATOR(pg_catalog.=) 'answers' THEN pg_catalog.format(
				'budget %s, each answer at the epsilon that it pays for',
				privpred._loss(epsilon::pg_catalog.numeric, delta::pg_catalog.numeric,
					delta OPERATOR(pg_catalog.=) 0, false)) END,
			remark], NULL),
		CASE WHEN kind OPERATOR(pg_catalog.=) 'answers' THEN 'answers (logarithmic)'
			WHEN card.once THEN 'epsilon of the model (logarithmic)'
			ELSE 'epsilon of one answer (logarithmic)' END,
		CASE WHEN card.classes OPERATOR(pg_catalog.>) 0 THEN 'expected accuracy'
			ELSE 'expected root mean squared error' END,
		card.classes OPERATOR(pg_catalog.=) 0,
		CASE WHEN kind OPERATOR(pg_catalog.=) 'accuracy' THEN (
			SELECT (c.point OPERATOR(pg_catalog.->>) 'epsilon')::pg_catalog.numeric
				FROM pg_catalog.jsonb_array_elements(curve) c(point)
			WHERE (c.point OPERATOR(pg_catalog.->>) 'own')::pg_catalog.bool) END,
		lines);
END $$;
COMMENT ON FUNCTION privpred.plot(text, regclass, text, float8[], float8, float8) IS
'owner: a picture (SVG): accuracy on labelled rows against epsilon per answer, against the number of answers that a budget (epsilon, delta) pays for, or the confusion matrix; not private, costs nothing';

-- Where a value lies on its axis.
CREATE FUNCTION privpred._axis_number(value text) RETURNS numeric
LANGUAGE sql STABLE STRICT PARALLEL SAFE
SET search_path TO pg_catalog, pg_temp SET TimeZone TO 'UTC' AS $$
	SELECT CASE WHEN value OPERATOR(pg_catalog.~) '^[0-9]+-[0-9]+-'
		THEN pg_catalog.date_part('epoch', value::pg_catalog.timestamptz)::pg_catalog.numeric
		ELSE value::pg_catalog.numeric END $$;
COMMENT ON FUNCTION privpred._axis_number(text) IS
'a number, or a time as its number of seconds; for plot()';

-- rows: what explain() says.  Panels are 220 wide, two beside each other, and share one scale.
CREATE FUNCTION privpred._plot_shapes(title text, below text[], rows jsonb) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE SET search_path TO pg_catalog, pg_temp SET jit TO off AS $$
	WITH said AS (
		SELECT r.place, e.class, e.feature, e.low, e.high, e.effect_low, e.effect_high,
			COALESCE(e.noise_low, 0) AS noise_low, COALESCE(e.noise_high, 0) AS noise_high,
			e.low OPERATOR(pg_catalog.=) e.high AS is_level
		FROM pg_catalog.jsonb_array_elements(rows) WITH ORDINALITY r(said, place),
			pg_catalog.jsonb_to_record(r.said) e(class text, feature text, low text, high text,
				effect_low numeric, effect_high numeric, noise_low numeric, noise_high numeric)
		WHERE e.feature IS NOT NULL
	), class AS (
		SELECT c.class, pg_catalog.row_number() OVER (ORDER BY c.place) AS place
		FROM (SELECT COALESCE(s.class, '') AS class, pg_catalog.min(s.place) AS place
			FROM said s GROUP BY COALESCE(s.class, '') ORDER BY 2 LIMIT 8) c
	), feature AS (
		-- those with the largest effects, in the order in which they were declared
		SELECT f.*, pg_catalog.row_number() OVER (ORDER BY f.place) OPERATOR(pg_catalog.-) 1
			AS panel
		FROM (
			SELECT s.feature, pg_catalog.min(s.place) AS place,
				pg_catalog.bool_and(s.is_level) AS is_level,
				pg_catalog.min(privpred._axis_number(CASE WHEN NOT s.is_level THEN s.low END))
					AS axis_low,
				pg_catalog.max(privpred._axis_number(CASE WHEN NOT s.is_level THEN s.high END))
					AS axis_high
			FROM said s GROUP BY s.feature
			ORDER BY pg_catalog.max(pg_catalog.abs(s.effect_high)) DESC, 2 LIMIT 40) f
	), shown AS (
		SELECT s.*, c.place AS colour, f.panel,
			16 OPERATOR(pg_catalog.+) (232 OPERATOR(pg_catalog.*) pg_catalog.mod(f.panel, 2))
				AS x0,
			48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) (pg_catalog.cardinality(below)
				OPERATOR(pg_catalog.+) pg_catalog.ceil(k.classes OPERATOR(pg_catalog./) 3.0)))
				OPERATOR(pg_catalog.+) (184 OPERATOR(pg_catalog.*) pg_catalog.floor(f.panel
				OPERATOR(pg_catalog./) 2.0)) AS y0,
			CASE WHEN f.axis_high OPERATOR(pg_catalog.>) f.axis_low
				THEN (privpred._axis_number(CASE WHEN NOT s.is_level THEN s.low END)
				OPERATOR(pg_catalog.-) f.axis_low) OPERATOR(pg_catalog./) (f.axis_high
				OPERATOR(pg_catalog.-) f.axis_low) ELSE 0 END AS x_low,
			CASE WHEN f.axis_high OPERATOR(pg_catalog.>) f.axis_low
				THEN (privpred._axis_number(CASE WHEN NOT s.is_level THEN s.high END)
				OPERATOR(pg_catalog.-) f.axis_low) OPERATOR(pg_catalog./) (f.axis_high
				OPERATOR(pg_catalog.-) f.axis_low) ELSE 1 END AS x_high
		FROM said s JOIN class c ON c.class OPERATOR(pg_catalog.=) COALESCE(s.class, '')
			JOIN feature f ON f.feature OPERATOR(pg_catalog.=) s.feature,
			(SELECT CASE WHEN pg_catalog.count(*) OPERATOR(pg_catalog.>) 1
				THEN pg_catalog.count(*) ELSE 0 END AS classes FROM class c) k
	), level AS (
		-- seven of each feature, those with the largest effects
		SELECT l.feature, l.low, l.levels, pg_catalog.row_number() OVER (PARTITION BY l.feature
			ORDER BY l.place) AS line
		FROM (
			SELECT s.feature, s.low, pg_catalog.min(s.place) AS place,
				pg_catalog.count(*) OVER (PARTITION BY s.feature) AS levels,
				pg_catalog.row_number() OVER (PARTITION BY s.feature
					ORDER BY pg_catalog.max(pg_catalog.abs(s.effect_high)) DESC,
						pg_catalog.min(s.place)) AS size
			FROM shown s WHERE s.is_level GROUP BY s.feature, s.low) l
		WHERE l.size OPERATOR(pg_catalog.<=) 7
	), scale AS MATERIALIZED (
		SELECT e.step, e.step OPERATOR(pg_catalog.*) pg_catalog.floor(e.low
				OPERATOR(pg_catalog./) e.step) AS low,
			e.step OPERATOR(pg_catalog.*) GREATEST(pg_catalog.ceil(e.high
				OPERATOR(pg_catalog./) e.step),
				pg_catalog.floor(e.low OPERATOR(pg_catalog./) e.step) OPERATOR(pg_catalog.+) 1)
				AS high
		FROM (
			SELECT r.low, r.high, privpred._nice_step(GREATEST(r.high OPERATOR(pg_catalog.-) r.low,
				0.000001), 3) AS step
			FROM (
				SELECT LEAST(0, pg_catalog.min(LEAST(s.effect_low OPERATOR(pg_catalog.-)
						s.noise_low, s.effect_high OPERATOR(pg_catalog.-) s.noise_high))) AS low,
					GREATEST(0, pg_catalog.max(GREATEST(s.effect_low OPERATOR(pg_catalog.+)
						s.noise_low, s.effect_high OPERATOR(pg_catalog.+) s.noise_high))) AS high
				FROM shown s) r) e
	), tick AS (
		SELECT t.share, pg_catalog.round(s.low OPERATOR(pg_catalog.+) (t.share
				OPERATOR(pg_catalog.*) (s.high OPERATOR(pg_catalog.-) s.low)),
				GREATEST(0, pg_catalog.ceil(0 OPERATOR(pg_catalog.-) pg_catalog.log(s.step)))
				::pg_catalog.int4) AS number
		FROM scale s, LATERAL (
			SELECT i OPERATOR(pg_catalog.*) s.step OPERATOR(pg_catalog./) (s.high
				OPERATOR(pg_catalog.-) s.low) AS share
			FROM pg_catalog.generate_series(0, pg_catalog.round((s.high OPERATOR(pg_catalog.-)
				s.low) OPERATOR(pg_catalog./) s.step)::pg_catalog.int4) i) t
	), panel AS (
		SELECT f.feature, f.is_level, f.panel, s.x0, s.y0, f.place,
			(SELECT p.low FROM said p WHERE p.feature OPERATOR(pg_catalog.=) f.feature
				ORDER BY p.place LIMIT 1) AS low,
			(SELECT p.high FROM said p WHERE p.feature OPERATOR(pg_catalog.=) f.feature
				ORDER BY p.class DESC, p.place DESC LIMIT 1) AS high
		FROM feature f JOIN (SELECT DISTINCT s.panel, s.x0, s.y0 FROM shown s) s
			ON s.panel OPERATOR(pg_catalog.=) f.panel
	), point AS (
		-- of a number: the ends of its pieces, 34 to 220 across, 30 to 140 down
		SELECT DISTINCT s.panel, s.colour, s.x0 OPERATOR(pg_catalog.+) 36
				OPERATOR(pg_catalog.+) (182 OPERATOR(pg_catalog.*) v.x) AS x,
			s.y0 OPERATOR(pg_catalog.+) 140 OPERATOR(pg_catalog.-) (110 OPERATOR(pg_catalog.*) (
				(v.effect OPERATOR(pg_catalog.-) c.low) OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low))) AS y,
			110 OPERATOR(pg_catalog.*) v.noise OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low) AS noise
		FROM shown s, scale c, LATERAL (VALUES (s.x_low, s.effect_low, s.noise_low),
			(s.x_high, s.effect_high, s.noise_high)) v(x, effect, noise)
		WHERE NOT s.is_level
	), dot AS (
		-- of a level: a line of 16 each
		SELECT s.panel, s.colour, s.place,
			s.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+) (124 OPERATOR(pg_catalog.*) (
				(s.effect_low OPERATOR(pg_catalog.-) c.low) OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low))) AS x,
			s.y0 OPERATOR(pg_catalog.+) 20 OPERATOR(pg_catalog.+) (16 OPERATOR(pg_catalog.*)
				l.line) OPERATOR(pg_catalog.+) (2 OPERATOR(pg_catalog.*) (s.colour
				OPERATOR(pg_catalog.-) ((n.classes OPERATOR(pg_catalog.+) 1)
				OPERATOR(pg_catalog./) 2.0))) AS y,
			124 OPERATOR(pg_catalog.*) s.noise_low OPERATOR(pg_catalog./) (c.high
				OPERATOR(pg_catalog.-) c.low) AS noise
		FROM shown s JOIN level l ON l.feature OPERATOR(pg_catalog.=) s.feature
			AND l.low OPERATOR(pg_catalog.=) s.low, scale c,
			(SELECT pg_catalog.count(*) AS classes FROM class c) n
	)
	SELECT privpred._plot_frame(480, (SELECT pg_catalog.max(p.y0) FROM panel p)
		OPERATOR(pg_catalog.+) 188, title, below, pg_catalog.concat(
		-- the colours of the classes, if there are several
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				pg_catalog.format(e'<path class="line s%s" d="M%s %sh16"/>\n', c.place, k.x,
					k.y OPERATOR(pg_catalog.-) 4),
				privpred._svg_text(k.x OPERATOR(pg_catalog.+) 22, k.y, 'small', c.class, 16)), ''
				ORDER BY c.place)
			FROM class c, LATERAL (
				SELECT 16 OPERATOR(pg_catalog.+) (152 OPERATOR(pg_catalog.*) pg_catalog.mod(
						c.place OPERATOR(pg_catalog.-) 1, 3)) AS x,
					48 OPERATOR(pg_catalog.+) (18 OPERATOR(pg_catalog.*) (pg_catalog.cardinality(
						below) OPERATOR(pg_catalog.+) pg_catalog.floor((c.place
						OPERATOR(pg_catalog.-) 1) OPERATOR(pg_catalog./) 3.0))) AS y) k
			WHERE (SELECT pg_catalog.count(*) FROM class c) OPERATOR(pg_catalog.>) 1),
		(SELECT pg_catalog.string_agg(pg_catalog.concat(
				privpred._svg_text(p.x0, p.y0 OPERATOR(pg_catalog.+) 14, 'title', p.feature, 24),
				CASE WHEN p.is_level THEN pg_catalog.concat(
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						pg_catalog.format(e'<path class="%s" d="M%s %sv%s"/>\n',
							CASE WHEN t.number OPERATOR(pg_catalog.=) 0 THEN 'zero' ELSE 'grid' END,
							pg_catalog.round(p.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+)
								(124 OPERATOR(pg_catalog.*) t.share), 1),
							p.y0 OPERATOR(pg_catalog.+) 30, 110),
						privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 92 OPERATOR(pg_catalog.+)
							(124 OPERATOR(pg_catalog.*) t.share),
							p.y0 OPERATOR(pg_catalog.+) 155, 'small muted middle',
							t.number::pg_catalog.text)), '' ORDER BY t.share) FROM tick t),
					(SELECT pg_catalog.string_agg(privpred._svg_text(p.x0, p.y0
							OPERATOR(pg_catalog.+) 24 OPERATOR(pg_catalog.+) (16
							OPERATOR(pg_catalog.*) l.line), 'small', l.low, 12), ''
						ORDER BY l.line) FROM level l
						WHERE l.feature OPERATOR(pg_catalog.=) p.feature),
					(SELECT privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 216,
							p.y0 OPERATOR(pg_catalog.+) 14, 'tiny muted end',
							pg_catalog.format('7 of %s levels', pg_catalog.max(l.levels)))
						FROM level l WHERE l.feature OPERATOR(pg_catalog.=) p.feature
						HAVING pg_catalog.max(l.levels) OPERATOR(pg_catalog.>) 7),
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						CASE WHEN d.noise OPERATOR(pg_catalog.>) 0 THEN pg_catalog.format(
							e'<path class="whisker s%s" d="M%s %sH%s"/>\n', d.colour,
							pg_catalog.round(d.x OPERATOR(pg_catalog.-) d.noise, 1),
							pg_catalog.round(d.y, 1),
							pg_catalog.round(d.x OPERATOR(pg_catalog.+) d.noise, 1)) END,
						pg_catalog.format(e'<circle class="f%s" cx="%s" cy="%s" r="3"/>\n',
							d.colour, pg_catalog.round(d.x, 1), pg_catalog.round(d.y, 1))), ''
						ORDER BY d.place) FROM dot d
						WHERE d.panel OPERATOR(pg_catalog.=) p.panel))
				ELSE pg_catalog.concat(
					(SELECT pg_catalog.string_agg(pg_catalog.concat(
						pg_catalog.format(e'<path class="%s" d="M%s %sh182"/>\n',
							CASE WHEN t.number OPERATOR(pg_catalog.=) 0 THEN 'zero' ELSE 'grid' END,
							p.x0 OPERATOR(pg_catalog.+) 36,
							pg_catalog.round(p.y0 OPERATOR(pg_catalog.+) 140 OPERATOR(pg_catalog.-)
								(110 OPERATOR(pg_catalog.*) t.share), 1)),
						privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 31,
							p.y0 OPERATOR(pg_catalog.+) 144 OPERATOR(pg_catalog.-)
							(110 OPERATOR(pg_catalog.*) t.share), 'small muted end',
							t.number::pg_catalog.text)), '' ORDER BY t.share) FROM tick t),
					privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 36,
						p.y0 OPERATOR(pg_catalog.+) 155, 'small muted',
						pg_catalog.left(p.low, 10), 10),
					privpred._svg_text(p.x0 OPERATOR(pg_catalog.+) 218,
						p.y0 OPERATOR(pg_catalog.+) 155, 'small muted end',
						pg_catalog.left(p.high, 10), 10),
					(SELECT pg_catalog.string_agg(l.drawn, '' ORDER BY l.colour DESC)
						FROM (
							SELECT d.colour, pg_catalog.concat(
								CASE WHEN pg_catalog.max(d.noise) OPERATOR(pg_catalog.>) 0
									THEN pg_catalog.format(
									e'<path class="band f%s" d="M%sL%sZ"/>\n', d.colour,
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y
										OPERATOR(pg_catalog.-) d.noise, 1)), 'L' ORDER BY d.x),
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y
										OPERATOR(pg_catalog.+) d.noise, 1)), 'L'
										ORDER BY d.x DESC)) END,
								pg_catalog.format(e'<path class="line s%s" d="M%s"/>\n', d.colour,
									pg_catalog.string_agg(pg_catalog.concat(
										pg_catalog.round(d.x, 1), ' ', pg_catalog.round(d.y, 1)),
										'L' ORDER BY d.x))) AS drawn
							FROM point d WHERE d.panel OPERATOR(pg_catalog.=) p.panel
							GROUP BY d.colour) l)) END), '' ORDER BY p.panel) FROM panel p))) $$;
COMMENT ON FUNCTION privpred._plot_shapes(text, text[], jsonb) IS
'the effects of a released model as small multiples, one panel for each feature; for plot()';

CREATE FUNCTION privpred.plot(model text) RETURNS text
LANGUAGE plpgsql VOLATILE STRICT PARALLEL UNSAFE
SET search_path TO pg_catalog, pg_temp SET jit TO off SET extra_float_digits TO 1 AS $$
DECLARE
	-- Whoever may not see it is refused here, and whoever has not paid for it pays.
	rows pg_catalog.jsonb := (SELECT pg_catalog.jsonb_agg(pg_catalog.to_jsonb(e))
		FROM privpred.explain(model) e);
	facts pg_catalog.record;
BEGIN
	SELECT pg_catalog.count(DISTINCT e.class) AS classes, pg_catalog.max(e.class) AS class,
		pg_catalog.count(DISTINCT e.feature) AS features, pg_catalog.count(e.effect_low) AS effects,
		pg_catalog.count(e.noise_high) AS noises
	INTO facts FROM pg_catalog.jsonb_to_recordset(rows) e(class text, feature text,
		effect_low numeric, noise_high numeric);
	IF facts.effects OPERATOR(pg_catalog.=) 0 THEN
		RAISE EXCEPTION USING ERRCODE := 'object_not_in_prerequisite_state',
			MESSAGE := pg_catalog.format('model "%s" has no effects to draw', model),
			DETAIL := 'It says a class in a range, and another elsewhere.',
			HINT := 'privpred.explain lists the ranges.';
	END IF;
	RETURN privpred._plot_shapes(pg_catalog.format('Effects in model %s', model),
		pg_catalog.array_remove(ARRAY[
			CASE WHEN facts.classes OPERATOR(pg_catalog.=) 0
				THEN 'What each feature adds to the number, in its own unit'
				WHEN facts.classes OPERATOR(pg_catalog.=) 1 THEN pg_catalog.format(
				'What each feature adds to the score of %s', pg_catalog.left(facts.class, 24))
				ELSE 'What each feature adds to the score of each class' END,
			CASE WHEN facts.noises OPERATOR(pg_catalog.>) 0
				THEN 'Shaded: one standard deviation of the noise, at most' END,
			CASE WHEN facts.features OPERATOR(pg_catalog.>) 40 THEN pg_catalog.format(
				'40 of %s features, those with the largest effects', facts.features) END,
			CASE WHEN facts.classes OPERATOR(pg_catalog.>) 8 THEN pg_catalog.format(
				'8 of %s classes', facts.classes) END], NULL), rows);
END $$;
COMMENT ON FUNCTION privpred.plot(text) IS
'owner, or anyone with a budget: a picture (SVG) of what explain(model) says: what each feature of a released model adds, one panel for each; who has not paid for the model pays as for a first answer';
