# privpred: private predictions in PostgreSQL.
#
# "make demo" and "make test" name and install missing Debian packages (none with
# NO_INSTALL=1), build, and run in a throw-away server; everything else is ordinary PGXS.

EXTENSION = privpred
# The version is typed once, in the control file.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)
ifeq ($(EXTVERSION),)
$(error privpred is built in its source directory, where privpred.control is)
endif
# The install script is joined from its parts; upgrade scripts are kept as they are.
JOINED_SCRIPT = privpred--$(EXTVERSION).sql
DATA_built = $(JOINED_SCRIPT)
DATA = $(wildcard privpred--*--*.sql)

MODULE_big = privpred
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
OUR_HEADERS = $(wildcard src/*.h src/*/*.h src/*/*/*.h)
# (srcdir may end with a slash, and ccache takes .//src for /src.)
PG_CPPFLAGS = -I$(srcdir:/=)/src -DPRIVPRED_VERSION='"$(EXTVERSION)"'
# Hidden symbols are the server's default from 16 on; here, they are so for all (src/server/compat.h).
PG_CFLAGS = -std=gnu11 -fvisibility=hidden -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers -Wno-cast-function-type $(WERROR)
SHLIB_LINK = -llinear -lm

# CHECK_MEMORY=yes overwrites memory that is fresh or freed (test/memory/overwrite.c): for testing.
ifeq ($(CHECK_MEMORY),yes)
OBJS += test/memory/overwrite.o
PG_CFLAGS += -ftrivial-auto-var-init=pattern
OVERWRITTEN = palloc palloc_mul palloc_extended repalloc repalloc_mul repalloc_huge pfree \
	MemoryContextAlloc MemoryContextAllocHuge MemoryContextAllocExtended enlargeStringInfo
SHLIB_LINK += $(OVERWRITTEN:%=-Wl,--wrap=%)
endif

# FAULTS=yes lets processes fail at named points (src/server/fault.h): for testing.
ifeq ($(FAULTS),yes)
OBJS += test/crash/fault.o
PG_CPPFLAGS += -DPRIVPRED_FAULTS
endif

# COVERAGE=yes counts which lines are executed (test/coverage.sh): for testing.
ifeq ($(COVERAGE),yes)
PG_CFLAGS += --coverage -fprofile-update=atomic
SHLIB_LINK += --coverage
endif

# RECORD_INPUTS=yes writes down what goes into draws, which then are not private (src/draw/record.h): for testing.
ifeq ($(RECORD_INPUTS),yes)
PG_CPPFLAGS += -DPRIVPRED_RECORD_INPUTS
endif

# XGBoost is C++ and optional: it has a module of its own, which privpred loads
# when it first trains with it.  XGBOOST=no leaves it out.
BOOST_MODULE = boost/privpred_boost$(DLSUFFIX)
BOOST_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard boost/*.c)))
# (A variable, because make 4.3 no longer wants a backslash within a function.)
HASH := \#
XGBOOST ?= $(or $(shell echo '$(HASH)include <xgboost/c_api.h>' | $(CC) $(CPPFLAGS) -E -x c - >/dev/null 2>&1 && echo yes),no)
EXTRA_CLEAN = $(BOOST_MODULE) $(BOOST_OBJS) test/memory/overwrite.o test/crash/fault.o $(OBJS:.o=.gcno) $(OBJS:.o=.gcda)

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

# Targets that set up their own machine must work before PGXS is installed.
SELF_CONTAINED = demo test check-memory check-style coverage matrix audit bench views-sound model attack crash fuzz inputs dist
ifneq ($(filter-out $(SELF_CONTAINED),$(or $(MAKECMDGOALS),all)),)
ifeq ($(wildcard $(PGXS)),)
$(error PGXS not found (pg_config: $(PG_CONFIG)); install postgresql-server-dev for your server, or run "make test", which does)
endif
# To test/packages.sh it means that no package is installed, to PGXS that we are not.
override undefine NO_INSTALL
endif
-include $(PGXS)

$(OBJS): $(OUR_HEADERS)

$(JOINED_SCRIPT): $(wildcard install/*) privpred.control
	install/join.sh >$@.new && mv $@.new $@

ifeq ($(XGBOOST),yes)
$(BOOST_OBJS): $(OUR_HEADERS) $(wildcard boost/*.h)
$(BOOST_MODULE): $(BOOST_OBJS)
	$(CC) $(CFLAGS) -shared -o $@ $^ $(LDFLAGS) $(LDFLAGS_SL) -lxgboost -lgomp -lm
all: $(BOOST_MODULE)
install: install-boost
install-boost: $(BOOST_MODULE) installdirs
	$(INSTALL_SHLIB) $(BOOST_MODULE) '$(DESTDIR)$(pkglibdir)/'
uninstall: uninstall-boost
uninstall-boost:
	rm -f '$(DESTDIR)$(pkglibdir)/$(notdir $(BOOST_MODULE))'
.PHONY: install-boost uninstall-boost
endif

# Nothing that draws or sums may be "optimised" by real-number algebra.
EXACT = $(filter $(addsuffix /%,src/draw src/account src/mechanism src/ledger src/learner),$(OBJS))
$(EXACT): override CFLAGS += -fno-fast-math -ffp-contract=off
# The same for the bitcode that JIT may inline, where clang would contract by default.
$(EXACT:.o=.bc): override BITCODE_CFLAGS += -fno-fast-math -ffp-contract=off

# Loops over members and features, written to be vectorised as they stand.
src/learner/score_kernels.o src/learner/forest.o src/learner/linear.o src/learner/training.o src/learner/cholesky.o src/mechanism/stable_erm/erm.o: override CFLAGS += -O3
# The same; that no exception flags are kept changes no result.
src/mechanism/gradient/sums.o: override CFLAGS += -O3 -fno-trapping-math -fno-math-errno

# As test/regress.conf has it: a question that is asked again is answered anew.
installcheck: export PGOPTIONS := $(PGOPTIONS) -c privpred.repeat_memory=0

# make test TESTS="one two" runs some; KEEP=1 keeps what test and demo leave.
.PHONY: $(SELF_CONTAINED)
test:
	@test/run.sh
check-memory:
	@CHECK_MEMORY=yes test/run.sh
check-style:
	@test/check_style.sh
coverage:
	@COVERAGE=yes test/run.sh
matrix:
	@test/matrix.sh
audit:
	@test/audit/run.sh
demo:
	@test/demo/run.sh
bench:
	@test/bench/run.sh
views-sound:
	@test/views/run.sh
model:
	@test/check_model.sh $(if $(MISTAKE),trace $(MISTAKE),full)
attack:
	@test/attack/run.sh
dist:
	@pack/dist.sh
crash:
	@test/crash/run.sh
fuzz:
	@FUZZ_SECONDS=$(or $(SECONDS),60) test/fuzz/run.sh
inputs:
	@test/inputs/run.sh
