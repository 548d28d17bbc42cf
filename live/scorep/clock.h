/* Nanoseconds since the epoch of Score-P's time stamps, without a call of the clock for each.
 *
 * A time stamp is read off a line that is fitted several times a second to pairs of Score-P's clock and the system's,
 * both read by us. Where Score-P's clock is one that cannot be read here, the system's clock is asked at each event. */
#ifndef IOSTRATA_CLOCK_H
#define IOSTRATA_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

enum clock_kind { CLOCK_SYSTEM, CLOCK_COUNTER, CLOCK_RAW, CLOCK_DAY };

/* In memory that processes may share: one adjusts it, the others read it. */
struct clock {
    _Atomic int kind, checked;
    _Atomic unsigned version; /* odd while the line is being written */
    _Atomic uint64_t ticks, nanoseconds;
    _Atomic double rate;
    uint64_t epoch; /* what the monotonic clock lacks; the clock of the day may jump */
    uint64_t first_ticks, first_nanoseconds;
};

/* A thread's copy of the line, good for a while. */
struct clock_line {
    uint64_t ticks, nanoseconds;
    double rate; /* nanoseconds a tick, 0 where the system's clock is asked */
    uint64_t good_for; /* ticks */
};

/* Takes what is in SCOREP_TIMER, NULL for its default; lasts half a millisecond where a rate is to be measured. */
void clock_start(struct clock *clock, const char *timer);

/* Fits the line anew; from one thread only. */
void clock_adjust(struct clock *clock);

/* Looks, the first time, whether a time stamp that was taken just now is of the clock that we think it is; else the
 * system's is asked. */
void clock_check(struct clock *clock, uint64_t stamp);

uint64_t clock_now(const struct clock *clock);

void clock_copy(struct clock *clock, struct clock_line *line);

/* Returns what to keep of an event's time stamp until its time is needed. */
static inline uint64_t clock_stamp(struct clock *clock, struct clock_line *line, uint64_t stamp)
{
    if (line->rate == 0)
        return clock_now(clock);
    if (stamp - line->ticks > line->good_for)
        clock_copy(clock, line);
    return stamp;
}

/* Returns the time of what clock_stamp returned. */
static inline uint64_t clock_time(const struct clock_line *line, uint64_t stamp)
{
    if (line->rate == 0)
        return stamp;
    return line->nanoseconds + (uint64_t)(int64_t)((double)(int64_t)(stamp - line->ticks) * line->rate);
}

#endif
