# `make reproduce` prints the knee and the policy tables, `make check` tests everything, `make help` lists the rest.
# V=1 shows whole commands, WERROR=1 makes warnings errors. A variant is one way to compile, kept in build/VARIANT/.

PREFIX       ?= /usr/local
CC           ?= cc
GCC          ?= gcc
CLANG        ?= clang
CLANG_FORMAT ?= clang-format
CFLAGS       ?= -O2 -g
FUZZ_SECONDS ?= 600

# What there is. Every policy is built in but the skeleton, which the tests load, as they do tests/plugins/.
policies := $(filter-out policies/skeleton.c policies/registry.c,$(wildcard policies/*.c))
library  := $(filter-out sim/cli/main.c,$(wildcard sim/*/*.c models/*.c policies/registry.c) $(policies))
plugins  := $(wildcard policies/skeleton.c tests/plugins/*.c)
helpers  := $(filter-out tests/main.c tests/test_%,$(wildcard tests/*.c))
fuzzers  := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
tables   := knee policies
variants := release gcc clang asan tsan fuzz

all: build/weir ## the program, build/weir
.PHONY: all reproduce plots docs check check-deep check-long bench bench-quick lint install uninstall clean help packages
.DELETE_ON_ERROR:
.SUFFIXES:

build/weir: build/release/weir
	@ln -sf release/weir $@

# --- packages: before anything is compiled; which groups are needed depends on the goals
groups_reproduce  := plots
groups_plots      := plots
groups_check      := plots tests
groups_docs       := plots tests
groups_check-deep := plots tests deep
groups_check-long := tests deep
groups_lint       := tests deep
packages: ## installs what this machine lacks for the other goals of the same command
	@CC='$(CC)' CLANG='$(CLANG)' sh tests/packages.sh build $(sort $(foreach goal,$(MAKECMDGOALS),$(groups_$(goal))))

# --- compiling and linking; pkg-config is asked when a recipe runs, as it may have been installed a moment before
warnings   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
language   := -std=c11 -D_POSIX_C_SOURCE=200809L -ffp-contract=off -pthread -I.
builtin    = $(addprefix -DPOLICY_BUILTIN=,$(basename $(notdir $(filter $(policies),$<))))
libs       = $$(pkg-config --libs gsl yaml-0.1) -lsleef -lcsv -ldl -lm
check_libs = $$(pkg-config --libs check)

build/release/%: compiler = $(CC)
build/gcc/%:     compiler = $(GCC)
build/clang/%:   compiler = $(CLANG)
build/asan/%:    compiler = $(GCC)
build/tsan/%:    compiler = $(GCC)
build/fuzz/%:    compiler = $(CLANG)

build/release/%: flags = $(if $(WERROR),-Werror)
build/gcc/%:     flags = -Werror
build/clang/%:   flags = -Werror
build/asan/%:    flags = -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
build/tsan/%:    flags = -fsanitize=thread
build/fuzz/%:    flags = -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

say   = @$(if $(V),:,printf '  %-7s%s\n')
quiet = $(if $(V),,@)

define compile
	@mkdir -p $(@D)
	$(say) CC $<
	$(quiet)$(compiler) $(language) $(warnings) $(CFLAGS) $(flags) $(builtin) $(CPPFLAGS) \
		$$(pkg-config --cflags gsl yaml-0.1) -MMD -MP -c -o $@ $<
endef

define compile_plugin
	@mkdir -p $(@D)
	$(say) PLUGIN $@
	$(quiet)$(compiler) $(language) $(warnings) $(CFLAGS) $(flags) $(CPPFLAGS) -MMD -MP -fPIC -shared -o $@ $<
endef

define archive
	@rm -f $@
	$(quiet)$(AR) rcs $@ $^
endef

define link
	$(say) LINK $@
	$(quiet)$(compiler) $(CFLAGS) $(flags) -pthread $(LDFLAGS) -o $@ $^ $(1) $(libs)
endef

objects  = $(patsubst %.c,build/$(1)/%.o,$(2))
loadable = $(foreach source,$(plugins),build/$(1)/plugins/$(notdir $(source:.c=.so)))

define rules
build/$(1)/%.o: %.c Makefile | packages
	$$(compile)
build/$(1)/plugins/%.so: policies/%.c Makefile | packages
	$$(compile_plugin)
build/$(1)/plugins/%.so: tests/plugins/%.c Makefile | packages
	$$(compile_plugin)
build/$(1)/weir.a: $(call objects,$(1),$(library))
	$$(archive)
build/$(1)/weir: build/$(1)/sim/cli/main.o build/$(1)/weir.a
	$$(call link)
build/$(1)/check: $(call objects,$(1),$(wildcard tests/*.c)) build/$(1)/weir.a | build/$(1)/weir $(call loadable,$(1))
	$$(call link,$$(check_libs))
build/$(1)/battery: $(call objects,$(1),$(wildcard tests/battery/*.c)) build/$(1)/weir.a
	$$(call link)
build/$(1)/bench: $(call objects,$(1),$(wildcard tests/bench/*.c)) build/$(1)/weir.a
	$$(call link)
-include $(wildcard $(addprefix build/$(1)/,*/*.d */*/*.d))
endef
$(foreach variant,$(variants),$(eval $(call rules,$(variant))))

build/fuzz/helpers.a: $(call objects,fuzz,$(helpers))
	$(archive)
$(fuzzers:%=build/fuzz/fuzz_%): build/fuzz/%: build/fuzz/tests/fuzz/%.o build/fuzz/helpers.a build/fuzz/weir.a
	$(call link,-fsanitize=fuzzer)

# --- the main job
reproduce: build/weir ## the knee and the policy tables with the published values, and their pictures
	@set -e; for table in $(tables); do \
		build/weir run scenarios/$$table.yaml -o build/$$table.csv --plot build/plots; \
	done
	@echo 'tables: $(tables:%=build/%.csv); pictures: build/plots/'
	@echo 'your own card:   build/weir new card >mine.yaml && build/weir run mine.yaml'
	@echo 'your own policy: build/weir new policy mine >mine.c; build/weir help plugin compiles and runs it'

plots: $(tables:%=build/plots/%.csv) build/weir ## the pictures of those tables again
	@set -e; for table in $(tables:%=build/plots/%); do \
		build/weir plot $$table.csv -y wait_p99,total_wait_p99,deferred_share,goodput -o build/plots; \
		build/weir plot $$table.survival.csv -o build/plots; \
	done

build/plots/%.csv: scenarios/%.yaml build/weir
	build/weir run $< -o build/$*.csv --plot build/plots

build/%.csv: scenarios/%.yaml build/weir
	build/weir run $< -o $@

# Pictures that the pages show, as PLACE=TABLE.METRIC.
pictures := knee=knee.wait_p99 knee.total_wait=knee.total_wait_p99 policies.deferred=policies.deferred_share \
	pilot=pilot.record.record zoo_card=zoo_card.expected.total_wait_p99 zoo_memory=zoo_memory.expected.goodput
zoo_plain := unbounded,cap_6,fixed_cap,deadline,priority_dagor,priority_slots
zoo_pairs := codel aimd vegas gradient2 folly_codel envoy_gradient pid breakwater
zoo_bars  := -p $(zoo_plain)$(foreach name,$(zoo_pairs), -p $(name)_published,$(name)_slots)
pilot_panels := planner.ceiling_override+planner.ceiling+planner.running,planner.r_tok+planner.peak+overloads
docs: build/release/check build/weir $(tables:%=build/%.csv) ## renews what the pages show, and REFERENCE.md
	build/weir plot build/knee.csv -y wait_p99,total_wait_p99 -o build/docs
	build/weir plot build/policies.csv -y deferred_share -o build/docs
	build/weir run scenarios/pilot.yaml -r 1 --set record.file=build/pilot.record.csv \
		--set record.decisions=build/pilot.decisions.csv --set record.audit=build/pilot.audit.csv >build/pilot.txt
	build/weir plot build/pilot.record.csv -y $(pilot_panels) -o build/docs
	build/weir plot scenarios/zoo_card.expected.csv --at agents.coder.population=40 -y total_wait_p99 $(zoo_bars) -o build/docs
	build/weir plot scenarios/zoo_memory.expected.csv -y goodput $(zoo_bars) -o build/docs
	@for picture in $(pictures); do cp build/docs/$${picture#*=}.svg scenarios/$${picture%=*}.svg; done
	WEIR_RENEW=1 $(call run_check,release,readme)

bench: build/release/bench ## speed and memory, beside a hand-written loop
	build/release/bench
bench-quick: build/release/bench ## only the ratio of speeds, and whether it is what is asked for
	build/release/bench quick

# --- tests: $(call run_check,VARIANT,SUITES), all suites when none is named; under TSan what runs on threads
run_check = WEIR='$(CURDIR)/build/$(1)/weir' WEIR_PLUGINS='$(CURDIR)/build/$(1)/plugins' $(3) build/$(1)/check $(2)

check: build/release/check build/weir ## all tests
	@sh tests/layers.sh build/release
	@$(call run_check,release)

check-deep: check-asan check-tsan check-fuzz check-battery ## under sanitizers, fuzzing, and the statistical battery
check-long: check-fuzz check-battery ## the last two, for longer
check-long: fuzz_length = -max_total_time=$(FUZZ_SECONDS) -timeout=60
check-long: battery_length = long

# Sanitizers, TSan above all, cannot keep their books where a kernel scatters addresses too widely; a container may not
# be allowed to ask for less.
still = $(shell setarch -R true 2>/dev/null && echo setarch -R)

# A change is judged by the same inputs everywhere, whatever the speed of the machine; the long check searches on.
runs_calendar := 5000
runs_csv      := 50000
runs_expr     := 120000
runs_plan     := 40000
runs_yaml     := 100000
fuzz_length    = -seed=1 -runs=$(or $(runs_$*),20000) -timeout=600

.PHONY: check-asan check-tsan check-fuzz check-battery $(fuzzers:%=check-fuzz-%)
check-asan: build/asan/check
	UBSAN_OPTIONS=print_stacktrace=1 WEIR_QUICK=1 $(call run_check,asan,,$(still))
check-tsan: build/tsan/check
	$(call run_check,tsan,experiment,$(still))
	$(still) build/tsan/weir run scenarios/policies.yaml -r 4 -j 4 -o build/tsan/policies.csv >build/tsan/policies.txt
check-fuzz: $(fuzzers:%=check-fuzz-%)
$(fuzzers:%=check-fuzz-%): check-fuzz-%: build/fuzz/fuzz_%
	$(say) FUZZ '$*, $(fuzz_length)'
	@rm -rf build/fuzz/corpus/$* && mkdir -p build/fuzz/corpus/$*
	$(quiet)$(still) $< $(fuzz_length) -artifact_prefix=build/fuzz/$*- \
		build/fuzz/corpus/$* $(wildcard tests/fuzz/corpus/$*) 2>build/fuzz/$*.log || { tail -n 100 build/fuzz/$*.log; exit 1; }
	@tail -n 1 build/fuzz/$*.log
check-battery: build/release/battery
	build/release/battery $(battery_length)

every_c := $(library) sim/cli/main.c $(plugins) $(wildcard tests/*.c tests/*/*.c)
every_h := $(wildcard sim/*/*.h models/*.h policies/*.h tests/*.h tests/*/*.h)
lint: $(call objects,gcc,$(every_c)) $(call objects,clang,$(every_c)) ## warnings of gcc and clang, layers, formatting
	sh tests/layers.sh build/gcc
	@$(CLANG_FORMAT) --dry-run -Werror $(sort $(every_c) $(every_h))

# --- installing
prefix    = $(DESTDIR)$(PREFIX)
headers  := policies/policy.h sim/io/option.h
shared    = $(shell find scenarios plots -type f)
version   = $(shell sed -n 's/.*WEIR_VERSION "\(.*\)"/\1/p' sim/cli/version.h)
installed = bin/weir lib/pkgconfig/weir.pc $(headers:%=include/weir/%) share/weir/skeleton.c $(shared:%=share/weir/%)
pkg_config = 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' 'Name: weir' 'Version: $(version)' \
	'Description: simulator of admission control for LLM agents, headers for policies as plug-ins' \
	'Cflags: -I$${includedir}/weir'

install: build/weir ## into PREFIX (/usr/local), below DESTDIR
	@mkdir -p $(sort $(dir $(installed:%=$(prefix)/%)))
	install -m 755 build/weir $(prefix)/bin/weir
	@printf '%s\n' $(pkg_config) >$(prefix)/lib/pkgconfig/weir.pc
	install -m 644 policies/skeleton.c $(prefix)/share/weir/skeleton.c
	@for file in $(headers); do install -m 644 $$file $(prefix)/include/weir/$$file; done
	@for file in $(shared); do install -m 644 $$file $(prefix)/share/weir/$$file; done

uninstall: ## exactly what install put there
	rm -f $(installed:%=$(prefix)/%)
	@find $(prefix)/share/weir $(prefix)/include/weir -depth -type d -exec rmdir {} + 2>/dev/null || true

clean: ## removes build/
	rm -rf build

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 16
