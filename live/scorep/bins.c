#include "bins.h"

#include <string.h>

void bins_clear(struct bins *bins, unsigned shift)
{
    memset(bins, 0, sizeof *bins);
    bins->shift = shift;
}

static void widen(struct bins *bins)
{
    uint64_t wide[BINS_SLOTS];
    for (unsigned series = 0; series < BINS_SERIES; series++) {
        if (!bins->operations[series])
            continue;
        memset(wide, 0, sizeof wide);
        for (uint64_t bin = bins->first; bin <= bins->last; bin++)
            wide[(bin >> 1) % BINS_SLOTS] += bins_at(bins, series, bin);
        memcpy(bins->bytes[series], wide, sizeof wide);
    }
    bins->first >>= 1;
    bins->last >>= 1;
    bins->shift++;
}

/* Makes room for [start, end] (nanoseconds) beside what is there. */
static void reach(struct bins *bins, uint64_t start, uint64_t end)
{
    for (;;) {
        uint64_t first = start >> bins->shift, last = end >> bins->shift;
        if (bins->used) {
            first = first < bins->first ? first : bins->first;
            last = last > bins->last ? last : bins->last;
        }
        if (last - first < BINS_SLOTS) {
            bins->first = first;
            bins->last = last;
            bins->used = true;
            return;
        }
        if (bins->used)
            widen(bins);
        else
            bins->shift++;
    }
}

void bins_add(struct bins *bins, unsigned series, uint64_t start, uint64_t end, uint64_t bytes)
{
    if (end < start)
        end = start;
    reach(bins, start, end);
    bins->operations[series]++;
    uint64_t first = start >> bins->shift, last = end >> bins->shift, before = 0;
    for (uint64_t bin = first; bin < last; bin++) {
        uint64_t elapsed = ((bin + 1) << bins->shift) - start;
        uint64_t until = (uint64_t)((unsigned __int128)bytes * elapsed / (end - start));
        bins->bytes[series][bin % BINS_SLOTS] += until - before;
        before = until;
    }
    bins->bytes[series][last % BINS_SLOTS] += bytes - before;
}

void bins_put(struct bins *bins, unsigned series, uint64_t time, uint64_t bytes, uint64_t operations)
{
    reach(bins, time, time);
    bins->operations[series] += operations;
    bins->bytes[series][(time >> bins->shift) % BINS_SLOTS] += bytes;
}

void bins_merge(struct bins *into, const struct bins *from)
{
    if (!from->used)
        return;
    if (!into->used)
        into->shift = from->shift > into->shift ? from->shift : into->shift;
    while (into->shift < from->shift)
        widen(into);
    reach(into, from->first << from->shift, from->last << from->shift);
    unsigned wider = into->shift - from->shift;
    for (unsigned series = 0; series < BINS_SERIES; series++) {
        if (!from->operations[series])
            continue;
        into->operations[series] += from->operations[series];
        for (uint64_t bin = from->first; bin <= from->last; bin++)
            into->bytes[series][(bin >> wider) % BINS_SLOTS] += bins_at(from, series, bin);
    }
}

uint64_t bins_total(const struct bins *bins, unsigned series)
{
    uint64_t sum = 0;
    for (unsigned slot = 0; slot < BINS_SLOTS; slot++)
        sum += bins->bytes[series][slot];
    return sum;
}
