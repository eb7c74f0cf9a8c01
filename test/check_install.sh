#!/bin/bash
# Nothing in the install script is looked up by search_path: what somebody put
# into the target schema must not be found when superusers read our views.
# Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

join_install

# bare SCRIPT: prints what views, tables, indexes, rules and bodies of functions
# leave to search_path.
bare() {
	perl - "$1" <<'PERL'
use strict;
use warnings;
local $/;
open my $file, '<', $ARGV[0] or die "$ARGV[0]: $!\n";
my $text = <$file>;

# Words before "(" that are no functions, and functions of the grammar that look nothing up.
my %grammar = map { $_ => 1 } qw(and any all array as by case check coalesce cross distinct else except exists
	filter from greatest group in intersect join key lateral least limit not on or order over partition
	primary references row select some then union unique values when where with table view index);
my $name = qr/(?:"[^"]*"|[a-z_]\w*)/i;
my $operator = qr{[-+*/<>=~!\@#%^&|`?]+};

sub problem { print "$_[0]: $_[1]\n"; }

# Comments and strings, but the bodies of functions in SQL, are none of our business.
$text =~ s{(--[^\n]*|'(?:[^']|'')*'|/\*.*?\*/)}
	{ my $s = $1; my $lines = () = $s =~ /\n/g; ($s =~ /^'/ ? "'s'" : ' ') . "\n" x $lines }gse;

# Bodies may contain semicolons.
my @statements;
while ($text =~ /\G((?:\$\w*\$.*?\$\w*\$|[^;])*;)/gs) { push @statements, $1; }

foreach my $statement (@statements)
{
	(my $what = $statement) =~ s/^\s+//;
	my ($kind) = $what =~ /^CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNIQUE\s+)?(VIEW|TABLE|INDEX|RULE|FUNCTION|PROCEDURE|DOMAIN|MATERIALIZED\s+VIEW|POLICY)\b/i;
	$kind = 'ALTER' if $what =~ /^ALTER\b/i && $what =~ /\b(CHECK|DEFAULT|USING)\b/i;
	$kind = 'QUERY' if $what =~ /^(SELECT|INSERT|UPDATE|DELETE|DO|WITH)\b/i;
	next unless $kind;
	my ($title) = $what =~ /^([^\n]{1,60})/;
	my $body = $what;

	if ($kind =~ /FUNCTION|PROCEDURE/i)
	{
		# Defaults are written DEFAULT; the rest is looked up only in a body.
		(my $head = $body) =~ s/\$(\w*)\$.*//s;
		problem($title, 'a default without DEFAULT') if $head =~ /\(.*=.*\)/s;
		next unless $body =~ /\$(\w*)\$(.*)\$\1\$/s || $body =~ /\b(BEGIN\s+ATOMIC|RETURN)\b(.*)/s;
		$body = $2;
	}
	$body =~ s/\bWITH\s*\(\s*\w+(\s*=\s*\w+)?(\s*,\s*\w+(\s*=\s*\w+)?)*\s*\)//gi;	# storage parameters
	$body =~ s/\bOPERATOR\s*\(\s*pg_catalog\s*\.\s*$operator\s*\)/ QUALIFIED /gi;
	$body =~ s/:=|=>/ GETS /g;	# assignments and named arguments
	$body =~ s/\b(SET\s+$name)\s*=/$1 GETS/gi if $kind eq 'QUERY';
	$body =~ s/\bAS\s+(?:NOT\s+)?MATERIALIZED\b/AS/gi;
	$body =~ s/\.\s*\*/.star/g;
	$body =~ s/\(\s*\*\s*\)/(star)/g;

	problem($title, "operator $1") while $body =~ /($operator)/g;
	problem($title, "\"$1\" looks for an operator")
		while $body =~ /\b(IN\s*\(|BETWEEN|(?:I?LIKE|SIMILAR\s+TO)|NULLIF|IS\s+(?:NOT\s+)?DISTINCT|USING\s*\(|NATURAL|OVERLAPS|CASE(?!\s+WHEN\b)(?=\s))/gi;
	problem($title, "cast to $1") while $body =~ /::\s*($name)(?!\s*\.)(?![\w"])/g;
	problem($title, 'CAST(...)') if $body =~ /\bCAST\s*\(/i;
	# In definitions of tables and indexes a name before "(" may be a table.
	while ($body =~ /(?<![\w.":])($name)\s*\(/g)
	{
		my $word = lc $1;
		my $before = substr($body, 0, $-[1]);

		next if $grammar{$word} || $word =~ /^(?:qualified|gets)$/;
		next if $before =~ /\b(TABLE|VIEW|INDEX|ON|INTO|WITH|,)\s*$/i && $kind =~ /TABLE|INDEX/i;
		# Behind a table or a function, an alias with names of columns.
		next if $before =~ /\.\s*$|\)\s*$|\b(?:AS|ORDINALITY)\s+$/i;
		problem($title, "function $word");
	}
	# A view, or a query, reads from what it names in full, or from what it defines itself.
	my %own = map { lc($_) => 1 } $body =~ /(?:\bWITH(?:\s+RECURSIVE)?|,)\s+($name)\s*(?:\([\w\s,]*\)\s*)?AS\s*\(/gi;
	while ($body =~ /\b(?:FROM|JOIN)\s+($name)(?![\w"])(?!\s*[.(])/gi)
	{
		problem($title, "relation $1") unless $own{ lc $1 } || lc $1 eq 'lateral' || lc $1 eq 'public';
	}
}
PERL
}

# Before anything is created.
closed_path() {
	local first
	first=$(sed -e 's,/\*.*\*/,,' -e 's/--.*//' -e '/^\\/d' "$1" | tr '\n' ' ' | cut -d ';' -f 1 | xargs)
	[ "$first" = "SET LOCAL search_path = pg_catalog, pg_temp" ] || echo "the first statement is: $first"
}

# The name of the schema is put in as an identifier, quoted; nowhere else is that safe.
loose_extschema() {
	grep -n '@extschema' "$1" | grep -vE '(FUNCTION|^[0-9]+:[[:blank:]]*)[[:blank:]]*@extschema@\.' || true
}

# The check itself finds what it is for.
finds() {	# finds WHAT STATEMENT
	local output file
	file=$(mktemp)
	printf '%s\n' "$2" >"$file"
	output=$(bare "$file")
	rm -f "$file"
	grep -qF "$1" <<<"$output" || { echo "not found in: $2"; echo "$output"; return 1; }
}

is_silent_about() {
	local file
	file=$(mktemp)
	printf '%s\n' "$1" >"$file"
	bare "$file"
	rm -f "$file"
}

ok "finds an operator" finds "operator =" "CREATE VIEW v AS SELECT a.x FROM s.a a JOIN s.b b ON a.x = b.y;"
ok "finds an operator in a constraint" finds "operator >" "CREATE TABLE s.t (x bigint CHECK (x > 0));"
ok "finds an operator of an index" finds "operator =" "CREATE UNIQUE INDEX i ON s.t (a, b) WHERE status = 'open';"
ok "finds IN" finds '"IN' "CREATE TABLE s.t (x text CHECK (x IN ('a', 'b')));"
ok "finds USING" finds '"USING' "CREATE VIEW v AS SELECT a.x FROM s.a a JOIN s.b b USING (x);"
ok "finds CASE x" finds '"CASE' "CREATE VIEW v AS SELECT CASE a.x WHEN 1 THEN 2 END FROM s.a a;"
ok "finds NULLIF" finds '"NULLIF' "CREATE VIEW v AS SELECT NULLIF(a.x, 1) FROM s.a a;"
ok "finds DISTINCT FROM" finds '"IS NOT DISTINCT' "CREATE VIEW v AS SELECT a.x IS NOT DISTINCT FROM 1 FROM s.a a;"
ok "finds a function" finds "function trim_scale" "CREATE VIEW v AS SELECT trim_scale(a.x) FROM s.a a;"
ok "finds a type" finds "cast to regclass" "CREATE VIEW v AS SELECT a.x::regclass FROM s.a a;"
ok "finds a relation" finds "relation pg_class" "CREATE VIEW v AS SELECT c.oid FROM pg_class c;"
# shellcheck disable=SC2016
ok "finds what a body does" finds "operator +" 'CREATE FUNCTION s.f(a int) RETURNS int LANGUAGE sql AS $$ SELECT a + 1; $$;'
ok "finds a query" finds "function now" "SELECT now();"
ok "is silent about what is qualified" says_nothing is_silent_about "CREATE VIEW v WITH (security_barrier) AS
	WITH b AS (SELECT a.* FROM s.a a) SELECT COALESCE(b.x::pg_catalog.text, 'it''s; -- = 1') FROM b -- bare =
	WHERE b.y OPERATOR(pg_catalog.=) ANY (ARRAY[1, 2]) AND pg_catalog.count(*) OPERATOR(pg_catalog.>) 1;"

ok "the script closes search_path first" says_nothing closed_path "$script"
ok "nothing is left to search_path" says_nothing bare "$script"
ok "the schema's name stands where it is quoted" says_nothing loose_extschema "$script"
for upgrade in privpred--*--*.sql; do
	ok "$upgrade closes search_path first" says_nothing closed_path "$upgrade"
	ok "$upgrade leaves nothing to search_path" says_nothing bare "$upgrade"
	ok "$upgrade: the schema's name stands where it is quoted" says_nothing loose_extschema "$upgrade"
done
done_testing
