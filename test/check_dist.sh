#!/bin/bash
# make dist: META.json is valid, everything that is needed is in, and nothing that was built.
# Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)

ok "the distribution is made" pack/dist.sh "$work"
python3 -m zipfile -e "$work/privpred-$version.zip" "$work"
tree=$work/privpred-$version
ok "it unpacks to one directory, named by name and version" test "$(ls "$work")" = "$(printf '%s\n' "privpred-$version" "privpred-$version.zip")"
ok "META.json is valid there" perl pack/meta.pl "$tree"
joined() { diff <(install/join.sh) "$tree/privpred--$version.sql"; }
ok "the install script is in it" joined
ok "licence, changes and documentation are in it" \
	ls "$tree"/{LICENSE,CHANGELOG.md,README.md,Makefile,privpred.control} "$tree"/docs/reference.md
built() { find "$tree" -name '*.o' -o -name '*.so' -o -name '*.bc' -o -name '.git' -type d -o -name 'regression.*'; }
ok "nothing that was built is in it" says_nothing built
sources() { (cd "$1" && find src install boost sql expected test -type f ! -path test/unit/bin/* | grep -vE '\.(o|so|bc|gcno|gcda)$' | sort); }
same_files() { diff <(sources .) <(sources "$tree"); }
ok "and every source is" same_files

# ---------- the check of META.json sees what it is for ----------

# spoiled PERL: runs it on the decoded $m, and succeeds if the check then fails.
spoiled() {
	cp META.json "$work/kept.json"
	perl -MJSON::PP -e 'local $/; open my $f, "<", $ARGV[0]; my $m = decode_json(<$f>); eval $ARGV[1]; die $@ if $@;
		open my $o, ">", $ARGV[2]; print $o encode_json($m)' "$work/kept.json" "$1" "$tree/META.json"
	! perl pack/meta.pl "$tree" >"$work/said" || { echo "nothing was found"; return 1; }
	[ "$(wc -l <"$work/said")" -eq 1 ] || { cat "$work/said"; return 1; }
}
# shellcheck disable=SC2016
while IFS='|' read -r change what; do
	ok "refused: $what" spoiled "$change"
done <<'CHANGES'
delete $m->{abstract}|no abstract
$m->{version} = "0.2"|a version of two numbers
$m->{version} = "0.02.0"|a version with a leading zero
$m->{name} = "priv/pred"|a name with a slash
$m->{license} = "postgres"|an unknown licence
$m->{maintainer} = []|no maintainer
$m->{provides}{privpred}{file} = "privpred.sql"|a file that is not there
$m->{provides}{privpred}{file} = "../META.json"|a file outside
$m->{provides}{privpred}{version} = "v1"|a provided version that is none
$m->{prereqs}{run} = {}|an unknown phase
$m->{prereqs}{runtime}{needs} = {}|an unknown relationship
$m->{prereqs}{runtime}{requires}{PostgreSQL} = "14+"|a range that is none
$m->{"meta-spec"}{version} = "2.0.0"|another spec
$m->{tags} = ["a/b"]|a tag with a slash
$m->{colour} = "blue"|an unknown key
$m->{resources}{homepage} = 1; $m->{resources}{place} = 1|an unknown resource
$m->{release_status} = "done"|an unknown status
CHANGES
done_testing
