# Is META.json what the PGXN Meta Spec 1.0.0 asks for, and are the files that it names there?
#
# usage: perl pack/meta.pl [DIR]	(prints what is wrong, and fails then)
use strict;
use warnings;
use JSON::PP;

my $top = shift // '.';
open my $file, '<:raw', "$top/META.json" or die "META.json: $!\n";
my $meta = decode_json(join '', <$file>);
my @wrong;

# Semantic Versioning 1.0.0, which the spec wants everywhere.
my $semver = qr/(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-?[A-Za-z][0-9A-Za-z-]*)?/;
my %license = map { $_ => 1 } qw(agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3
  gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib
  open_source restricted unrestricted unknown);
my %known = map { $_ => 1 } qw(name version abstract description maintainer license provides prereqs release_status
  resources meta-spec generated_by tags no_index);

sub wrong { my ($where, $what) = @_; push @wrong, "$where: $what" }
sub is_text { my ($value) = @_; return defined $value && !ref $value && $value =~ /\S/ }
sub is_term { my ($value) = @_; return is_text($value) && length $value >= 2 && $value !~ m{[\x00-\x1f\x7f/\\]} }
sub is_tag { my ($value) = @_; return is_text($value) && length $value <= 256 && $value !~ m{[/\\\x00-\x1f]} }
sub is_version { my ($value) = @_; return is_text($value) && $value =~ /^$semver$/ }
sub is_range { my ($value) = @_; return defined $value && !ref $value
	  && ($value eq '0' || $value =~ /^(?:(?:<|<=|>|>=|==|!=)?\s*$semver)(?:\s*,\s*(?:<|<=|>|>=|==|!=)?\s*$semver)*$/) }
sub is_url { my ($value) = @_; return is_text($value) && $value =~ m{^[a-z]+://[^\s]+$} }

sub hash_of
{
	my ($where, $value) = @_;
	return %$value if ref $value eq 'HASH';
	wrong($where, 'is not an object');
	return ();
}

# A file that stays below the top.
sub check_file
{
	my ($where, $path) = @_;
	return wrong($where, 'is no relative path') unless is_text($path) && $path !~ m{^/|(?:^|/)\.\.(?:/|$)};
	wrong($where, "$path is not there") unless -f "$top/$path";
}

sub check_provides
{
	my %provides = hash_of('provides', $meta->{provides});
	wrong('provides', 'is empty') unless %provides;
	foreach my $name (sort keys %provides)
	{
		my %extension = hash_of("provides/$name", $provides{$name});
		wrong("provides/$name", 'is no term') unless is_term($name);
		check_file("provides/$name/file", $extension{file});
		check_file("provides/$name/docfile", $extension{docfile}) if exists $extension{docfile};
		wrong("provides/$name/version", 'is no semantic version') unless is_version($extension{version});
		wrong("provides/$name/abstract", 'is empty') if exists $extension{abstract} && !is_text($extension{abstract});
		wrong("provides/$name", "has an unknown key $_")
		  foreach grep { !/^(?:file|docfile|version|abstract|x_\w+)$/i } sort keys %extension;
	}
}

sub check_prereqs
{
	my %phases = hash_of('prereqs', $meta->{prereqs});
	foreach my $phase (sort keys %phases)
	{
		wrong("prereqs/$phase", 'is no phase') unless $phase =~ /^(?:configure|build|test|runtime|develop|x_\w+)$/i;
		my %relations = hash_of("prereqs/$phase", $phases{$phase});
		foreach my $relation (sort keys %relations)
		{
			wrong("prereqs/$phase/$relation", 'is no relationship')
			  unless $relation =~ /^(?:requires|recommends|suggests|conflicts|x_\w+)$/i;
			my %needs = hash_of("prereqs/$phase/$relation", $relations{$relation});
			foreach my $need (sort keys %needs)
			{
				wrong("prereqs/$phase/$relation/$need", 'is no term') unless is_term($need);
				wrong("prereqs/$phase/$relation/$need", 'is no range of versions') unless is_range($needs{$need});
			}
		}
	}
}

sub check_resources
{
	my %resources = hash_of('resources', $meta->{resources});
	foreach my $name (sort keys %resources)
	{
		my $value = $resources{$name};
		wrong("resources/$name", 'is unknown') unless $name =~ /^(?:homepage|bugtracker|repository|x_\w+)$/i;
		next unless ref $value eq 'HASH';
		wrong("resources/$name/$_", 'is no URL') foreach grep { /^(?:web|url)$/ && !is_url($value->{$_}) } sort keys %$value;
	}
}

sub check_lists
{
	my @maintainers = ref $meta->{maintainer} eq 'ARRAY' ? @{ $meta->{maintainer} } : ($meta->{maintainer});
	wrong('maintainer', 'is empty') if !@maintainers || grep { !is_text($_) } @maintainers;
	my $license = $meta->{license};
	my @names = ref $license eq 'ARRAY' ? @$license : ref $license eq 'HASH' ? () : ($license);
	wrong('license', 'is none that the spec knows') if grep { !defined $_ || !$license{$_} } @names;
	wrong('license', 'is no map of names to URLs')
	  if ref $license eq 'HASH' && (!%$license || grep { !is_url($_) } values %$license);
	wrong('tags', 'has one that is none') if exists $meta->{tags} && grep { !is_tag($_) } @{ $meta->{tags} };
}

wrong($_, 'is missing') foreach grep { !exists $meta->{$_} } qw(name version abstract maintainer license provides meta-spec);
wrong($_, 'is unknown') foreach grep { !$known{$_} && !/^x_/i } sort keys %$meta;
wrong('name', 'is no term') unless is_term($meta->{name});
wrong('version', 'is no semantic version') unless is_version($meta->{version});
wrong($_, 'is empty') foreach grep { exists $meta->{$_} && !is_text($meta->{$_}) } qw(abstract description generated_by);
wrong('release_status', 'is unknown')
  if exists $meta->{release_status} && $meta->{release_status} !~ /^(?:stable|testing|unstable)$/;
my %spec = hash_of('meta-spec', $meta->{'meta-spec'});
wrong('meta-spec/version', 'is not 1.0.0') unless ($spec{version} // '') eq '1.0.0';
wrong('meta-spec/url', 'is not that of the spec') if exists $spec{url} && $spec{url} !~ m{^https?://pgxn\.org/meta/spec\.txt$};
check_lists();
check_provides();
check_prereqs() if exists $meta->{prereqs};
check_resources() if exists $meta->{resources};

print "META.json: $_\n" foreach @wrong;
exit(@wrong ? 1 : 0);
