#!/bin/bash
# Debian packages, built in a clean chroot: as root, with debootstrap and dpkg-dev installed.
#
# usage: pack/deb.sh OUT	(what is committed; the packages and the build's log are left in OUT)
#
#	SUITE=bookworm			the release to build for
#	MIRROR=http://...		where it comes from
#	CHROOT=DIR				a directory that debootstrap has filled (it is copied, not changed)
#	BUILD_CHROOT=DIR		the same, for the build alone; what it needs may be installed there
#	CHECK=yes				lintian there as well, and the tests of debian/tests in another one
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: pack/deb.sh OUT" >&2; exit 1; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)
suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d /var/tmp/privpred-deb.XXXXXX)
trap leave EXIT

leave() {
	local dir
	for dir in "$work"/*/proc; do
		! mountpoint -q "$dir" || umount "$dir"
	done
	rm -rf "$work"
}

inside() {
	local root=$1
	shift
	chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}

# new_root NAME [DIR]: sets root.
new_root() {
	root=$work/$1
	if [ -n "${2:-}" ]; then
		cp -a "$2" "$root"
	else
		debootstrap --variant=minbase "$suite" "$root" "$mirror"
	fi
	# Nothing is started in it.
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
	chmod +x "$root/usr/sbin/policy-rc.d"
	mount -t proc proc "$root/proc"
	inside "$root" apt-get -q update
}

source_tree() {
	mkdir -p "$root/build/privpred-$version"
	git archive HEAD -- . ':!debian' | tar -x -C "$root/build/privpred-$version"
	tar -C "$root/build" --sort=name --owner=0 --group=0 -czf "$root/build/privpred_$version.orig.tar.gz" "privpred-$version"
	git archive HEAD -- debian | tar -x -C "$root/build/privpred-$version"
}

build() {
	new_root build "${BUILD_CHROOT:-${CHROOT:-}}"
	source_tree
	inside "$root" apt-get -q -y --no-install-recommends install build-essential fakeroot \
		postgresql-server-dev-all </dev/null
	inside "$root" sh -c "cd /build/privpred-$version && pg_buildext updatecontrol &&
		apt-get -q -y --no-install-recommends build-dep ./ </dev/null &&
		dpkg-buildpackage -us -uc"
	find "$root/build" -maxdepth 1 -type f -exec cp -t "$out" {} +
	[ "${CHECK:-no}" != yes ] || lint
}

lint() {
	inside "$root" apt-get -q -y --no-install-recommends install lintian </dev/null
	inside "$root" sh -c 'cd /build && lintian --allow-root --fail-on error,warning --info *.changes'
	echo "lintian has nothing to say against it"
}

# What debian/tests/control asks for, on a machine that has the packages alone.
test_packages() {
	new_root test "${CHROOT:-}"
	mkdir -p "$root/build"
	cp "$out"/*.deb "$root/build/"
	inside "$root" sh -c 'rm -f /build/*-dbgsym_*; apt-get -q -y --no-install-recommends install /build/*.deb </dev/null'
	source_tree
	inside "$root" apt-get -q -y --no-install-recommends install make postgresql-server-dev-all </dev/null
	inside "$root" useradd -m tester
	chown -R --reference="$root/home/tester" "$root/build"
	inside "$root" runuser -u tester -- sh -c "cd /build/privpred-$version && debian/tests/installcheck"
}

build
[ "${CHECK:-no}" != yes ] || test_packages
ls -l "$out"
