# SPDX-License-Identifier: GPL-2.0
#
# The front door of rdmamig: "make help" lists what there is.

VERSION := 0.1.0

# All that is built lands here; the source tree stays as it was.
BUILD ?= $(CURDIR)/build
override BUILD := $(abspath $(BUILD))

# The kernel to build for: KDIR is a kernel's build folder. KERNEL is a release
# that is installed, or for the tests whatever selftests/vm/run --kernel takes,
# or one of FETCHED_KERNELS: those come from newer releases of Debian, into a folder
# of the cache that also has the compiler for them.
# Default: the newest that the test VM can boot, else the newest headers.
KERNEL ?=
FETCHED_KERNELS := 6.12 7
CACHE := $(or $(RDMAMIG_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/rdmamig)
ifneq ($(filter $(FETCHED_KERNELS),$(KERNEL)),)
VM_KERNEL := $(CACHE)/kernels/$(KERNEL)
INSIDE := selftests/vm/inside $(VM_KERNEL)
# It sets KDIR; make begins anew when it has come.
include $(VM_KERNEL)/kernel.mk
$(VM_KERNEL)/kernel.mk:
	@selftests/vm/fetch-kernel $(KERNEL) >/dev/null
else ifneq ($(KERNEL),)
KDIR ?= $(wildcard /lib/modules/$(KERNEL)/build)
else
KDIR ?= $(shell packaging/newest-kernel)
endif
RELEASE := $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h 2>/dev/null)
MODULE_BUILD := $(BUILD)/$(RELEASE)
MODULE := $(MODULE_BUILD)/rdmamig.ko

PREFIX ?= /usr/local
MODULES := $(DESTDIR)/lib/modules/$(RELEASE)

# A pattern that picks tests, and seconds that all of them may take in the VM.
TESTS ?=
TIMEOUT ?= 2400
VM := selftests/vm/run --kernel "$(or $(VM_KERNEL),$(KERNEL),$(RELEASE))"
SUBMAKE := +@$(MAKE) --no-print-directory

export BUILD TESTS BENCH_SIZE BENCH_RUNS

.PHONY: all
all: module tools

## module: rdmamig.ko, for KERNEL=release, 6.12 or 7, or KDIR=folder (default: the newest)
# Kernels before 6.13 build only where the sources are: build in a mirror.
.PHONY: module
module:
	@test -n "$(RELEASE)" || { echo 'no kernel headers: apt-get install linux-headers-RELEASE, or give KDIR=' >&2; exit 1; }
	@mkdir -p $(MODULE_BUILD)
	@cp -rs --remove-destination $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/include $(MODULE_BUILD)/
	@find $(MODULE_BUILD) -xtype l -delete
	+$(INSIDE) $(MAKE) -C $(KDIR:$(VM_KERNEL)%=%) M=$(MODULE_BUILD) modules

## tools: rdmamigctl and the programs of the tests
.PHONY: tools
tools:
	$(SUBMAKE) -C tools BUILD=$(BUILD)
	$(SUBMAKE) -C selftests/tools BUILD=$(BUILD)

## deps: install what building and "make check" need (apt; as root or with sudo)
.PHONY: deps
deps:
	@packaging/deps

## unit: test the parts that need no kernel, in seconds, without root
.PHONY: unit
unit:
	$(SUBMAKE) -C selftests/unit BUILD=$(BUILD)

# The goals below install packages first, which may bring the kernel that the
# variables above look for: so they start make anew.
.PHONY: ready
ready:
	$(SUBMAKE) deps
	$(SUBMAKE) module tools

## lint: what compilers and other readers of the sources have to say
.PHONY: lint lint-ready
lint:
	@packaging/deps lint
	$(SUBMAKE) lint-ready
lint-ready:
	+@MAKE="$(MAKE)" KDIR="$(KDIR)" selftests/lint/run

## check: every test, in a VM; TESTS='pattern' picks some, KERNEL= a kernel
.PHONY: check check-ready
check: ready
	$(SUBMAKE) check-ready
check-ready:
	+@TIMEOUT="$(TIMEOUT)" MAKE="$(MAKE)" selftests/vm/check $(VM)

## check-kernels: the same with the installed kernel and with 6.12 and 7
.PHONY: check-kernels
check-kernels:
	+@MAKE="$(MAKE)" selftests/vm/check-kernels "" $(FETCHED_KERNELS)

## demo: a QEMU guest and a live process migrate, in a VM
.PHONY: demo demo-ready
demo: ready
	$(SUBMAKE) demo-ready
demo-ready:
	@$(VM) --timeout $(TIMEOUT) -- selftests/demo

## bench: measure rdmamig beside stock QEMU, in a VM; BENCH_SIZE=256M, BENCH_RUNS=5
.PHONY: bench bench-ready
bench: ready
	$(SUBMAKE) bench-ready
bench-ready:
	@mkdir -p $(BUILD)/vm/share
	@rm -f $(BUILD)/vm/share/bench.json
	@$(VM) --timeout 3600 --env BENCH_SIZE --env BENCH_RUNS -- selftests/bench
	@cp $(BUILD)/vm/share/bench.json $(BUILD)/bench.json

## install: module (without debug data), rdmamigctl, man page, completion
.PHONY: install install-module install-tools
install: install-module install-tools
install-module: module
	install -D -m 644 $(MODULE) $(MODULES)/updates/rdmamig.ko
	strip --strip-debug $(MODULES)/updates/rdmamig.ko
	$(if $(DESTDIR),,depmod -a $(RELEASE))
install-tools: tools
	$(SUBMAKE) -C tools BUILD=$(BUILD) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) install

## dkms-install: the module by DKMS, so that it is rebuilt for each new kernel
DKMS_SOURCE = $(DESTDIR)/usr/src/rdmamig-$(VERSION)
.PHONY: dkms-install
dkms-install: install-tools
	rm -rf $(DKMS_SOURCE)
	mkdir -p $(DKMS_SOURCE)
	cp -r Kbuild kmod include COPYING LICENSES $(DKMS_SOURCE)/
	sed 's/@VERSION@/$(VERSION)/' packaging/dkms.conf >$(DKMS_SOURCE)/dkms.conf
	$(if $(DESTDIR),,dkms install --force rdmamig/$(VERSION) -k $(RELEASE))

## clean: remove build/
.PHONY: clean
clean:
	rm -rf $(BUILD)

## help: this list
.PHONY: help
help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS='	' read -r goal text; do printf '  %-14s %s\n' "$$goal" "$$text"; done
