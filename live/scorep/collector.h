/* The process that hands over what the program's threads add up.
 *
 * It is a process, not a thread, because a program with a second thread pays for it at each call of the system (the
 * kernel has to count references to its files), and because it outlives a program that is killed and hands over what
 * that has left behind. Both share one piece of memory. */
#ifndef IOSTRATA_COLLECTOR_H
#define IOSTRATA_COLLECTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bins.h"
#include "clock.h"
#include "lines.h"
#include "sink.h"

enum { PLACES = 1024 /* threads that do I/O at one time */ };

static const uint64_t NEVER = UINT64_MAX;

/* Sums of operations in one bin of one series, which are the next one's as a rule. */
struct current {
    _Alignas(64) uint64_t bin;
    uint64_t bytes, operations;
    unsigned series, shift;
};

/* What one thread adds up: to one set of bins, while the other is collected. It waits for nobody. The collector chooses
 * the set, and looks into the other one only at its next turn, after a fifth of a second, and when the thread is not in
 * the middle of an addition that began before. An operation touches few lines of cache: the program needs them. */
struct place {
    _Alignas(64) _Atomic unsigned turn; /* odd while the thread adds */
    _Atomic unsigned side; /* the set it adds to */
    _Atomic uint64_t open_since; /* time stamp of the begin of its first operation in flight, or NEVER */
    struct current current[2]; /* not yet in the set */
    struct bins sets[2];
};

/* Times are nanoseconds since the writer's origin, time stamps are what clock_stamp returns. */
struct shared {
    struct clock clock;
    struct writer writer; /* rank and ranks only when `ready` */
    struct sink sink;
    unsigned shift;
    _Atomic int ready;
    _Atomic uint32_t stop, stopped;
    _Atomic uint64_t dropped; /* bytes that found no place */
    _Atomic uint64_t non_blocking_since; /* a time stamp, or NEVER */
    _Atomic unsigned places; /* how many have been in use */
    uint64_t lost; /* bytes that could not be handed over at the end */
    struct place place[PLACES];
};

/* Puts away what is current, and adds an operation that does not belong to it. */
void place_change(struct place *place, unsigned side, unsigned series, uint64_t start, uint64_t end, uint64_t bytes);

static inline void place_add(struct place *place, unsigned series, uint64_t start, uint64_t end, uint64_t bytes)
{
    unsigned turn = atomic_load_explicit(&place->turn, memory_order_relaxed);
    atomic_store_explicit(&place->turn, turn + 1, memory_order_relaxed);
    /* No fence: the collector lets a fifth of a second pass between its choice of a side and its look at `turn`. */
    atomic_signal_fence(memory_order_seq_cst);
    unsigned side = atomic_load_explicit(&place->side, memory_order_acquire);
    struct current *current = &place->current[side];
    uint64_t bin = end >> current->shift;
    if (bin == current->bin && series == current->series && start >= bin << current->shift) {
        current->bytes += bytes;
        current->operations++;
    } else {
        place_change(place, side, series, start, end, bytes);
    }
    atomic_store_explicit(&place->turn, turn + 2, memory_order_release);
}

/* Returns memory that the program and the collector share, for bins of 1 << shift ns; NULL where there is none. */
struct shared *collector_share(unsigned shift);

/* Returns a place that nobody had, NULL where there is none left; not for two threads at once. */
struct place *collector_place(struct shared *shared);

/* Starts the process; returns whether there is one. */
bool collector_start(struct shared *shared);

/* Has all that was added handed over, by the process or, where there is none, here; waits for two seconds at most. */
void collector_stop(struct shared *shared, bool started);

#endif
