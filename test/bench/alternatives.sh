# shellcheck shell=bash disable=SC2154
# What privpred is compared with, from Debian packages; a comparison with what is
# not there is left out.

# Debian's own interpreter: its packages are not seen by any other.
python=/usr/bin/python3

have_sklearn() { "$python" -c 'import sklearn, psycopg2' >/dev/null 2>&1; }
have_liblinear() { command -v liblinear-train >/dev/null; }

install_alternatives() {
	have_sklearn || "$privpred_top/test/packages.sh" "python3-sklearn=$python -c 'import sklearn'" \
		"python3-psycopg2=$python -c 'import psycopg2'" ||
		note "going on without the comparison with scikit-learn"
	have_liblinear || "$privpred_top/test/packages.sh" "liblinear-tools=command -v liblinear-train" ||
		note "going on without the comparison with liblinear's tools"
}
