# The common part of the examples of worked steps: one model learns prompts with answers alone, and with the steps to
# them, in as many steps of training; how many of its answers are right.
#
# An example sets PROBLEMS (a script that writes `count` problems of `kind` text, plain, steps, prompts or answers from
# `seed`), TESTS (names of test sets; TEST.NAME are options of the script), CONTEXT, MAX (tokens of a response) and LEARN
# (options of finetune), and includes this file first.
EXAMPLES := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
BIN ?= $(EXAMPLES)/../build/release/bin
OUT ?= build
SEEDS ?= 1 2
KINDS ?= plain steps
TRAINED ?= 20000
TESTED ?= 500
SHAPE ?= --layers 2 --width 128 --heads 4
PRECISION ?= auto
MARK.steps = --answer-after ':'

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: table clean

RESULTS = $(foreach kind,$(KINDS),$(foreach seed,$(SEEDS),$(foreach test,$(TESTS),$(OUT)/$(kind).$(seed).$(test).txt)))
table: $(RESULTS)
	@for result in $(^:$(OUT)/%.txt=%); do sed -n "1s/^/$$result  /p" $(OUT)/$$result.txt; done

# result: kind, seed, test
define result
$(OUT)/$(1).$(2).$(3).txt: $(OUT)/$(1).$(2).h5 $(OUT)/$(3).prompts $(OUT)/$(3).answers
	$(BIN)/generate -q $$< $(OUT)/$(3).prompts --evaluate $(OUT)/$(3).answers $(MARK.$(1)) --max-tokens $(MAX) \
	  --batch-size 100 > $$@
endef
# tuned: kind, seed
define tuned
$(OUT)/$(1).$(2).h5: $(OUT)/base.$(2).h5 $(OUT)/train.$(1).jsonl $(OUT)/valid.$(1).jsonl
	$(BIN)/finetune -q --from $$< --task lm --train $(OUT)/train.$(1).jsonl --valid $(OUT)/valid.$(1).jsonl \
	  --objective respond:mark=: --seed $(2) --precision $(PRECISION) $(LEARN) -o $$@
endef
problems = mkdir -p $(OUT) && awk -v seed=$(1) -v count=$(2) -v kind=$(3) $(4) -f $(PROBLEMS) > $@

$(foreach kind,$(KINDS),$(foreach seed,$(SEEDS),$(eval $(call tuned,$(kind),$(seed)))))
$(foreach kind,$(KINDS),$(foreach seed,$(SEEDS),$(foreach test,$(TESTS),$(eval $(call result,$(kind),$(seed),$(test))))))

# Pre-training on prompts alone: the characters, and how long numbers are.
$(OUT)/base.%.h5: $(OUT)/text.txt
	$(BIN)/tokenize -q --train --model char -o $(@:.h5=.tokenizer.h5) $<
	$(BIN)/pretrain -q --train $< -t $(@:.h5=.tokenizer.h5) --documents line $(SHAPE) --context $(CONTEXT) \
	  --batch-size 16 --steps 200 --seed $* --precision $(PRECISION) -o $@

$(OUT)/text.txt:
	$(call problems,11,5000,text,)
$(OUT)/train.%.jsonl:
	$(call problems,12,$(TRAINED),$*,)
$(OUT)/valid.%.jsonl:
	$(call problems,13,200,$*,)
$(OUT)/%.prompts:
	$(call problems,14,$(TESTED),prompts,$(TEST.$*))
$(OUT)/%.answers:
	$(call problems,14,$(TESTED),answers,$(TEST.$*))

clean:
	rm -rf $(OUT)
