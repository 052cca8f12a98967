# What shapes of decoders reach with how many tokens: a run for each of SHAPES and STEPS, and the law that fits them best.
#
#     make -f law.mk TEXT=novel.txt                      characters
#     make -f law.mk TEXT=novel.txt CUT=4096             a BPE vocabulary of 4,096 pieces
#     make -f law.mk clean
#
# TEXT is a file of a megabyte or more, whose last tenth validates. A shape is layers, width and heads with an x between; a step has 8
# windows of 128 tokens. Writes $(OUT)/table.tsv (shape, parameters of the layers, tokens, tokens of a pass, validation loss) and prints
# the law (law.awk). All other settings are the defaults of pretrain. With the defaults here the runs take an hour on one core.
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
BIN ?= $(abspath $(HERE)../../build/release/bin)
TEXT ?= novel.txt
CUT ?= char
SHAPES ?= 2x64x2 4x128x4 4x192x4 6x256x4
STEPS ?= 500 2000
THREADS ?= 1
PRECISION ?= auto
OUT ?= build

ifeq ($(filter clean,$(MAKECMDGOALS))$(wildcard $(TEXT)),)
$(error TEXT=$(TEXT) is not there; give TEXT=FILE)
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: law clean

law: $(OUT)/table.tsv
	@awk -f $(HERE)law.awk $<

# Of OUT/SHAPE.STEPS.row
shape = $(basename $(basename $(@F)))
steps = $(subst .,,$(suffix $(basename $(@F))))
size = $(word $(1),$(subst x, ,$(shape)))
$(OUT)/table.tsv: $(foreach shape,$(SHAPES),$(STEPS:%=$(OUT)/$(shape).%.row))
	cat $^ > $@

$(OUT)/%.row: $(OUT)/tokens.h5
	$(BIN)/pretrain -q --train $< --valid 10% --layers $(call size,1) --width $(call size,2) --heads $(call size,3) --batch-size 8 \
	  --sequence-length 128 --steps $(steps) --eval-every $(steps) --eval-tokens 65536 --seed 1 --threads $(THREADS) \
	  --precision $(PRECISION) --log $(@:.row=.jsonl) -o $(@:.row=.h5)
	{ $(BIN)/inspect show --json $< | jq .tokens; \
	  $(BIN)/inspect show --json $(@:.row=.h5) | jq '.parameters, .config.vocab_size, .config.width'; \
	  jq -s 'last(.[].valid_loss | values)' $(@:.row=.jsonl); } | \
	  paste -s | awk -v OFS='\t' '{ print "$(shape)", $$2 - $$3 * $$4, $(steps) * 1024, $$1 * 0.9, $$5 }' > $@

$(OUT)/tokens.h5: $(OUT)/tokenizer.h5
	$(BIN)/tokenize -q -t $< -o $@ $(TEXT)

$(OUT)/tokenizer.h5: $(TEXT)
	mkdir -p $(OUT)
	$(BIN)/tokenize -q --train $(if $(filter char,$(CUT)),--model char,--vocab-size $(CUT)) -o $@ $<

clean:
	rm -rf $(OUT)
