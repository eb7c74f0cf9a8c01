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

# Signatures in the reference, `privpred.name(a type, [b type], c = 1) → (x, y)`, that no function
# has: other names of arguments, another order, other defaults, other columns of the result.
wrong_signatures() {
	perl -CS -0777 -Mutf8 -e '
		sub parts
		{
			my ($list) = @_;
			my ($depth, $part, @parts) = (0, "");
			for my $c (split //, $list)
			{
				$depth++ if $c =~ /[(\[]/;
				$depth-- if $c =~ /[)\]]/;
				if ($c eq "," && !$depth) { push @parts, $part; $part = "" }
				else { $part .= $c }
			}
			push @parts, $part;
			return grep { /\S/ } map { s/^\s+|\s+$//gr } @parts;
		}
		# name and default of an argument, as the code and as the reference has it
		sub argument
		{
			my ($text) = @_;
			$text =~ s/^VARIADIC /.../;
			my ($default) = $text =~ /(?:DEFAULT|=) (.*)$/s;
			$text =~ s/^\[(.*)\]$/$1/s;
			my ($name) = $text =~ /^"?(\S+?)"?(?:\s|$)/;
			return $name . (defined $default && $default ne "NULL" ? " = $default" : "");
		}
		open my $in, "<:utf8", $ARGV[0] or die; my $code = <$in>;
		open $in, "<:utf8", $ARGV[1] or die; my $reference = <$in>;
		$code =~ s/--.*//g;
		my ($balanced, %has);
		$balanced = qr/\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)/;
		while ($code =~ /^CREATE FUNCTION privpred\.(\w+)\s*$balanced\s*(?:RETURNS TABLE\s*$balanced)?/mg)
		{
			my ($name, $all, $table) = ($1, $2, $3);
			my @all = parts($all);
			my @out = map { /^(?:OUT )?"?(\w+)/ } defined $table ? parts($table) : grep { /^OUT / } @all;
			push @{ $has{$name} }, [ join(", ", map { argument($_) } grep { !/^OUT / } @all), join(", ", @out) ];
		}
		my %compared;
		while ($reference =~ /\*\*`privpred\.(\w+)$balanced(?: → (?:setof )?(?:$balanced)?)?/g)
		{
			my ($name, $arguments, $out) = ($1, $2, $3);
			next unless $has{$name};
			my $shown = join ", ", map { argument($_) } parts($arguments);
			my @same = grep { $_->[0] eq $shown } @{ $has{$name} };
			$out = join ", ", map { /^(\w+)/ } parts($out) if defined $out && $out !~ /\.\.\./;
			$compared{$name} = 1;
			print "$name($shown), but there is ($_->[0])\n" for @same ? () : @{ $has{$name} };
			print "$name gives ($out), but it is ($_->[1])\n"
				for grep { defined $out && $out !~ /\.\.\./ && $_->[1] ne $out } @same;
		}
		my ($internal) = $reference =~ /^## Internal functions\n(.*)/ms;
		print map { "$_ has no signature\n" }
			grep { !$compared{$_} && $internal !~ /`privpred\.$_`/ && $reference !~ /^(?:privpred\.)?$_\(|`privpred\.$_\(\)`/m } sort keys %has;
	' "$script" "$reference"
}

# ---------- the learner in docs/owner.md ----------

shown() {	# the block of SQL that begins with this line
	awk '/^```/ { inside = 0 }
		inside || /^CREATE SCHEMA nn;$/ { inside = 1; print }' docs/owner.md
}

tested() { sed -n '/^-- begin docs\/owner\.md$/,/^-- end docs\/owner\.md$/p' sql/docs_learner.sql | sed '1d;$d'; }

learner_shown() { [ -n "$(tested)" ] && diff <(tested) <(shown); }

# ---------- how much there is to read ----------

most_words=54300	# docs/architecture.md is for developers, and is not counted

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
ok "signatures in the reference are those of the code" says_nothing wrong_signatures
ok "the reference names nothing that does not exist" says_nothing invented
ok "docs/owner.md shows the learner that is tested" learner_shown
ok "the pages for users are found" test "$(pages | wc -l)" -gt 15
ok "and have no more words than a user will read" says_nothing too_long
done_testing
