# What the examples of fine-tuning share: where the tools are, the encoder they start from, a run a seed, a table.
#
# An example sets FORMAT (the ending of $(OUT)/train.$(FORMAT), dev and test, which it knows how to make), METRIC (the
# figure that decides which model is best, and the one of the table), LEARN (options of finetune) and perhaps READ
# (options of classify), and includes this file first.
#
# ENCODER is the model to start from. Without one, an encoder of TEXT (English, some megabytes; several files may be
# named) is trained by examples/encoder, which takes a while; examples that share it need it once only.
EXAMPLES := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BIN ?= $(EXAMPLES)/../build/release/bin
OUT ?= build
TEXT ?= text.txt
ENCODER ?= $(OUT)/encoder.h5
SEEDS ?= 1 2 3
# f32 is always there; auto takes what is faster.
PRECISION ?= auto
# The file that tells which model is best.
DEV ?= $(OUT)/dev.$(FORMAT)

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: table clean

table: $(foreach seed,$(SEEDS),$(OUT)/test.$(seed).txt) $(OUT)/history.svg
	@awk -v metric=$(METRIC) -v of=seed -f $(EXAMPLES)/mean.awk $(filter %.txt,$^)
	@echo 'Everything measured is in $(OUT)/test.*.txt, the course of the first training in $(OUT)/history.svg'

$(OUT)/history.svg: $(OUT)/tuned.$(firstword $(SEEDS)).h5
	$(BIN)/inspect -q $< --history -o $@

$(OUT)/test.%.txt: $(OUT)/tuned.%.h5 $(OUT)/test.$(FORMAT)
	$(BIN)/classify $(OUT)/tuned.$*.best.h5 $(OUT)/test.$(FORMAT) --evaluate --metric $(METRIC) $(READ) > $@

$(OUT)/tuned.%.h5: $(ENCODER) $(OUT)/train.$(FORMAT) $(DEV)
	$(BIN)/finetune --from $< --train $(OUT)/train.$(FORMAT) $(DEV:%=--valid %) -o $@ --seed $* --metric $(METRIC) \
	  --precision $(PRECISION) $(LEARN)

$(OUT)/encoder.h5:
	$(MAKE) -f $(EXAMPLES)/encoder/Makefile OUT=$(OUT) TEXT='$(TEXT)' BIN=$(BIN) PRECISION=$(PRECISION) $@

clean:
	rm -rf $(OUT)
