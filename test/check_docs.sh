#!/bin/bash
# docs/reference.md names every function, view, table, type and setting, and
# nothing else; the learner of docs/owner.md is the one that is tested; the
# pages for users stay short.
# Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

reference=docs/reference.md
join_install

# ---------- names in the code ----------

# created WORD...: objects of these kinds, without their schema
created() {
	local kinds
	kinds=$(IFS='|'; echo "$*")
	sed -nE "s/^CREATE ($kinds) (privpred|@extschema@)\.([a-z_0-9]+).*/\3/p" "$script" | sort -u
}

settings() {
	cat src/*/*.c src/*/*/*.c | tr -d '\n' | grep -oE 'DefineCustom[A-Za-z]+Variable\([[:space:]]*"privpred\.[a-z_0-9]+"' |
		sed 's/.*"privpred\.\(.*\)"/\1/' | sort -u
}

everything() {
	created FUNCTION AGGREGATE VIEW TABLE TYPE
	settings
}

# ---------- names in the reference ----------

documented() {
	grep -oE 'privpred\.[a-z_0-9]+' "$reference" | cut -d. -f2 | sort -u
	grep -oE '\bprivate_[a-z_0-9]+\(' "$reference" | tr -d '(' | sort -u
}

# missing COMMAND...: what the command names and the reference does not
missing() { comm -23 <("$@" | sort -u) <(documented | sort -u); }

invented() { comm -13 <(everything | sort -u) <(documented | sort -u) | sed 's/$/ does not exist/'; }

# Callers write the names of arguments.
undocumented_arguments() {
	perl -0ne '
		while (/^CREATE FUNCTION (?:privpred|\@extschema\@)\.(protect|create_model|retrain|drop_model|evaluate|grant_budget|revoke_budget|cost|verify_ledger|forgive_lease|answers_for|epsilon_for|plan)\((.*?)\)\s*(?:RETURNS|AS)/msg)
		{
			my ($function, $arguments) = ($1, $2);
			for (split /,/, $arguments) {
				s/^\s*(OUT\s+)?//;
				print "$function $1\n" if /^([a-z_]+) /;
			}
		}' "$script" | while read -r function argument; do
		grep -qE "(^|[^a-z_])$argument([^a-z_]|\$)" "$reference" || echo "$function: $argument"
	done
}

# ---------- the learner in docs/owner.md ----------

shown() {	# the block of SQL that begins with this line
	awk '/^```/ { inside = 0 }
		inside || /^CREATE SCHEMA nn;$/ { inside = 1; print }' docs/owner.md
}

tested() { sed -n '/^-- begin docs\/owner\.md$/,/^-- end docs\/owner\.md$/p' sql/docs_learner.sql | sed '1d;$d'; }

learner_shown() { [ -n "$(tested)" ] && diff <(tested) <(shown); }

# ---------- how much there is to read ----------

most_words=36000	# docs/architecture.md is for developers, and is not counted

pages() { ls README.md docs/*.md | grep -v '^docs/architecture\.md$'; }

too_long() {
	local words
	words=$(pages | xargs cat | wc -w)
	[ "$words" -le "$most_words" ] ||
		echo "README.md and docs/*.md have $words words, $most_words at most: say it once, and link to it"
}

ok "the names are found at all" test "$(everything | wc -l)" -gt 30
ok "every function and aggregate is in the reference" says_nothing missing created FUNCTION AGGREGATE
ok "every view, table and type is in the reference" says_nothing missing created VIEW TABLE TYPE
ok "every setting is in the reference" says_nothing missing settings
ok "every argument is in the reference" says_nothing undocumented_arguments
ok "the reference names nothing that does not exist" says_nothing invented
ok "docs/owner.md shows the learner that is tested" learner_shown
ok "the pages for users are found" test "$(pages | wc -l)" -gt 15
ok "and have no more words than a user will read" says_nothing too_long
done_testing
