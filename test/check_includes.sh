#!/bin/bash
# The folders of src/ are layers: a file includes its own folder and those below
# it, never one above.  Prints TAP.
. "$(dirname "$0")/lib/tap.sh"

# Folder: the folders it may include.  "." is src/ itself (privpred.h, compat.h).
declare -A may_include=(
	[.]=". entry request ledger catalog mechanism learner sampler linalg progress stats"
	[shared header]="."
	[entry]=". entry request ledger catalog mechanism learner sampler linalg progress stats"
	[request]=". request ledger catalog mechanism learner sampler linalg progress stats"
	[ledger]=". ledger mechanism learner sampler linalg progress stats"
	[catalog]=". catalog mechanism learner sampler linalg progress stats"
	[mechanism]=". mechanism learner sampler linalg progress stats"
	[learner]=". learner sampler linalg"
	[sampler]=". sampler"
	[linalg]=". linalg"
	[progress]=". progress"
	[stats]=". stats"
)

# The ledger may switch to the extension's owner, and knows nothing else of the catalog.
exceptions=" ledger:catalog/store.h "

# What unit tests drive alone may use the C library and postgres.h, not the server.
alone='^src/(sampler/|linalg/|ledger/(accountant|renyi)\.)'
harmless='^(postgres\.h|postgres_fe\.h|c\.h|port/.*|common/.*|fmgr\.h|miscadmin\.h)$'

included() { sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\([^"]*\)".*/\1/p' "$1"; }

folder_of() {	# of a path below src/
	case $1 in */*) echo "${1%%/*}" ;; *) echo . ;; esac
}

# Prints the upward includes of one file.
upward() {
	local file=$1 from header path to
	from=$(folder_of "${file#src/}")
	# Start-up calls every layer; what every layer includes knows none.
	[[ $file != src/*.h || $from != . ]] || from="shared header"
	for header in $(included "$file"); do
		# The server has headers of the same style: ours are those that exist.
		if [ -e "src/$header" ]; then
			path=$header
		elif [ -e "$(dirname "$file")/$header" ]; then
			path=$(realpath --relative-to=src "$(dirname "$file")/$header")
		else
			[[ ! $file =~ $alone || $header =~ $harmless ]] ||
				echo "$file includes $header, but must work without a server"
			continue
		fi
		to=$(folder_of "$path")
		[[ " ${may_include[$from]} " == *" $to "* || "$exceptions" == *" $from:$path "* ]] ||
			echo "$file includes $path, which is above it"
	done
}

for folder in src/ src/*/; do
	[ -d "$folder" ] || continue
	name=$(folder_of "${folder#src/}")
	[ "$folder" != src/ ] || name=.
	if [ -z "${may_include[$name]:-}" ]; then
		ok "$folder has a place among the layers" false
		continue
	fi
	check_folder() {
		local file
		for file in "$folder"*.[ch]; do
			[ ! -e "$file" ] || upward "$file"
		done
	}
	ok "$folder includes nothing from above" says_nothing check_folder
done

# A receipt without a charge is for audits of made-up rows (src/ledger/audit.c).
free_receipts() {
	grep -ln 'ledger_audit_' src/*.c src/*/*.c | grep -v '^src/\(ledger/audit\|request/audit[a-z_]*\)\.c$' || true
	grep -ln 'made_up_rows *=[^=]' src/*.c src/*/*.c | grep -v '^src/request/audit_rows\.c$' || true
}
ok "nobody but an audit draws without a charge" says_nothing free_receipts
done_testing
