# privpred: private predictions in PostgreSQL.
#
# "make demo" and "make test" install missing Debian packages, build, and run
# in a throw-away server; everything else is ordinary PGXS.

EXTENSION = privpred
# The version is typed once, in the control file.
EXTVERSION := $(shell sed -n "s/^default_version *= *'\(.*\)'/\1/p" privpred.control)
DATA = $(wildcard privpred--*.sql)

MODULE_big = privpred
OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/*.c src/*/*.c)))
OUR_HEADERS = $(wildcard src/*.h src/*/*.h)
PG_CPPFLAGS = -I$(srcdir)/src -DPRIVPRED_VERSION='"$(EXTVERSION)"'
PG_CFLAGS = -std=gnu11 -Wextra -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers -Wno-cast-function-type $(WERROR)
SHLIB_LINK = -llinear -lm

REGRESS = $(patsubst sql/%.sql,%,$(sort $(wildcard sql/*.sql)))
ISOLATION = $(patsubst test/specs/%.spec,%,$(sort $(wildcard test/specs/*.spec)))
ISOLATION_OPTS = --inputdir=test

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs 2>/dev/null)

# Targets that set up their own machine must work before PGXS is installed.
SELF_CONTAINED = demo test bench
ifneq ($(filter-out $(SELF_CONTAINED),$(or $(MAKECMDGOALS),all)),)
ifeq ($(wildcard $(PGXS)),)
$(error PGXS not found (pg_config: $(PG_CONFIG)); install postgresql-server-dev for your server, or run "make test", which does)
endif
endif
-include $(PGXS)

$(OBJS): $(OUR_HEADERS)

# Nothing that draws or sums may be "optimised" by real-number algebra.
EXACT = src/sampler src/mechanism src/ledger src/learner src/linalg
$(EXACT:%=%/%.o): override CFLAGS += -fno-fast-math -ffp-contract=off
# The same for the bitcode that JIT may inline, where clang would contract by default.
$(EXACT:%=%/%.bc): override BITCODE_CFLAGS += -fno-fast-math -ffp-contract=off

# Loops over members and features, written to be vectorised as they stand.
src/learner/predictor_eval.o src/learner/linear.o src/learner/training.o src/linalg/cholesky.o: override CFLAGS += -O3

# make test TESTS="one two" runs some; KEEP=1 keeps what test and demo leave.
.PHONY: $(SELF_CONTAINED)
test:
	@test/run.sh
demo:
	@test/demo/run.sh
bench:
	@test/bench/run.sh
