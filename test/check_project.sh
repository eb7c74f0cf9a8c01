#!/bin/bash
# What drifts unless somebody looks: versions, file names, links, pairs of files.
# Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)

# ---------- the version is typed in the control file; the rest follows ----------

meta_value() {	# meta_value KEY[/KEY...]
	perl -MJSON::PP -e '
		my ($path) = @ARGV;
		open my $f, "<", "META.json" or die "META.json: $!\n";
		my $value = decode_json(join "", <$f>);
		$value = $value->{$_} for split m{/}, $path;
		print $value // "", "\n";' "$1"
}

is() {	# is GOT WANTED
	[ "$1" = "$2" ] || { echo "found \"$1\", expected \"$2\""; return 1; }
}

changelog_versions() {
	[ -e CHANGELOG.md ] || return 0
	sed -n 's/^## *\[\{0,1\}v\{0,1\}\([0-9][0-9]*\.[0-9][0-9.]*[0-9]\).*/\1/p' CHANGELOG.md
}

# Every released version can become the next one.
missing_upgrades() {
	local newer='' older
	for older in $(changelog_versions); do
		[ -z "$newer" ] || [ -e "privpred--$older--$newer.sql" ] ||
			echo "privpred--$older--$newer.sql is missing"
		newer=$older
	done
}

unguarded_scripts() {
	local script
	for script in install/begin.sql privpred--*--*.sql; do
		[ -e "$script" ] || continue
		# shellcheck disable=SC1003
		grep -q '^\\echo Use ".*" to load this file\. \\quit$' "$script" || echo "$script"
	done
}

ok "the control file has a version" test -n "$version"
ok "the parts of the install script join" install/join.sh
ok "META.json: version" is "$(meta_value version)" "$version"
ok "META.json: version provided" is "$(meta_value provides/privpred/version)" "$version"
ok "META.json: file provided" is "$(meta_value provides/privpred/file)" "privpred--$version.sql"
ok "META.json: its documentation exists" test -f "$(meta_value provides/privpred/docfile)"
ok "CHANGELOG.md: newest entry" is "$(changelog_versions | head -n 1)" "$version"
ok "each version upgrades to the next" says_nothing missing_upgrades
ok "install and upgrade scripts refuse to be run by psql" says_nothing unguarded_scripts

# ---------- the tree is whole, and knows no other ----------

ours() {	# files that people wrote
	find . -type f ! -path './.git/*' ! -path ./.git ! -name '*.o' ! -name '*.so' ! -name '*.bc' ! -name 'check_project.sh'
}

outside_paths() {
	ours | xargs -d '\n' grep -nIE '(^|[^A-Za-z0-9_.])(\.\./shared|/work/|/opt/pg)' || true
}

# Relative links of Markdown files.
broken_links() {
	local file link
	find . -name '*.md' ! -path './.git*' | while read -r file; do
		{ grep -oE '\]\([^)# ]+' "$file" || true; } | cut -c 3- | { grep -vE '^[a-z]+:' || true; } |
			while read -r link; do
				[ -e "$(dirname "$file")/$link" ] || echo "$file: $link"
			done
	done
}

# Headings that links in Markdown files name and that are not there.
broken_anchors() {
	find . -name '*.md' ! -path './.git*' | sort | perl -CSD -Mutf8 -MFile::Basename -ne '
		BEGIN {
			sub headings
			{
				my ($file) = @_;
				open my $in, "<:utf8", $file or return {};
				my %found;
				while (<$in>)
				{
					next unless /^#+ (.*)/;
					(my $slug = lc $1) =~ s/[^\w\- ]//g;
					$slug =~ tr/ /-/;
					$found{$slug} = 1;
				}
				return \%found;
			}
		}
		chomp;
		my $file = $_;
		open my $in, "<:utf8", $file or die "$file: $!\n";
		my $text = join "", <$in>;
		while ($text =~ /\]\(([^)\s#:]*)#([^)\s]+)\)/g)
		{
			my ($target, $anchor) = ($1 eq "" ? $file : dirname($file) . "/$1", $2);
			next unless $target =~ /\.md$/;
			$headings{$target} //= headings($target);
			print "$file: $1#$anchor\n" unless $headings{$target}{$anchor};
		}'
}

# unpaired DIRECTORY SUFFIX EXPECTED-DIRECTORY
unpaired() {
	local file name
	for file in "$1"/*"$2"; do
		[ -e "$file" ] || continue
		name=$(basename "$file" "$2")
		[ -e "$3/$name.out" ] || echo "$file has no $3/$name.out"
	done
	for file in "$3"/*.out; do
		[ -e "$file" ] || continue
		name=$(basename "$file" .out)
		[ -e "$1/${name%_[0-9]}$2" ] || [ -e "$1/$name$2" ] || echo "$file has no $1/$name$2"
	done
}

broken_scripts() {
	local file
	ours | xargs -d '\n' grep -lIE '^#!/bin/(ba)?sh' | while read -r file; do
		bash -n "$file" || true
		[ -x "$file" ] || echo "$file is not executable"
	done
}

# Others lose digits, or follow the session's extra_float_digits.
other_numbers() {
	grep -nE 'float8out|float8_out|double_to_shortest' src/*.[ch] src/*/*.[ch] src/*/*/*.[ch] boost/*.c |
		grep -v '^src/server/number_text\.h:' || true
}

ok "doubles become text in one way, src/server/number_text.h" says_nothing other_numbers
conflicts() { ours | xargs -d '\n' grep -nIE '^(<{7}|>{7})( |$)' || true; }

ok "no merge is left half done" says_nothing conflicts
ok "no path leads out of the tree" says_nothing outside_paths
ok "links in Markdown files lead somewhere" says_nothing broken_links
ok "and to headings that exist" says_nothing broken_anchors
ok "sql/ and expected/ belong together" says_nothing unpaired sql .sql expected
ok "test/specs/ and test/expected/ belong together" says_nothing unpaired test/specs .spec test/expected
ok "shell scripts parse and can be executed" says_nothing broken_scripts
ok "what people look for is there" \
	ls README.md CHANGELOG.md LICENSE META.json .ci/run docs/owner.md docs/analyst.md docs/reference.md docs/mechanisms.md
done_testing
