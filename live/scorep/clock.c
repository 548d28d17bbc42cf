#define _GNU_SOURCE
#include "clock.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>

enum kind { SYSTEM, COUNTER, MONOTONIC_RAW, TIME_OF_DAY };

enum { FIRST_FIT = 500000 /* nanoseconds */ };

_Atomic unsigned clock_version;

static _Atomic int kind;
static uint64_t epoch; /* what CLOCK_MONOTONIC lacks; the clock of the day may jump */
static uint64_t first_ticks, first_nanoseconds;
static _Atomic uint64_t line_ticks, line_nanoseconds;
static _Atomic double line_rate;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t read_ticks(int of)
{
    if (of == MONOTONIC_RAW)
        return read_clock(CLOCK_MONOTONIC_RAW);
    if (of == TIME_OF_DAY)
        return read_clock(CLOCK_REALTIME) / 1000;
#if defined __x86_64__ || defined __i386__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

uint64_t clock_now(void)
{
    return read_clock(CLOCK_MONOTONIC) + epoch;
}

/* Reads both clocks at one time: of several tries the one that was interrupted the least. */
static void read_pair(int of, uint64_t *ticks, uint64_t *nanoseconds)
{
    uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 5; attempt++) {
        uint64_t before = read_ticks(of), now = clock_now(), after = read_ticks(of);
        if (after - before < least) {
            least = after - before;
            *ticks = before + least / 2;
            *nanoseconds = now;
        }
    }
}

static void publish(uint64_t ticks, uint64_t nanoseconds, double rate)
{
    unsigned version = atomic_load_explicit(&clock_version, memory_order_relaxed);
    atomic_store_explicit(&clock_version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&line_ticks, ticks, memory_order_relaxed);
    atomic_store_explicit(&line_nanoseconds, nanoseconds, memory_order_relaxed);
    atomic_store_explicit(&line_rate, rate, memory_order_relaxed);
    atomic_store_explicit(&clock_version, version + 2, memory_order_release);
}

void clock_copy(struct clock_line *line)
{
    if (atomic_load_explicit(&kind, memory_order_relaxed) == SYSTEM) {
        *line = (struct clock_line){.version = atomic_load_explicit(&clock_version, memory_order_relaxed)};
        return;
    }
    unsigned version = atomic_load_explicit(&clock_version, memory_order_acquire);
    uint64_t ticks = atomic_load_explicit(&line_ticks, memory_order_relaxed);
    uint64_t nanoseconds = atomic_load_explicit(&line_nanoseconds, memory_order_relaxed);
    double rate = atomic_load_explicit(&line_rate, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    /* A line that is just being written is left for the next event; the old one serves, or the clock is asked. */
    if (version % 2 || version != atomic_load_explicit(&clock_version, memory_order_relaxed))
        return;
    *line = (struct clock_line){version, ticks, nanoseconds, rate};
}

void clock_start(const char *timer)
{
    epoch = 0;
    epoch = read_clock(CLOCK_REALTIME) - clock_now();
    int of = SYSTEM;
    if (timer && !strcmp(timer, "clock_gettime"))
        of = MONOTONIC_RAW;
    else if (timer && !strcmp(timer, "gettimeofday"))
        of = TIME_OF_DAY;
#if defined __x86_64__ || defined __i386__ || defined __aarch64__
    else if (!timer || !*timer || !strcmp(timer, "tsc"))
        of = COUNTER;
#endif
    atomic_store(&kind, of);
    if (of != SYSTEM) {
        read_pair(of, &first_ticks, &first_nanoseconds);
        while (clock_now() - first_nanoseconds < FIRST_FIT)
            ;
        clock_adjust();
    }
}

void clock_adjust(void)
{
    int of = atomic_load(&kind);
    if (of == SYSTEM)
        return;
    uint64_t ticks = 0, nanoseconds = 0;
    read_pair(of, &ticks, &nanoseconds);
    if (of == TIME_OF_DAY)
        publish(ticks, nanoseconds, 1000.0);
    else if (ticks > first_ticks && nanoseconds > first_nanoseconds)
        publish(ticks, nanoseconds, (double)(nanoseconds - first_nanoseconds) / (double)(ticks - first_ticks));
}

void clock_check(uint64_t stamp)
{
    int of = atomic_load(&kind);
    double rate = atomic_load(&line_rate);
    if (of == SYSTEM)
        return;
    uint64_t now = read_ticks(of);
    /* A process may be held up for long between the two, but not by a minute. */
    if (stamp > now || (double)(now - stamp) * rate > 60e9)
        atomic_store(&kind, SYSTEM);
}
