#define _GNU_SOURCE
#include "collector.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    LINES = 256 * 1024, /* bytes of text under way */
    COLLECT = 200,      /* milliseconds */
    GRACE = 2,          /* milliseconds for additions under way, at the end */
    TELL_TIME = 1000,   /* milliseconds without I/O */
    LAST_TRY = 500,     /* milliseconds for the last lines to get out */
    PATIENCE = 2000     /* milliseconds for the process to end */
};

static const uint64_t MILLISECOND = 1000000;

_Static_assert(BINS_SERIES * (BINS_SLOTS * 22 + 512) < LINES, "all bins at their longest fit into the text");

static struct shared *shared;
static struct bins collected;
static bool chosen[PLACES]; /* whether the side that is not added to is still to be collected */
static char header_room[4096], lines_room[LINES];
static struct text header = {.start = header_room, .room = sizeof header_room};
static struct text lines = {.start = lines_room, .room = LINES};
static size_t header_written, lines_written;
static uint64_t told, handed_over; /* bytes in lines that were made, and in those that were taken */
static uint64_t known; /* time up to which all is in what was collected */
static uint64_t last_line;

static void sleep_for(_Atomic uint32_t *until, uint64_t milliseconds)
{
    struct timespec time = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000 * MILLISECOND)};
    syscall(SYS_futex, until, FUTEX_WAIT, 0, &time, NULL, 0);
}

static void wake(_Atomic uint32_t *flag)
{
    atomic_store(flag, 1);
    syscall(SYS_futex, flag, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static uint64_t now(void)
{
    uint64_t time = clock_now(&shared->clock);
    return time > shared->writer.origin ? time - shared->writer.origin : 0;
}

static uint64_t time_of_stamp(uint64_t stamp)
{
    struct clock_line line = {0};
    clock_copy(&shared->clock, &line);
    uint64_t time = stamp == NEVER ? NEVER : clock_time(&line, stamp);
    return time == NEVER ? NEVER : time > shared->writer.origin ? time - shared->writer.origin : 0;
}

/* ---- from threads ---- */

static void put_current(struct place *place, unsigned side)
{
    struct current *current = &place->current[side];
    if (current->operations)
        bins_put(&place->sets[side], current->series, current->bin << current->shift, current->bytes, current->operations);
    current->bytes = current->operations = 0;
}

void place_change(struct place *place, unsigned side, unsigned series, uint64_t start, uint64_t end, uint64_t bytes)
{
    struct current *current = &place->current[side];
    put_current(place, side);
    current->bin = end >> current->shift;
    current->series = series;
    if (start >= current->bin << current->shift) {
        current->bytes = bytes;
        current->operations = 1;
    } else {
        bins_add(&place->sets[side], series, start, end, bytes);
    }
}

/* Has threads add to their other sets. Returns the time up to which what they have left behind is complete: the begin of
 * an operation under way, or now. */
static uint64_t change_sides(void)
{
    uint64_t time = now(), since = time_of_stamp(atomic_load(&shared->non_blocking_since));
    unsigned places = atomic_load(&shared->places);
    for (unsigned place = 0; place < places; place++) {
        uint64_t open = time_of_stamp(atomic_load(&shared->place[place].open_since));
        since = open < since ? open : since;
        if (!chosen[place]) {
            atomic_fetch_xor(&shared->place[place].side, 1);
            chosen[place] = true;
        }
    }
    return since < time ? since : time;
}

static void take_sums(void)
{
    unsigned places = atomic_load(&shared->places);
    for (unsigned number = 0; number < places; number++) {
        struct place *place = &shared->place[number];
        unsigned side = !atomic_load(&place->side);
        struct bins *left = &place->sets[side];
        if (!chosen[number])
            continue;
        unsigned turn = atomic_load(&place->turn);
        for (int attempt = 0; turn % 2 && attempt < 1000; attempt++)
            if (atomic_load(&place->turn) != turn)
                turn = 0;
        if (turn % 2) /* it was interrupted in the middle of adding: next time */
            continue;
        atomic_thread_fence(memory_order_acquire);
        chosen[number] = false;
        put_current(place, side);
        if (left->used) {
            bins_merge(&collected, left);
            bins_clear(left, shared->shift);
        }
    }
}

/* ---- to the listener ---- */

/* Opens or connects, and has a new stream begin with a header and a whole line. */
static bool open_stream(void)
{
    bool fresh;
    if (!sink_open(&shared->sink, &fresh))
        return false;
    if (fresh) {
        header.length = header_written = 0;
        line_header(&header, &shared->writer, handed_over);
        while (lines_written && lines.start[lines_written - 1] != '\n')
            lines_written--;
    }
    return true;
}

static bool write_out(const struct text *text, size_t *written)
{
    while (*written < text->length) {
        size_t taken = sink_write(&shared->sink, text->start + *written, text->length - *written);
        if (!taken)
            return false;
        *written += taken;
    }
    return true;
}

/* Returns whether all lines are out. */
static bool hand_over(void)
{
    if (!write_out(&header, &header_written) || !write_out(&lines, &lines_written))
        return false;
    lines.length = lines_written = 0;
    handed_over = told;
    return true;
}

/* Returns whether all is handed over. What nobody takes stays in bins, which widen where it becomes too much. */
static bool tell(bool last)
{
    if (!open_stream() || (lines.length && !hand_over()))
        return false;
    if (collected.used) {
        told += lines_bins(&lines, &shared->writer, &collected);
        bins_clear(&collected, shared->shift);
        last_line = known;
    } else if (known >= last_line + TELL_TIME * MILLISECOND) {
        line_time(&lines, known);
        last_line = known;
    }
    if (last)
        line_end(&lines, known, told, atomic_load(&shared->dropped));
    return hand_over();
}

static void finish(void)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t give_up = now() + LAST_TRY * MILLISECOND;
    for (int side = 0; side < 2; side++) {
        known = change_sides();
        syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = GRACE * (long)MILLISECOND}, NULL);
        take_sums();
    }
    for (bool ended = false;;) {
        bool last = !ended && !lines.length; /* behind all other lines, once */
        bool done = tell(last);
        ended = ended || (last && shared->sink.descriptor >= 0);
        if ((done && ended) || shared->sink.descriptor < 0 || now() > give_up)
            break;
        syscall(SYS_nanosleep, &pause, NULL);
    }
    shared->lost = told - handed_over + atomic_load(&shared->dropped);
    for (unsigned series = 0; series < BINS_SERIES; series++)
        shared->lost += bins_total(&collected, series);
    sink_close(&shared->sink);
}

/* ---- the process ---- */

static void run(pid_t program)
{
    const uint64_t all = ~UINT64_C(0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof all);
    syscall(SYS_setsid); /* what ends the program's group is for the program; we end when it has ended */
    syscall(SYS_prctl, PR_SET_NAME, "iostrata", 0, 0, 0);
    /* Who waits for the end of the program's output would wait for us. */
    if (syscall(SYS_close_range, 0u, ~0u, 0u))
        for (int descriptor = 0; descriptor < 1024; descriptor++)
            syscall(SYS_close, descriptor);
    while (!atomic_load(&shared->stop) && (pid_t)syscall(SYS_getppid) == program) {
        uint64_t next_known = change_sides();
        sleep_for(&shared->stop, COLLECT);
        clock_adjust(&shared->clock);
        if (atomic_load(&shared->stop))
            break;
        take_sums();
        known = next_known;
        if (atomic_load(&shared->ready))
            tell(false);
    }
    if (atomic_load(&shared->ready))
        finish();
    wake(&shared->stopped);
}

struct shared *collector_share(unsigned shift)
{
    struct shared *with = mmap(NULL, sizeof *with, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (with == MAP_FAILED)
        return NULL;
    with->shift = shift;
    atomic_store(&with->non_blocking_since, NEVER);
    return with;
}

struct place *collector_place(struct shared *with)
{
    unsigned used = atomic_load(&with->places);
    if (used == PLACES)
        return NULL;
    struct place *place = &with->place[used];
    atomic_store(&place->open_since, NEVER);
    for (int side = 0; side < 2; side++) {
        bins_clear(&place->sets[side], with->shift);
        place->current[side] = (struct current){.shift = with->shift};
    }
    atomic_store(&with->places, used + 1);
    return place;
}

bool collector_start(struct shared *with)
{
    shared = with;
    bins_clear(&collected, shared->shift);
    pid_t program = getpid();
    /* As fork does, but no signal tells the program of its end, and `wait` does not return it. */
    long process = syscall(SYS_clone, 0ul, NULL, NULL, NULL, 0ul);
    if (process)
        return process > 0;
    run(program);
    syscall(SYS_exit_group, 0);
    return false;
}

void collector_stop(struct shared *with, bool started)
{
    shared = with;
    if (!started) {
        finish();
    } else {
        /* A file system that hangs must not hold up the program: the process is left behind then. */
        uint64_t give_up = now() + PATIENCE * MILLISECOND;
        wake(&shared->stop);
        while (!atomic_load(&shared->stopped) && now() < give_up)
            sleep_for(&shared->stopped, 100);
    }
    if (shared->lost) {
        char line[2 * SINK_PATH];
        snprintf(line, sizeof line, "iostrata: rank %d: %llu bytes of operations were not told to %s: %s\n",
            shared->writer.rank, (unsigned long long)shared->lost, shared->sink.path,
            shared->sink.error ? strerror(shared->sink.error) : "no room");
        sink_complain(line);
    }
}
