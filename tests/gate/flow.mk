# The flow protocol as a repository of its own: a library, and its program.
CFLAGS ?= -O2
LIBRARY := $(filter-out build/flow/main.o,$(patsubst %.c,build/%.o,$(wildcard flow/*.c common/*.c)))

build/program: build/flow/main.o build/libflow.a
	$(CC) $(LDFLAGS) -o $@ $^ -lm

build/libflow.a: $(LIBRARY)
	rm -f $@ && $(AR) rcs $@ $(LIBRARY)

build/%.o: %.c $(wildcard flow/*.h common/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) -c -o $@ $<
