/* Nanoseconds since the epoch of Score-P's time stamps, without a call of the clock for each.
 *
 * A time stamp is read off a line that is fitted several times a second to pairs of Score-P's clock and the system's,
 * both read by us. Where Score-P's clock is one that cannot be read here, the system's clock is asked at each event. */
#ifndef IOSTRATA_CLOCK_H
#define IOSTRATA_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

/* A thread's copy of the line. */
struct clock_line {
    unsigned version;
    uint64_t ticks, nanoseconds;
    double rate; /* nanoseconds a tick, 0 where the clock is asked */
};

extern _Atomic unsigned clock_version; /* odd while the line is being written */

/* Takes the name in SCOREP_TIMER, NULL for its default; for a few hundred microseconds where a rate is to be measured. */
void clock_start(const char *timer);

/* Fits the line anew; from one thread only. */
void clock_adjust(void);

/* Looks whether a time stamp that was taken just now is of the clock that we think it is; else the clock is asked. */
void clock_check(uint64_t stamp);

uint64_t clock_now(void);

void clock_copy(struct clock_line *line);

static inline uint64_t clock_time(struct clock_line *line, uint64_t stamp)
{
    if (line->version != atomic_load_explicit(&clock_version, memory_order_relaxed))
        clock_copy(line);
    if (line->rate == 0)
        return clock_now();
    return line->nanoseconds + (uint64_t)(int64_t)((double)(int64_t)(stamp - line->ticks) * line->rate);
}

#endif
