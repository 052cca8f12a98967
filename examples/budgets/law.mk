# What shapes of an architecture reach with how many tokens: a run for each of SHAPES and STEPS, and the law that fits them best.
#
#     make -f law.mk TEXT=novel.txt                                    decoders, characters
#     make -f law.mk TEXT=novel.txt CUT=4096                           a BPE vocabulary of 4,096 pieces
#     make -f law.mk TEXT=novel.txt ARCH=lstm SHAPES='1x128 2x128 2x256'
#     make -f law.mk TEXT=novels.txt ARCH=encoder CUT=wordpiece SHAPES='2x128x2 4x256x4' WINDOW=64 BATCH=12
#     make -f law.mk TEXT=pairs.tsv ARCH=encoder-decoder CUT=4096 SHAPES='2x128x2 3x256x4' WINDOW= BATCH=32
#     make -f law.mk clean
#
# TEXT is a file of a megabyte or more, whose last tenth validates, or pairs as SOURCE, tab, TARGET, of which a tenth does. A shape is layers,
# width and, where the architecture has them, heads, with an x between; a step has BATCH windows of WINDOW tokens, or pairs. Writes
# $(OUT)/table.tsv (shape, parameters of the layers, tokens, tokens of a pass, validation loss in nats per byte, of pairs per token) and prints the law
# (law.awk). All other settings are the defaults of pretrain. With the defaults here the runs take an hour on one core.
HERE := $(dir $(lastword $(MAKEFILE_LIST)))
BIN ?= $(abspath $(HERE)../../build/release/bin)
TEXT ?= novel.txt
CUT ?= char
ARCH ?= decoder
SHAPES ?= 2x64x2 4x128x4 4x192x4 6x256x4
STEPS ?= 500 2000
BATCH ?= 8
WINDOW ?= 128
THREADS ?= 1
PRECISION ?= auto
OUT ?= build
, := ,

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

pairs = $(filter %.tsv,$(TEXT))
SIZES = --layers $(call size,1) --width $(call size,2) $(if $(call size,3),--heads $(call size,3))
$(OUT)/%.row: $(OUT)/tokens.h5
	$(BIN)/pretrain -q --arch $(ARCH) --train $< --valid 10% $(SIZES) --batch-size $(BATCH) $(if $(WINDOW),--sequence-length $(WINDOW)) \
	  --steps $(steps) --eval-every $(steps) --eval-tokens 65536 --seed 1 --threads $(THREADS) --precision $(PRECISION) \
	  --log $(@:.row=.jsonl) -o $(@:.row=.h5)
	{ $(BIN)/inspect show --json $< | jq '$(if $(pairs),.pairs,.tokens)'; \
	  $(BIN)/inspect show --json $(@:.row=.h5) | jq '.parameters, .config.vocab_size, .config.width'; \
	  jq -s 'last(.[].valid_loss | values), last(.[].tokens | values)' $(@:.row=.jsonl); wc -c < $(TEXT); } | \
	  paste -s | awk -v OFS='\t' '{ print "$(shape)", $$2 - $$3 * $$4, $$6, \
	    $(if $(pairs),$$6 / ($(steps) * $(BATCH)) * $$1 * 0.9$(,) $$5,$$1 * 0.9$(,) $$5 * $$1 / $$7) }' > $@

cut = $(if $(filter char wordpiece,$(CUT)),--model $(CUT),--vocab-size $(CUT))
$(OUT)/tokens.h5: $(OUT)/tokenizer.h5
	$(BIN)/tokenize -q -t $< $(if $(pairs),--pairs) -o $@ $(TEXT)

$(OUT)/tokenizer.h5: $(TEXT)
	mkdir -p $(OUT)
	$(BIN)/tokenize -q --train $(cut) -o $@ $<

clean:
	rm -rf $(OUT)
