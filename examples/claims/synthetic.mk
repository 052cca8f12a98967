# The claims that need no data.

# cost: time of one block of width 512 in training, full attention (an encoder) and causal (a decoder), for sequences of 128 to 4096
# positions, 4096 tokens in a step. The feed-forward network is what the products of linear layers take more than without it
# (--ffn-width 1); attention is the rest of these products, its projections, and the attention operation, which is scores, softmax and mix.
# Turns are the seeds.
POSITIONS = 128 512 1024 2048 4096
$(RESULTS)/cost.tsv: $(foreach seed,$(SEEDS),$(foreach time,$(POSITIONS),$(OUT)/cost/full-$(time).$(seed).row \
  $(OUT)/cost/causal-$(time).$(seed).row))
	$(call TABLE,attention positions turn ffn_ms attention_ms mixing_ms ffn_gflop attention_gflop)

KIND = $(firstword $(subst -, ,$(VARIANT)))
TIME = $(lastword $(subst -, ,$(VARIANT)))
$(OUT)/cost/full-%.row: ARCH = encoder
$(OUT)/cost/causal-%.row: ARCH = decoder
PROFILE = $(BIN)/pretrain -q --threads 1 --arch $(ARCH) --layers 1 --width 512 --heads 8 --positions sinusoidal --context $(TIME) \
  --train $(OUT)/bits/right.h5 --steps 1 --batch-size 1 --learning-rate 1e-12 --ffn-width $(1) -o $(RUN).$(1).h5 && \
  $(BIN)/inspect profile -q --threads 1 $(RUN).$(1).h5 --batch-size $$((4096 / $(TIME))) --json > $(RUN).$(1).json
# Milliseconds and 1e9 floating-point operations of the operations whose names begin so.
SUMS = def ms(name): [.operations[] | select(.operation | startswith(name)).milliseconds] | add; \
  def gflop(name): [.operations[] | select(.operation | startswith(name)) | .gflops * .milliseconds / 1000] | add;
COST = .[0] as $$all | .[1] as $$without | ["$(KIND)", $(TIME), $(SEED), \
  ($$all | ms("linear")) - ($$without | ms("linear")), ($$without | ms("linear")) + ($$all | ms("attention")), ($$all | ms("attention")), \
  ($$all | gflop("linear")) - ($$without | gflop("linear")), ($$without | gflop("linear")) + ($$all | gflop("attention"))] | @tsv
$(OUT)/cost/%.row: $(OUT)/bits/right.h5
	mkdir -p $(@D)
	rm -f $(RUN).*.h5
	$(call PROFILE,2048)
	$(call PROFILE,1)
	jq -rs '$(SUMS) $(COST)' $(RUN).2048.json $(RUN).1.json > $@

# Feed-forward over attention: by the formula, by the operations that the profile counts, by time (median over turns).
$(RESULTS)/cost.txt: $(RESULTS)/cost.tsv
	awk -F '\t' -v width=512 -f $(HERE)/cost.awk $< > $@
COST_PLOT = set xlabel "positions"; set ylabel "feed-forward / attention"; set logscale xy; set xrange [100:5000]; set yrange [0.2:4]; \
  set xtics (128, 512, 1024, 2048, 4096); set ytics (0.2, 0.5, 1, 2); full(x) = 4 * 512 / (2 * 512 + x); causal(x) = full(x / 2); \
  plot full(x) title "full, 4d / (2d + T)", causal(x) title "causal, 4d / (2d + T/2)", \
  "< grep ^full $<" using 2:5 title "full, time" pointtype 7, "< grep ^causal $<" using 2:5 title "causal, time" pointtype 5, \
  1 notitle dashtype 2
$(RESULTS)/cost.svg: $(RESULTS)/cost.txt
	$(PLOT) -e '$(COST_PLOT)'

# bidirectional: triples a, c, b of which c = a XOR b is written x or y. An encoder fills in one masked c of ten triples; a decoder
# that reads from the left predicts it from what is before, one that reads from the right from what follows.
$(OUT)/bits/right.txt $(OUT)/bits/left.txt &:
	mkdir -p $(@D)
	awk 'BEGIN { srand(1); for (i = 0; i < 40000; ++i) { a = int(2 * rand()); b = int(2 * rand()); \
	  printf "%d%s%d", a, a == b ? "x" : "y", b } print "" }' > $(OUT)/bits/right.txt
	rev $(OUT)/bits/right.txt > $(OUT)/bits/left.txt
$(OUT)/bits/symbols.h5: $(OUT)/bits/right.txt
	$(BIN)/tokenize -q --train --model char --no-byte-fallback --end-of-text none --special-tokens '[PAD],[CLS],[SEP],[MASK]' -o $@ $<
$(OUT)/bits/right.h5 $(OUT)/bits/left.h5: %.h5: %.txt $(OUT)/bits/symbols.h5
	$(BIN)/tokenize -q -t $(OUT)/bits/symbols.h5 -o $@ $<

# 1000 texts of ten triples, one answer each: what the encoder fills in (both), what the decoders continue.
$(OUT)/bits/test.both $(OUT)/bits/test.from-left $(OUT)/bits/test.from-right $(OUT)/bits/answers &:
	mkdir -p $(@D)
	awk -v out=$(OUT)/bits/ 'BEGIN { srand(2); for (i = 0; i < 1000; ++i) { text = ""; \
	  for (j = 0; j < 10; ++j) { a = int(2 * rand()); b = int(2 * rand()); text = text a (a == b ? "x" : "y") b } \
	  at = 3 * (i % 10) + 2; before = substr(text, 1, at - 1); after = substr(text, at + 1); reversed = ""; \
	  for (j = length(after); j > 0; --j) reversed = reversed substr(after, j, 1); \
	  print before "[MASK]" after > (out "test.both"); print before > (out "test.from-left"); \
	  print reversed > (out "test.from-right"); print at, length(reversed) + 1, substr(text, at, 1) > (out "answers") } }'

BITS = --layers 2 --width 64 --heads 4 --positions rope --context 32 --batch-size 32 --steps 2000 --learning-rate 2e-3 \
  --optimizer adamw --schedule cosine
$(OUT)/bidirectional/%.row: SHAPE = --arch decoder
$(OUT)/bidirectional/%.row: ANSWER = --max-tokens 1 --temperature 0
$(OUT)/bidirectional/%.row: READS = right
$(OUT)/bidirectional/%.row: COLUMN = 1
$(OUT)/bidirectional/both.%.row: SHAPE = --arch encoder:norm=layer,gated=false,activation=gelu-tanh
$(OUT)/bidirectional/both.%.row: ANSWER = --top 1
$(OUT)/bidirectional/from-right.%.row: READS = left
$(OUT)/bidirectional/from-right.%.row: COLUMN = 2
$(OUT)/bidirectional/%.row: $(OUT)/bits/right.h5 $(OUT)/bits/left.h5 $(OUT)/bits/answers
	mkdir -p $(@D)
	rm -f $(RUN).h5
	$(call TIMED,$(BIN)/pretrain -q --threads 1 --train $(OUT)/bits/$(READS).h5 -o $(RUN).h5 --seed $(SEED) $(BITS) $(SHAPE))
	$(BIN)/generate -q --threads 1 $(RUN).h5 $(ANSWER) $(OUT)/bits/test.$(VARIANT) | paste -d ' ' $(OUT)/bits/answers - | \
	  awk -v column=$(COLUMN) '{ right += substr($$4, $$column, 1) == $$3 } END { printf "%s", right / NR }' > $(RUN).accuracy
	printf '$(VARIANT)\t$(SEED)\t%s\t%s\n' $$(cat $(RUN).accuracy) $(CPU_SECONDS) > $@
$(RESULTS)/bidirectional.tsv: $(call runs,bidirectional,both from-left from-right)
	$(call TABLE,variant seed accuracy seconds)

# copying: random letters, each labelled with the one that follows ("end" after the last). An encoder reads the answer; the same
# blocks with causal attention (a decoder) cannot. 7200 of 8000 lines are read, each once, so that the loss of training is
# that of new text.
LINES = awk -v seed=$(1) -v lines=$(2) 'BEGIN { srand(seed); for (i = 0; i < lines; ++i) { letter = ""; \
  for (t = 0; t <= 32; ++t) { next_letter = t < 32 ? substr("abcdefgh", 1 + int(8 * rand()), 1) : "end"; \
  if (t > 0) print letter "\t" next_letter; letter = next_letter } print "" } }'
$(OUT)/letters/train.conll $(OUT)/letters/test.conll &:
	mkdir -p $(@D)
	$(call LINES,1,8000) > $(OUT)/letters/train.conll
	$(call LINES,2,200) > $(OUT)/letters/test.conll
$(OUT)/letters/train.txt: $(OUT)/letters/train.conll
	awk 'NF { printf "%s ", $$1; next } { print "" }' $< > $@
$(OUT)/letters/train.h5: $(OUT)/letters/train.txt
	$(BIN)/tokenize -q --train --model word --special-tokens '[PAD],[CLS],[SEP],[MASK]' -o $(OUT)/letters/words.h5 $<
	$(BIN)/tokenize -q -t $(OUT)/letters/words.h5 -o $@ $<

# The model before fine-tuning has learned nothing: one step at a learning rate of almost 0.
COPYING = ["$(VARIANT)", $(SEED), (map(select(.loss and .step > 500).loss) | add / length), \
  (map(select(.valid_accuracy).valid_accuracy) | last)] | @tsv
$(OUT)/copying/%.row: $(OUT)/letters/train.h5 $(OUT)/letters/test.conll
	mkdir -p $(@D)
	rm -f $(RUN).h5 $(RUN).random.h5 $(RUN).jsonl
	$(BIN)/pretrain -q --threads 1 --arch $(VARIANT) --layers 2 --width 64 --heads 4 --context 40 --train $< --seed $(SEED) --steps 1 \
	  --learning-rate 1e-12 -o $(RUN).random.h5
	$(call TIMED,$(BIN)/finetune -q --threads 1 --task label --from $(RUN).random.h5 --train $(OUT)/letters/train.conll \
	  --valid $(OUT)/letters/test.conll --select last --seed $(SEED) --steps 600 --batch-size 12 --learning-rate 2e-3 \
	  --eval-every 100000 -o $(RUN).h5 --log $(RUN).jsonl)
	jq -rs '$(COPYING)' $(RUN).jsonl > $@
$(RESULTS)/copying.tsv: $(call runs,copying,encoder decoder)
	$(call TABLE,variant seed loss accuracy)

$(RESULTS)/bidirectional.txt: $(RESULTS)/bidirectional.tsv
	$(call SUMMARY,accuracy) $< > $@
$(RESULTS)/copying.txt: $(RESULTS)/copying.tsv
	{ $(call SUMMARY,loss) $<; echo; $(call SUMMARY,accuracy) $<; } > $@
$(RESULTS)/bidirectional.svg: $(RESULTS)/bidirectional.tsv
	$(call PLOT_RANGES,accuracy,accuracy)
$(RESULTS)/copying.svg: $(RESULTS)/copying.tsv
	$(call PLOT_RANGES,loss,nats per letter)

# kernels and convolution: programs that print tables; their first lines say what they compute.
$(RESULTS)/kernels.tsv:
	mkdir -p $(@D)
	$(BIN)/benchmark_kernel_regression --threads 1 --seeds $(words $(SEEDS)) > $@
$(RESULTS)/convolution.tsv:
	mkdir -p $(@D)
	$(BIN)/benchmark_convolution --threads 1 --seeds $(words $(SEEDS)) > $@

# The mean over seeds for each number, then the exponent p of error ~ N^p.
$(RESULTS)/kernels.txt: $(RESULTS)/kernels.tsv
	awk -f $(HERE)/kernels.awk $< > $@
KERNELS_PLOT = set xlabel "observations"; set ylabel "mean squared error"; set logscale xy; set format "10^{%T}"; \
  set key outside; plot for [name in "gaussian fourier dot-circle dot-line density"] \
  sprintf("< grep -E \"^%s +[0-9]\" $<", name) using 2:3 title name with linespoints
$(RESULTS)/kernels.svg: $(RESULTS)/kernels.txt
	$(PLOT) -e '$(KERNELS_PLOT)'
$(RESULTS)/convolution.txt: $(RESULTS)/convolution.tsv
	awk 'NR == 1 { print "height", "largest difference", "weight of other keys"; next } \
	  !($$2 in most) { heights[++n] = $$2 } { if ($$3 > most[$$2]) most[$$2] = $$3; weight[$$2] = $$4 } \
	  END { for (i = 1; i <= n; ++i) print heights[i], most[heights[i]], weight[heights[i]] }' $< > $@
CONVOLUTION_PLOT = set xlabel "score at the offset"; set ylabel "largest difference"; set logscale xy; set format y "10^{%T}"; \
  unset key; plot "$<" every ::1 using 1:2 with linespoints pointtype 7
$(RESULTS)/convolution.svg: $(RESULTS)/convolution.txt
	$(PLOT) -e '$(CONVOLUTION_PLOT)'
