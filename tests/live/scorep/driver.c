/* The parts of the Score-P plugin that need no Score-P, for tests.
 *
 *     driver bins < COMMANDS           set SHIFT | add SET SERIES START END BYTES | merge INTO FROM | show SET
 *     driver lines NODE PROGRAM        a header, then the bins of "add" commands, as lines
 *     driver clock TIMER STAMPS        how far the time of own stamps is from the clock, in ns, at most
 *     driver aside < NAMES             1 for each name that is set aside, 0 for the others
 *     driver fill TARGET               opens and writes until no more is taken: bytes taken, and the error
 *     driver collect TARGET NAME THREADS OPERATIONS PAUSE_US END
 *         threads add operations of 7 bytes to series 0, 1, ...; END is stop, kill, or hold (until a line on stdin) */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bins.h"
#include "clock.h"
#include "collector.h"
#include "file_rules.h"
#include "lines.h"

static struct bins sets[4];
static char room[1 << 20];

static void show(const struct bins *bins)
{
    printf("%u", bins->shift);
    for (unsigned series = 0; bins->used && series < BINS_SERIES; series++)
        for (uint64_t bin = bins->first; bin <= bins->last; bin++)
            if (bins_at(bins, series, bin))
                printf(" %u:%" PRIu64 ":%" PRIu64, series, bin, bins_at(bins, series, bin));
    printf("\n");
}

static void read_bins(void)
{
    char word[16];
    unsigned set, from, series, shift;
    uint64_t start, end, bytes;
    while (scanf("%15s", word) == 1) {
        if (!strcmp(word, "set") && scanf("%u", &shift) == 1)
            for (set = 0; set < 4; set++)
                bins_clear(&sets[set], shift);
        else if (!strcmp(word, "add")
            && scanf("%u %u %" SCNu64 " %" SCNu64 " %" SCNu64, &set, &series, &start, &end, &bytes) == 5)
            bins_add(&sets[set], series, start, end, bytes);
        else if (!strcmp(word, "merge") && scanf("%u %u", &set, &from) == 2)
            bins_merge(&sets[set], &sets[from]);
        else if (!strcmp(word, "show") && scanf("%u", &set) == 1)
            show(&sets[set]);
        else
            exit(2);
    }
}

static void write_lines(char **arguments)
{
    struct writer writer = {.node = arguments[0], .program = arguments[1], .origin = 1700000000123456789, .rank = 3,
        .ranks = 8, .process = 77, .layers = {"POSIX", "ISOC", "MPI-IO", "HDF5", "netCDF", "A", "B", "C"}};
    struct text text = {.start = room, .room = sizeof room};
    read_bins();
    line_header(&text, &writer, 5);
    uint64_t told = lines_bins(&text, &writer, &sets[0]);
    line_time(&text, 1000000001);
    line_end(&text, 2, told, 9);
    fwrite(room, 1, text.length, stdout);
    text = (struct text){.start = room, .room = 300};
    line_header(&text, &writer, 5);
    lines_bins(&text, &writer, &sets[0]);
    fwrite(room, 1, text.length, stdout); /* what has room, whole lines only */
}

static uint64_t stamp(const char *timer)
{
    struct timespec now;
    if (!strcmp(timer, "clock_gettime")) {
        clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
    if (!strcmp(timer, "gettimeofday")) {
        clock_gettime(CLOCK_REALTIME, &now);
        return (uint64_t)now.tv_sec * 1000000u + (uint64_t)now.tv_nsec / 1000;
    }
#if defined __x86_64__ || defined __i386__
    if (!strcmp(timer, "tsc"))
        return __builtin_ia32_rdtsc();
#endif
    return 12345;
}

static void compare_clocks(const char *timer, int stamps)
{
    static struct clock clock;
    struct clock_line line = {0};
    uint64_t farthest = 0;
    clock_start(&clock, timer);
    clock_check(&clock, stamp(timer));
    clock_copy(&clock, &line);
    for (int i = 0; i < stamps; i++) {
        uint64_t nearest = UINT64_MAX; /* of several tries, for one may be interrupted */
        for (int attempt = 0; attempt < 20; attempt++) {
            uint64_t before = clock_now(&clock), time = clock_time(&line, clock_stamp(&clock, &line, stamp(timer))), after = clock_now(&clock);
            uint64_t off = time < before ? before - time : time > after ? time - after : 0;
            nearest = off < nearest ? off : nearest;
        }
        farthest = nearest > farthest ? nearest : farthest;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        clock_adjust(&clock);
    }
    printf("%" PRIu64 "\n", farthest);
}

static struct shared *shared;
static long operations, pause_us;

static void *work(void *argument)
{
    struct place *place = argument;
    struct clock_line line = {0};
    clock_copy(&shared->clock, &line);
    for (long i = 0; i < operations; i++) {
        uint64_t now = clock_now(&shared->clock) - shared->writer.origin;
        place_add(place, (unsigned)(place - shared->place) % 6, now, now, 7);
        if (pause_us)
            usleep((useconds_t)pause_us);
    }
    return NULL;
}

static void collect(char **arguments)
{
    int threads = atoi(arguments[2]);
    operations = atol(arguments[3]);
    pause_us = atol(arguments[4]);
    shared = collector_share(20);
    if (!sink_choose(&shared->sink, arguments[0], arguments[1]))
        exit(3);
    clock_start(&shared->clock, "tsc");
    shared->writer = (struct writer){.node = "here", .program = "driver", .origin = clock_now(&shared->clock) >> 20 << 20,
        .ranks = 1, .layers = {"POSIX", "ISOC", "MPI-IO"}};
    shared->ready = 1;
    bool started = collector_start(shared);
    pthread_t thread[64];
    for (int i = 0; i < threads; i++)
        pthread_create(&thread[i], NULL, work, collector_place(shared));
    for (int i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    puts("added");
    fflush(stdout);
    if (!strcmp(arguments[5], "hold") && getchar() == EOF)
        exit(4);
    if (!strcmp(arguments[5], "kill"))
        raise(SIGKILL);
    collector_stop(shared, started);
}

static void fill(const char *target)
{
    static struct sink sink;
    bool fresh;
    size_t taken, all = 0;
    if (!sink_choose(&sink, target, "x") || !sink_open(&sink, &fresh) || !fresh || !sink_open(&sink, &fresh) || fresh)
        exit(3);
    while ((taken = sink_write(&sink, room, sizeof room)))
        all += taken;
    printf("%zu %s %s\n", all, strerrorname_np(sink.error), sink.descriptor < 0 ? "closed" : "open");
}

int main(int count, char **arguments)
{
    char name[4096];
    if (count == 2 && !strcmp(arguments[1], "bins"))
        read_bins();
    else if (count == 4 && !strcmp(arguments[1], "lines"))
        write_lines(arguments + 2);
    else if (count == 4 && !strcmp(arguments[1], "clock"))
        compare_clocks(arguments[2], atoi(arguments[3]));
    else if (count == 2 && !strcmp(arguments[1], "aside"))
        while (scanf(" %4095[^\n]", name) == 1)
            printf("%d\n", is_set_aside(name));
    else if (count == 3 && !strcmp(arguments[1], "fill"))
        fill(arguments[2]);
    else if (count == 8 && !strcmp(arguments[1], "collect"))
        collect(arguments + 2);
    else
        return 2;
    return 0;
}
