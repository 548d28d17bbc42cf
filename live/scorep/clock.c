#define _GNU_SOURCE
#include "clock.h"

#include <string.h>
#include <time.h>

enum { FIRST_FIT = 500000, GOOD_FOR = 250000000 /* nanoseconds */ };

static uint64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t read_ticks(int kind)
{
    if (kind == CLOCK_RAW)
        return read_clock(CLOCK_MONOTONIC_RAW);
    if (kind == CLOCK_DAY)
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

uint64_t clock_now(const struct clock *clock)
{
    return read_clock(CLOCK_MONOTONIC) + clock->epoch;
}

/* Reads both clocks at one time: of several tries the one that was interrupted the least. */
static void read_pair(const struct clock *clock, int kind, uint64_t *ticks, uint64_t *nanoseconds)
{
    uint64_t least = UINT64_MAX;
    for (int attempt = 0; attempt < 5; attempt++) {
        uint64_t before = read_ticks(kind), now = clock_now(clock), after = read_ticks(kind);
        if (after - before < least) {
            least = after - before;
            *ticks = before + least / 2;
            *nanoseconds = now;
        }
    }
}

static void publish(struct clock *clock, uint64_t ticks, uint64_t nanoseconds, double rate)
{
    unsigned version = atomic_load_explicit(&clock->version, memory_order_relaxed);
    atomic_store_explicit(&clock->version, version + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&clock->ticks, ticks, memory_order_relaxed);
    atomic_store_explicit(&clock->nanoseconds, nanoseconds, memory_order_relaxed);
    atomic_store_explicit(&clock->rate, rate, memory_order_relaxed);
    atomic_store_explicit(&clock->version, version + 2, memory_order_release);
}

void clock_copy(struct clock *clock, struct clock_line *line)
{
    unsigned version = atomic_load_explicit(&clock->version, memory_order_acquire);
    if (atomic_load_explicit(&clock->kind, memory_order_relaxed) == CLOCK_SYSTEM) {
        *line = (struct clock_line){.rate = 0};
        return;
    }
    uint64_t ticks = atomic_load_explicit(&clock->ticks, memory_order_relaxed);
    uint64_t nanoseconds = atomic_load_explicit(&clock->nanoseconds, memory_order_relaxed);
    double rate = atomic_load_explicit(&clock->rate, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    /* A line that is just being written is left for the next event; the old one serves, or the clock is asked. */
    if (version % 2 == 0 && version == atomic_load_explicit(&clock->version, memory_order_relaxed))
        *line = (struct clock_line){ticks, nanoseconds, rate, (uint64_t)(GOOD_FOR / rate)};
}

void clock_start(struct clock *clock, const char *timer)
{
    clock->epoch = 0;
    clock->epoch = read_clock(CLOCK_REALTIME) - clock_now(clock);
    int kind = CLOCK_SYSTEM;
    if (timer && !strcmp(timer, "clock_gettime"))
        kind = CLOCK_RAW;
    else if (timer && !strcmp(timer, "gettimeofday"))
        kind = CLOCK_DAY;
#if defined __x86_64__ || defined __i386__ || defined __aarch64__
    else if (!timer || !*timer || !strcmp(timer, "tsc"))
        kind = CLOCK_COUNTER;
#endif
    atomic_store(&clock->kind, kind);
    if (kind == CLOCK_SYSTEM)
        return;
    read_pair(clock, kind, &clock->first_ticks, &clock->first_nanoseconds);
    while (kind != CLOCK_DAY && clock_now(clock) - clock->first_nanoseconds < FIRST_FIT)
        ;
    clock_adjust(clock);
}

void clock_adjust(struct clock *clock)
{
    int kind = atomic_load(&clock->kind);
    if (kind == CLOCK_SYSTEM)
        return;
    uint64_t ticks = 0, nanoseconds = 0;
    read_pair(clock, kind, &ticks, &nanoseconds);
    if (kind == CLOCK_DAY)
        publish(clock, ticks, nanoseconds, 1000.0);
    else if (ticks > clock->first_ticks && nanoseconds > clock->first_nanoseconds)
        publish(clock, ticks, nanoseconds,
            (double)(nanoseconds - clock->first_nanoseconds) / (double)(ticks - clock->first_ticks));
}

void clock_check(struct clock *clock, uint64_t stamp)
{
    int kind = atomic_load(&clock->kind);
    if (kind == CLOCK_SYSTEM || atomic_exchange(&clock->checked, 1))
        return;
    uint64_t now = read_ticks(kind);
    /* A process may be held up for long between the two, but not by a minute. */
    if (stamp > now || (double)(now - stamp) * atomic_load(&clock->rate) > 60e9)
        atomic_store(&clock->kind, CLOCK_SYSTEM);
}
