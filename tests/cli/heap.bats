#!/usr/bin/env bats
# The library that counts what a program asks its heap for, alone: against programs of known
# allocation, whose every call is accounted for, and against those that make it hard.

load common

# shellcheck disable=SC2154 # bats sets status, output, lines
setup() {
    setup_folder
    library=$ABBA_BUILD/libabba-heap.so known=$ABBA_BUILD/cost/preload/known
    mkdir records
}

# Runs a program with the library and prints the records of its processes.
counted() { # COMMAND...
    LD_PRELOAD=$library ABBA_HEAP=$PWD/records "$@" >output 2>errors || echo "status $?" >>output
    python3 "$ABBA_SOURCE/tests/cli/heap_records.py" records
}

# What known's rounds ask for: 8 calls, 11 sizes and 64 bytes, 7 frees each.
rounds() { # ROUNDS SIZE
    echo "$(($1 * 8)) $(($1 * (11 * $2 + 64))) $(($1 * 7))"
}

@test "every way to allocate is counted, in all threads, within the window alone" {
    run counted "$known" plain 3 1000 48
    [[ "$output" = "known all "*" window $(rounds 3000 48)" ]]
    [ ! -s errors ]
}

@test "without a window all of a process is counted" {
    run counted "$known" none 1 10 100
    [ "$output" = "known all $(rounds 10 100)" ]
}

@test "windows are counted one by one" {
    run counted "$known" windows 1 10 100
    [ "$output" = "known all $(rounds 63 100) window $(rounds 10 100) window $(rounds 20 100) window $(rounds 30 100)" ]
}

@test "what fails does not count" {
    run counted "$known" refused 2 10 32
    [[ "$output" = *" window $(rounds 20 32)" ]]
}

@test "code that dlopen brought is counted" {
    run counted "$known" plugin 2 100 40 "$ABBA_BUILD/cost/preload/plugin"
    read -r calls bytes frees <<<"$(rounds 200 40)"
    [[ "$output" = *" window $((calls + 100)) $((bytes + 100 * 40)) $((frees + 100))" ]]
}

@test "threads that end within the window, and others in their place" {
    run counted "$known" ends 4 100 40
    [[ "$output" = *" window $(rounds 400 40)" ]]
}

@test "a fork is a process of its own" {
    run counted "$known" fork 2 100 40
    [[ "${lines[0]}" = "known all "*" window $(rounds 200 40)" ]]
    [ "${lines[1]}" = "known all 3 120 3" ]
    [ "${#lines[@]}" = 2 ]
}

@test "a program that closes all descriptors is counted" {
    run counted "$known" close 2 10 16
    [[ "$output" = *" window $(rounds 20 16)" ]]
}

@test "however a process ends in a window, the window stays open and its counts stay" {
    local way
    for way in crash kill exit; do
        rm -f records/*
        run counted "$known" "$way" 2 10 16
        # three rounds of each thread before, ten within
        read -r _ _ calls _ <<<"$output"
        [ "$calls" -ge $((26 * 8)) ]
        [[ "$output" = *" open" && "$output" != *window* ]]
    done
}

@test "a window that is opened or closed twice is told" {
    run counted "$known" twice 1 10 16
    [[ "$output" = *" window $(rounds 10 16) twice" ]]
    rm records/*
    run counted "$known" stray 1 10 16
    [[ "$output" = *" window $(rounds 10 16) stray" ]]
}

@test "libraries allocate before the library's own start" {
    LD_PRELOAD="$library $ABBA_BUILD/cost/preload/plugin" ABBA_HEAP=$PWD/records "$known" none 1 10 100
    run python3 "$ABBA_SOURCE/tests/cli/heap_records.py" records
    read -r calls bytes frees <<<"$(rounds 10 100)"
    [ "$output" = "known all $((calls + 1)) $((bytes + 1000000)) $frees" ]
}

@test "short threads take each other's slots, and none is lost" {
    command -v cc >/dev/null || skip "there is no compiler"
    cat >threads.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static void *work(void *size)
{
    void *volatile p = malloc((size_t)size);
    free(p);
    return NULL;
}
int main(void)
{
    pthread_t t;
    for (long i = 0; i < 10000; i++)
        if (pthread_create(&t, NULL, work, (void *)1000) || pthread_join(t, NULL))
            return 1;
    return 0;
}
END
    cc -fno-builtin -pthread -o threads threads.c
    run counted ./threads
    read -r _ _ calls bytes frees rest <<<"$output"
    # What glibc asks for to make a thread it asks for once: its stack is used again.
    [ "$frees" = 10000 ]
    [ "$calls" -ge 10000 ] && [ "$calls" -le 10010 ]
    [ "$rest" = "" ]
}

@test "more threads at a time, and more windows, than are kept are told" {
    command -v cc >/dev/null || skip "there is no compiler"
    cat >many.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#define THREADS 4200
static pthread_barrier_t all;
static void *work(void *arg)
{
    free(malloc(10));
    pthread_barrier_wait(&all);
    return arg;
}
int main(int argc, char **argv)
{
    static pthread_t threads[THREADS];
    pthread_attr_t small;

    for (int i = 0; argc > 1 && i < 1001; i++) {
        (void)!access("/abba/window/begin", 0);
        free(malloc(10));
        (void)!access("/abba/window/end", 0);
    }
    if (argc > 1)
        return 0;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 16384);
    pthread_barrier_init(&all, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], &small, work, NULL) != 0)
            _exit(77);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    (void)argv;
    return 0;
}
END
    cc -fno-builtin -pthread -o many many.c
    run counted ./many windows
    [[ "$output" = *" window 1 10 1 many" ]]
    [ "$(wc -w <<<"$output")" = $((1 + 4 + 4 * 1000 + 1)) ]
    rm records/*
    run counted ./many
    [[ "$output" != *77* ]] || skip "so many threads cannot be had here"
    [[ "$output" = *" lost" ]]
}

@test "C++: new and delete in all their forms" {
    command -v c++ >/dev/null || skip "there is no C++ compiler"
    cat >new.cc <<'END'
#include <new>
#include <unistd.h>
struct alignas(128) wide { char bytes[128]; };
int main()
{
    access("/abba/window/begin", 0);
    for (int i = 0; i < 100; i++) {
        int *volatile a = new int;
        char *volatile b = new char[1000];
        wide *volatile c = new wide;
        char *volatile d = new (std::nothrow) char[5];
        delete a;
        delete[] b;
        delete c;
        delete[] d;
    }
    access("/abba/window/end", 0);
}
END
    c++ -std=c++17 -O0 -o new new.cc
    run counted ./new
    [[ "$output" = *" window 400 $((100 * (4 + 1000 + 128 + 5))) 400" ]]
}

@test "by hand: a line a window on standard error, and one for the process where that is asked" {
    LD_PRELOAD=$library run "$known" windows 1 10 100
    read -r calls bytes frees <<<"$(rounds 20 100)"
    [ "${lines[1]}" = "heap window=2 calls=$calls bytes=$bytes frees=$frees" ]
    [ "${#lines[@]}" = 3 ]
    LD_PRELOAD=$library ABBA_HEAP=process run "$known" none 1 10 100
    read -r calls bytes frees <<<"$(rounds 10 100)"
    [ "$output" = "heap process calls=$calls bytes=$bytes frees=$frees" ]
}

@test "a folder that is not there costs the record and nothing else" {
    rmdir records
    LD_PRELOAD=$library ABBA_HEAP=$PWD/records run "$known" plain 2 10 16
    expect_status 0
    [ "$output" = "" ]
    [ ! -e records ]
}

@test "a full disk costs the record and nothing else" {
    local own=(unshare --mount)
    [ "$(id -u)" = 0 ] || own=(unshare --map-root-user --mount)
    "${own[@]}" mount -t tmpfs -o size=4k none records 2>/dev/null || skip "nothing can be mounted here"
    # shellcheck disable=SC2016 # the inner shell's
    run "${own[@]}" sh -c 'mount -t tmpfs -o size=4k none records &&
        LD_PRELOAD=$1 ABBA_HEAP=$PWD/records "$2" plain 2 10 16 && ls records' sh "$library" "$known"
    expect_status 0
    [ "$output" = "" ]
}

@test "an allocator that was preloaded besides does the work, and is counted" {
    local other
    other=$(ldconfig -p 2>/dev/null | awk '/libjemalloc\.so/ { print $NF; exit }')
    [ -n "$other" ] || skip "there is no jemalloc"
    LD_PRELOAD="$library $other" ABBA_HEAP=$PWD/records "$known" plain 3 1000 48
    run python3 "$ABBA_SOURCE/tests/cli/heap_records.py" records
    [[ "$output" = *" window $(rounds 3000 48)" ]]
}

@test "a program that is bound to its place is counted like any other" {
    command -v cc >/dev/null || skip "there is no compiler"
    # It takes malloc's address: what others find is its own jump to it.
    cat >fixed.c <<'END'
#include <stdlib.h>
static void *(*volatile take)(size_t) = malloc;
int main(void)
{
    free(take(10));
    return 0;
}
END
    cc -fno-builtin -no-pie -fno-pie -o fixed fixed.c
    run counted ./fixed
    [ "$output" = "fixed all 1 10 1" ]
}

@test "a program that brings its own allocator is told from one that allocates nothing" {
    command -v cc >/dev/null || skip "there is no compiler"
    cat >own.c <<'END'
#include <stddef.h>
#include <unistd.h>
static char room[1 << 20];
static size_t used;
void *malloc(size_t n)
{
    used += (n + 15) / 16 * 16;
    return used <= sizeof room ? room + used - (n + 15) / 16 * 16 : NULL;
}
void free(void *p) { (void)p; }
int main(void) { return malloc(10) == NULL; }
END
    cc -fno-builtin -o own own.c
    run counted ./own
    [[ "$output" = "own all "*" shadowed" ]]
    echo 'int main(void) { return 0; }' >own.c
    cc -fsanitize=address -static-libasan -o own own.c 2>errors || skip "there is no static sanitizer"
    rm -f records/*
    run counted ./own
    [[ "$output" = "own all "*" shadowed" ]]
}
