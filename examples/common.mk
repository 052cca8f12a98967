# The common part of the fine-tuning examples: paths of the tools, the encoder they start from, one run per seed, a table.
#
# An example sets FORMAT (the ending of $(OUT)/train.$(FORMAT), dev and test, for which it has rules), METRIC (the metric
# that decides which model is best, also that of the table), LEARN (options of finetune), DATA and DATA_FILES (see inputs.mk)
# and optionally READ (options of classify), and includes this file first.
#
# ENCODER is the model to start from. Without one, examples/encoder trains an encoder on TEXT (English, some megabytes, one
# or several files), which takes a while; all examples can use the same one. The fine-tuning of one seed takes one to
# seven minutes on one core (answers: 13). Of a run, tuned.SEED.h5 appears when it is finished; the same command resumes one
# that was stopped.
EXAMPLES := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BIN ?= $(EXAMPLES)/../build/release/bin
OUT ?= build
TEXT ?= text.txt
ENCODER ?= $(OUT)/encoder.h5
SEEDS ?= 1 2 3
# f32 works on every processor; auto selects the faster one.
PRECISION ?= auto
# The file that decides which model is best.
DEV ?= $(OUT)/dev.$(FORMAT)

include $(EXAMPLES)/inputs.mk

ifeq ($(filter clean,$(MAKECMDGOALS))$(wildcard $(ENCODER)),)
ifneq ($(ENCODER),$(OUT)/encoder.h5)
$(error ENCODER=$(ENCODER) is not there)
else ifeq ($(wildcard $(TEXT)),)
$(error TEXT=$(TEXT) is not there; give TEXT=FILE, English text, or ENCODER=MODEL, a model that was trained on some)
endif
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: table clean

table: $(foreach seed,$(SEEDS),$(OUT)/test.$(seed).txt) $(OUT)/history.svg
	@awk -v metric=$(METRIC) -v of=seed -f $(EXAMPLES)/mean.awk $(filter %.txt,$^)
	@echo 'Everything measured is in $(OUT)/test.*.txt; the loss curve of the first run is $(OUT)/history.svg'

$(OUT)/history.svg: $(OUT)/tuned.$(firstword $(SEEDS)).h5
	$(BIN)/inspect history -q $< -o $@

$(OUT)/test.%.txt: $(OUT)/tuned.%.h5 $(OUT)/test.$(FORMAT)
	$(BIN)/classify $< $(OUT)/test.$(FORMAT) --evaluate --metric $(METRIC) $(READ) > $@

$(OUT)/tuned.%.h5: $(ENCODER) $(OUT)/train.$(FORMAT) $(DEV)
	$(BIN)/finetune --from $< --train $(OUT)/train.$(FORMAT) $(DEV:%=--valid %) -o $@ --seed $* --metric $(METRIC) \
	  --precision $(PRECISION) $(LEARN)

$(OUT)/encoder.h5:
	$(MAKE) -f $(EXAMPLES)/encoder/Makefile OUT=$(OUT) TEXT='$(TEXT)' BIN=$(BIN) PRECISION=$(PRECISION) $@

clean:
	rm -rf $(OUT)
