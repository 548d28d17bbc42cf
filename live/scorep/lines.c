#include "lines.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    size_t left = text->room - text->length;
    int length = text->overflow ? 0 : vsnprintf(text->start + text->length, left, format, values);
    va_end(values);
    if (length < 0 || (size_t)length >= left)
        text->overflow = 1;
    else
        text->length += (size_t)length;
}

/* Seconds by whole numbers: the decimal sign of the program's locale may be a comma. */
static void put_seconds(struct text *text, uint64_t nanoseconds)
{
    put(text, "%" PRIu64 ".%09" PRIu64, nanoseconds / 1000000000u, nanoseconds % 1000000000u);
}

/* A name from outside: what is not plain ASCII is written as a question mark, for it need not be UTF-8. */
static void put_name(struct text *text, const char *name)
{
    put(text, "\"");
    for (; *name; name++) {
        if (*name == '"' || *name == '\\')
            put(text, "\\%c", *name);
        else
            put(text, "%c", *name >= ' ' && *name <= '~' ? *name : '?');
    }
    put(text, "\"");
}

/* Ends a line that began at `start`, or takes it back where it did not fit. */
static int end_line(struct text *text, size_t start)
{
    put(text, "}\n");
    if (!text->overflow)
        return 1;
    text->length = start;
    return 0;
}

void line_header(struct text *text, const struct writer *writer, uint64_t earlier)
{
    size_t start = text->length;
    put(text, "{\"kind\": \"header\", \"version\": 1, \"origin\": ");
    put_seconds(text, writer->origin);
    put(text, ", \"node\": ");
    put_name(text, writer->node);
    put(text, ", \"program\": ");
    put_name(text, writer->program);
    put(text, ", \"ranks\": %d, \"rank\": %d, \"process\": %ld, \"bytes_before\": %" PRIu64, writer->ranks, writer->rank,
        writer->process, earlier);
    end_line(text, start);
}

uint64_t lines_bins(struct text *text, const struct writer *writer, const struct bins *bins)
{
    uint64_t told = 0;
    for (unsigned series = 0; bins->used && series < BINS_SERIES; series++) {
        const char *layer = writer->layers[series / 2];
        if (!bins->operations[series] || !layer)
            continue;
        uint64_t total = bins_total(bins, series), first = bins->first, end = total ? bins->last + 1 : first;
        while (first < end && !bins_at(bins, series, first))
            first++;
        while (first < end && !bins_at(bins, series, end - 1))
            end--;
        size_t start = text->length;
        put(text, "{\"kind\": \"bins\", \"layer\": \"%s\", \"rank\": %d, \"mode\": \"%s\", \"origin\": 0.0, \"width\": ", layer,
            writer->rank, series % 2 ? "write" : "read");
        put_seconds(text, (uint64_t)1 << bins->shift);
        put(text, ", \"first\": %" PRIu64 ", \"operations\": %" PRIu64 ", \"bytes\": [", first, bins->operations[series]);
        for (uint64_t bin = first; bin < end; bin++)
            put(text, bin > first ? ", %" PRIu64 : "%" PRIu64, bins_at(bins, series, bin));
        put(text, "]");
        if (end_line(text, start))
            told += total;
    }
    return told;
}

void line_time(struct text *text, uint64_t time)
{
    size_t start = text->length;
    put(text, "{\"kind\": \"time\", \"time\": ");
    put_seconds(text, time);
    end_line(text, start);
}

void line_end(struct text *text, uint64_t time, uint64_t told, uint64_t dropped)
{
    size_t start = text->length;
    put(text, "{\"kind\": \"end\", \"time\": ");
    put_seconds(text, time);
    put(text, ", \"bytes_told\": %" PRIu64 ", \"bytes_dropped\": %" PRIu64, told, dropped);
    end_line(text, start);
}
