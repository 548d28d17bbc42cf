/* The lines that `iostrata watch` reads, as the guide's page on live following tells them: one JSON object a line. */
#ifndef IOSTRATA_LINES_H
#define IOSTRATA_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "bins.h"

/* Text of bounded length. What does not fit is left out as a whole line, and `overflow` is set. */
struct text {
    char *start;
    size_t length, room;
    int overflow;
};

/* Who writes: the same in all lines of a process. Times in lines are nanoseconds since `origin`. */
struct writer {
    const char *node, *program;
    uint64_t origin; /* nanoseconds since the epoch */
    int rank, ranks;
    long process;
    const char *layers[BINS_LAYERS]; /* NULL where there is none */
};

/* `earlier` bytes were handed over before, to a listener that is gone or to this one. */
void line_header(struct text *text, const struct writer *writer, uint64_t earlier);

/* A line for each series that has bytes. Returns the sum of bytes told. */
uint64_t lines_bins(struct text *text, const struct writer *writer, const struct bins *bins);

void line_time(struct text *text, uint64_t time);

/* `told` and `dropped` are sums of bytes over all layers and modes. */
void line_end(struct text *text, uint64_t time, uint64_t told, uint64_t dropped);

#endif
