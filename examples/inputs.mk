# The data of an example. It sets DATA, a folder, and DATA_FILES, the names of the files in it, which may be compressed with gzip
# (NAME.gz), and includes this file. $(OUT)/data/NAME is such a file, not compressed.
ifeq ($(filter clean,$(MAKECMDGOALS)),)
MISSING := $(strip $(foreach name,$(DATA_FILES),$(if $(wildcard $(DATA)/$(name) $(DATA)/$(name).gz),,$(name))))
ifneq ($(MISSING),)
$(error DATA=$(DATA) has no $(firstword $(MISSING)); the first lines of the Makefile say what DATA holds)
endif
endif

$(OUT)/data/%: $(DATA)/%
	mkdir -p $(@D)
	cp $< $@
$(OUT)/data/%: $(DATA)/%.gz
	mkdir -p $(@D)
	gzip -cd $< > $@
