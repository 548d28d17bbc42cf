/* Bytes per time bin: sums of whole bytes on one grid of time, in memory that never grows.
 *
 * Bin i of a set spans [i << shift, (i + 1) << shift) nanoseconds since the epoch, so all processes and nodes share one
 * grid. What does not fit into BINS_SLOTS bins is kept in wider ones: pairs of bins are added up and the shift grows by
 * one. Bytes are never lost, only resolution. */
#ifndef IOSTRATA_BINS_H
#define IOSTRATA_BINS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    BINS_LAYERS = 8,
    BINS_SERIES = 2 * BINS_LAYERS, /* a layer's reads, then its writes */
    BINS_SLOTS = 256               /* a power of two */
};

struct bins {
    unsigned shift;
    bool used;
    uint64_t first, last; /* bins that may hold something, last included; undefined while not used */
    uint64_t operations[BINS_SERIES];
    uint64_t bytes[BINS_SERIES][BINS_SLOTS]; /* bin i is in slot i % BINS_SLOTS */
};

/* Makes a set empty; its bins are 1 << shift nanoseconds wide until they have to widen. */
void bins_clear(struct bins *bins, unsigned shift);

/* Spreads the bytes of one operation evenly over [start, end] (nanoseconds), whole bytes that add up exactly. */
void bins_add(struct bins *bins, unsigned series, uint64_t start, uint64_t end, uint64_t bytes);

/* Adds sums of several operations that all lay in the bin of this time. */
void bins_put(struct bins *bins, unsigned series, uint64_t time, uint64_t bytes, uint64_t operations);

/* Adds all of one set to another. */
void bins_merge(struct bins *into, const struct bins *from);

/* Returns the sum of a series. */
uint64_t bins_total(const struct bins *bins, unsigned series);

static inline uint64_t bins_at(const struct bins *bins, unsigned series, uint64_t bin)
{
    return bins->bytes[series][bin % BINS_SLOTS];
}

#endif
