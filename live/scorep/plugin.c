/* Score-P substrate plugin "iostrata": what each layer of I/O moves, told while the program runs.
 *
 * A thread that does I/O adds up its operations in memory of its own; a thread of the plugin collects the sums several
 * times a second and hands them over as lines. An operation waits for nobody: a set of bins that is being collected is
 * not the one that is being added to. Nothing is allocated after a thread's first operation. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <scorep/SCOREP_SubstrateEvents.h>
#include <scorep/SCOREP_SubstratePlugins.h>

#include "bins.h"
#include "clock.h"
#include "file_rules.h"
#include "lines.h"
#include "sink.h"

enum {
    IN_FLIGHT = 1100,     /* operations of a thread: a writev is up to 1024 that begin before the first ends */
    NON_BLOCKING = 1024,  /* operations of a process that were issued and have not ended */
    KNOWN = 128,          /* handles that a thread remembers; a power of two */
    LINES = 256 * 1024,   /* bytes of text under way */
    COLLECT = 200,        /* milliseconds */
    TELL_TIME = 1000,     /* milliseconds without I/O */
    LAST_TRY = 500,       /* milliseconds for the last lines to get out */
    PATIENCE = 2000,      /* milliseconds for the thread to end */
    NARROWEST = 20, WIDEST = 40,
    DEFAULT_SHIFT = 23    /* bins of 2^23 ns, 8.4 ms */
};

enum { ASIDE = BINS_SERIES, ENDED };

static const uint64_t NEVER = UINT64_MAX;
static const uint64_t UNDEFINED_BYTES = UINT64_MAX;

_Static_assert(BINS_SERIES * (BINS_SLOTS * 22 + 512) < LINES, "all bins at their longest fit into the text");
_Static_assert((int)SCOREP_NUM_IO_PARADIGMS <= BINS_LAYERS, "this Score-P has more I/O paradigms than bins.h has layers");

struct operation {
    SCOREP_IoHandleHandle handle;
    unsigned series;
    uint64_t id, start;
};

struct known {
    SCOREP_IoHandleHandle handle;
    unsigned series;
};

struct thread {
    struct thread *next;
    struct clock_line clock;
    unsigned depth, next_ended;
    struct operation open[IN_FLIGHT]; /* by begin; those that have ENDED stay until all behind them have */
    struct known known[KNOWN];
    _Atomic uint64_t open_since; /* begin of the outermost operation in flight, or NEVER */
    _Atomic unsigned turn;       /* odd while the thread adds */
    _Atomic unsigned side;       /* the set it adds to */
    int behind;                  /* the collector's: the other set is still to be collected */
    struct bins sets[2];
};

/* Functions of Score-P's measurement library. They are no part of the interface of substrate plugins, which does not
 * tell what kind of handle an event is on; they are exported by every shared Score-P that records I/O. */
static SCOREP_IoParadigmType (*handle_paradigm)(SCOREP_IoHandleHandle);
static SCOREP_IoFileHandle (*handle_file)(SCOREP_IoHandleHandle);
static const char *(*file_name)(SCOREP_IoFileHandle);

static const SCOREP_SubstratePluginCallbacks *scorep;
static size_t plugin;
static unsigned shift = DEFAULT_SHIFT;
static int all_files;
static uint64_t origin;
static char node[256];
static struct writer writer;
static struct sink sink;

static _Atomic(struct thread *) threads;
static _Atomic int recording; /* 0 before the start, after the end, and in a forked child */
static _Atomic uint64_t dropped;

static struct {
    pthread_mutex_t lock; /* among threads of the program only */
    _Atomic unsigned count;
    unsigned forgotten; /* begins for which there was no room */
    _Atomic uint64_t since; /* the earliest begin, or NEVER */
    struct operation open[NON_BLOCKING]; /* in the order of their begins */
} non_blocking = {.lock = PTHREAD_MUTEX_INITIALIZER, .since = UINT64_MAX};

/* The collector's. */
static struct bins collected;
static char header_room[4096], lines_room[LINES];
static struct text header = {.start = header_room, .room = sizeof header_room};
static struct text lines = {.start = lines_room, .room = LINES};
static size_t header_written, lines_written;
static uint64_t told, handed_over; /* bytes in lines that were made, and in those that were taken */
static uint64_t last_line;
static _Atomic uint32_t stop, stopped;

static void complain(const char *what, const char *why)
{
    char line[2 * SINK_PATH];
    snprintf(line, sizeof line, "iostrata: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    sink_complain(line);
}

/* ---- events ---- */

static unsigned series_of(struct thread *thread, SCOREP_IoHandleHandle handle)
{
    struct known *known = &thread->known[(handle ^ handle >> 7) % KNOWN];
    if (known->handle == handle)
        return known->series;
    unsigned layer = (unsigned)handle_paradigm(handle);
    if (layer >= SCOREP_NUM_IO_PARADIGMS)
        return ASIDE;
    unsigned series = 2 * layer;
    if (!all_files) {
        SCOREP_IoFileHandle file = handle_file(handle);
        if (file == SCOREP_MOVABLE_NULL) /* it may still get one */
            return ASIDE;
        if (is_set_aside(file_name(file)))
            series = ASIDE;
    }
    *known = (struct known){handle, series};
    return series;
}

static struct thread *thread_of(struct SCOREP_Location *location, uint64_t stamp)
{
    struct thread *thread = scorep->SCOREP_Location_GetData(location, plugin);
    if (thread)
        return thread;
    thread = calloc(1, sizeof *thread);
    if (!thread)
        return NULL;
    clock_check(stamp);
    clock_copy(&thread->clock);
    atomic_store(&thread->open_since, NEVER);
    bins_clear(&thread->sets[0], shift);
    bins_clear(&thread->sets[1], shift);
    scorep->SCOREP_Location_SetData(location, plugin, thread);
    struct thread *first = atomic_load(&threads);
    do
        thread->next = first;
    while (!atomic_compare_exchange_weak(&threads, &first, thread));
    return thread;
}

/* Nanoseconds since the origin. */
static uint64_t time_of(struct thread *thread, uint64_t stamp)
{
    uint64_t time = clock_time(&thread->clock, stamp);
    return time > origin ? time - origin : 0;
}

static void add(struct thread *thread, unsigned series, uint64_t start, uint64_t end, uint64_t bytes)
{
    unsigned turn = atomic_load_explicit(&thread->turn, memory_order_relaxed);
    atomic_store_explicit(&thread->turn, turn + 1, memory_order_relaxed);
    /* Either we see the side that the collector chose, or it sees that we are at it. */
    atomic_thread_fence(memory_order_seq_cst);
    unsigned side = atomic_load_explicit(&thread->side, memory_order_relaxed);
    bins_add(&thread->sets[side], series, start, end, bytes);
    atomic_store_explicit(&thread->turn, turn + 2, memory_order_release);
}

static void begin(struct SCOREP_Location *location, uint64_t stamp, SCOREP_IoHandleHandle handle,
    SCOREP_IoOperationMode mode, SCOREP_IoOperationFlag flags, uint64_t requested, uint64_t id, uint64_t offset)
{
    (void)requested;
    (void)offset;
    if (mode > SCOREP_IO_OPERATION_MODE_WRITE || !atomic_load_explicit(&recording, memory_order_relaxed))
        return;
    struct thread *thread = thread_of(location, stamp);
    if (!thread)
        return;
    unsigned series = series_of(thread, handle);
    if (series != ASIDE)
        series += mode == SCOREP_IO_OPERATION_MODE_WRITE;
    struct operation operation = {handle, series, id, time_of(thread, stamp)};
    if (flags & SCOREP_IO_OPERATION_FLAG_NON_BLOCKING) {
        pthread_mutex_lock(&non_blocking.lock);
        if (non_blocking.count < NON_BLOCKING) {
            non_blocking.open[non_blocking.count++] = operation;
            non_blocking.since = non_blocking.open[0].start;
        } else {
            non_blocking.forgotten++;
        }
        pthread_mutex_unlock(&non_blocking.lock);
        return;
    }
    unsigned depth = thread->depth;
    if (depth == IN_FLIGHT) {
        /* Some of them will never end. */
        memmove(thread->open, thread->open + 1, (IN_FLIGHT - 1) * sizeof *thread->open);
        depth--;
    }
    thread->open[depth] = operation;
    thread->depth = depth + 1;
    if (!depth)
        atomic_store_explicit(&thread->open_since, operation.start, memory_order_relaxed);
}

static int is(const struct operation *open, SCOREP_IoHandleHandle handle, uint64_t id)
{
    return open->handle == handle && open->id == id && open->series != ENDED;
}

static int take_non_blocking(SCOREP_IoHandleHandle handle, uint64_t id, struct operation *operation)
{
    int found = 0;
    pthread_mutex_lock(&non_blocking.lock);
    for (unsigned place = non_blocking.count; place-- > 0 && !found;) {
        struct operation *open = &non_blocking.open[place];
        if (open->handle == handle && open->id == id) {
            *operation = *open;
            non_blocking.count--;
            memmove(open, open + 1, (non_blocking.count - place) * sizeof *open);
            non_blocking.since = non_blocking.count ? non_blocking.open[0].start : NEVER;
            found = 1;
        }
    }
    if (!found && non_blocking.forgotten) {
        non_blocking.forgotten--;
        found = -1;
    }
    pthread_mutex_unlock(&non_blocking.lock);
    return found;
}

/* Takes an operation out of those in flight. Returns 0 where it did not begin, and -1 where its begin is forgotten. */
static int take(struct thread *thread, SCOREP_IoHandleHandle handle, uint64_t id, struct operation *operation)
{
    unsigned depth = thread->depth, place = thread->next_ended;
    if (place >= depth || !is(&thread->open[place], handle, id))
        for (place = depth; place-- > 0 && !is(&thread->open[place], handle, id);)
            ;
    if (place < depth) {
        *operation = thread->open[place];
        thread->open[place].series = ENDED;
        thread->next_ended = place + 1;
        while (depth && thread->open[depth - 1].series == ENDED)
            depth--;
        thread->depth = depth;
        if (!depth)
            atomic_store_explicit(&thread->open_since, NEVER, memory_order_relaxed);
        return 1;
    }
    return atomic_load_explicit(&non_blocking.count, memory_order_relaxed)
        ? take_non_blocking(handle, id, operation) : 0;
}

static void complete(struct SCOREP_Location *location, uint64_t stamp, SCOREP_IoHandleHandle handle,
    SCOREP_IoOperationMode mode, uint64_t bytes, uint64_t id)
{
    if (mode > SCOREP_IO_OPERATION_MODE_WRITE || !atomic_load_explicit(&recording, memory_order_relaxed))
        return;
    struct thread *thread = thread_of(location, stamp);
    if (!thread)
        return;
    struct operation operation = {.series = ASIDE};
    int found = take(thread, handle, id, &operation);
    uint64_t end = time_of(thread, stamp);
    if (found < 0) {
        operation = (struct operation){.series = series_of(thread, handle), .start = end};
        if (operation.series != ASIDE)
            operation.series += mode == SCOREP_IO_OPERATION_MODE_WRITE;
    }
    if (operation.series != ASIDE)
        add(thread, operation.series, operation.start, end, bytes == UNDEFINED_BYTES ? 0 : bytes);
}

static void cancelled(
    struct SCOREP_Location *location, uint64_t stamp, SCOREP_IoHandleHandle handle, uint64_t id)
{
    if (!atomic_load_explicit(&recording, memory_order_relaxed))
        return;
    struct thread *thread = thread_of(location, stamp);
    struct operation operation;
    if (thread)
        take(thread, handle, id, &operation);
}

/* ---- the collector ---- */

static void sleep_for(uint32_t milliseconds)
{
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    syscall(SYS_futex, &stop, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

static void collect_thread(struct thread *thread)
{
    unsigned side = atomic_load_explicit(&thread->side, memory_order_relaxed);
    if (!thread->behind) {
        atomic_store_explicit(&thread->side, !side, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        thread->behind = 1;
    } else {
        side = !side;
    }
    unsigned turn = atomic_load_explicit(&thread->turn, memory_order_acquire);
    for (int attempt = 0; turn % 2 && attempt < 100; attempt++) {
        syscall(SYS_sched_yield);
        if (atomic_load_explicit(&thread->turn, memory_order_acquire) != turn)
            turn = 0;
    }
    if (turn % 2) /* it was interrupted in the middle of adding: next time */
        return;
    thread->behind = 0;
    if (thread->sets[side].used) {
        bins_merge(&collected, &thread->sets[side]);
        bins_clear(&thread->sets[side], shift);
    }
}

/* Returns whether all lines are out. */
static bool hand_over(void)
{
    while (header_written < header.length) {
        size_t taken = sink_write(&sink, header.start + header_written, header.length - header_written);
        if (!taken)
            return false;
        header_written += taken;
    }
    while (lines_written < lines.length) {
        size_t taken = sink_write(&sink, lines.start + lines_written, lines.length - lines_written);
        if (!taken)
            return false;
        lines_written += taken;
    }
    lines.length = lines_written = 0;
    handed_over = told;
    return true;
}

/* Opens or connects, and has a new stream begin with a header and a whole line. */
static bool open_stream(void)
{
    bool fresh;
    if (!sink_open(&sink, &fresh))
        return false;
    if (fresh) {
        header.length = header_written = 0;
        line_header(&header, &writer, handed_over);
        while (lines_written && lines.start[lines_written - 1] != '\n')
            lines_written--;
    }
    return true;
}

/* The time up to which all is known: the begin of what is under way, or now. */
static uint64_t known_until(void)
{
    uint64_t now = clock_now(), since = non_blocking.since;
    now = now > origin ? now - origin : 0;
    for (struct thread *thread = atomic_load(&threads); thread; thread = thread->next) {
        uint64_t open = atomic_load(&thread->open_since);
        since = open < since ? open : since;
    }
    return since < now ? since : now;
}

/* Returns whether all is handed over. What nobody takes stays in bins, which widen where it becomes too much. */
static bool collect(bool last)
{
    uint64_t time = known_until();
    for (struct thread *thread = atomic_load(&threads); thread; thread = thread->next)
        collect_thread(thread);
    if (!open_stream() || (lines.length && !hand_over()))
        return false;
    if (collected.used) {
        told += lines_bins(&lines, &writer, &collected);
        bins_clear(&collected, shift);
        last_line = time;
    } else if (time >= last_line + TELL_TIME * UINT64_C(1000000)) {
        line_time(&lines, time);
        last_line = time;
    }
    if (last)
        line_end(&lines, time, told, atomic_load(&dropped));
    return hand_over();
}

static void finish(void)
{
    uint64_t give_up = clock_now() + LAST_TRY * UINT64_C(1000000);
    bool ended = false;
    for (;;) {
        bool empty = !lines.length; /* the last line stands behind all others, once */
        bool done = collect(!ended && empty);
        ended = ended || (empty && sink.descriptor >= 0);
        if ((done && ended) || sink.descriptor < 0 || clock_now() > give_up)
            break;
        struct timespec pause = {.tv_nsec = 5000000};
        syscall(SYS_nanosleep, &pause, NULL);
    }
    uint64_t lost = told - handed_over + atomic_load(&dropped);
    for (unsigned series = 0; series < BINS_SERIES; series++)
        lost += bins_total(&collected, series);
    if (lost) {
        char what[SINK_PATH + 128];
        snprintf(what, sizeof what, "rank %d: %llu bytes of operations were not told to %s", writer.rank,
            (unsigned long long)lost, sink.path);
        complain(what, sink.error ? strerror(sink.error) : NULL);
    }
    sink_close(&sink);
}

static void *collector(void *nothing)
{
    while (!atomic_load(&stop)) {
        sleep_for(COLLECT);
        clock_adjust();
        if (!atomic_load(&stop))
            collect(false);
    }
    finish();
    atomic_store(&stopped, 1);
    syscall(SYS_futex, &stopped, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    return nothing;
}

/* ---- management ---- */

static int collecting; /* whether there is a thread for it */

static void in_child(void)
{
    /* A forked child has neither our thread nor, with Score-P, a measurement; what is in memory is the parent's. */
    atomic_store(&recording, 0);
    collecting = 0;
    sink_close(&sink);
}

static unsigned shift_of(const char *width)
{
    char *end;
    double seconds = strtod(width, &end);
    unsigned found = NARROWEST;
    if (end == width || !(seconds > 0)) {
        complain("IOSTRATA_LIVE_WIDTH is no number of seconds, bins are 0.008388608 s", NULL);
        return DEFAULT_SHIFT;
    }
    while (found < WIDEST && (double)((uint64_t)2 << found) <= seconds * 1e9)
        found++;
    return found;
}

static int init(void)
{
    const char *target = getenv("IOSTRATA_LIVE");
    const char *files = getenv("IOSTRATA_LIVE_FILES"), *width = getenv("IOSTRATA_LIVE_WIDTH");
    char name[sizeof node + 64];
    if (!target || !*target) {
        complain("IOSTRATA_LIVE is not set, nothing is told: give it a folder, or unix:PATH of a socket", NULL);
        return 0;
    }
    *(void **)&handle_paradigm = dlsym(RTLD_DEFAULT, "SCOREP_IoHandleHandle_GetIoParadigm");
    *(void **)&handle_file = dlsym(RTLD_DEFAULT, "SCOREP_IoHandleHandle_GetIoFile");
    *(void **)&file_name = dlsym(RTLD_DEFAULT, "SCOREP_IoFileHandle_GetFileName");
    if (!handle_paradigm || !handle_file || !file_name) {
        complain("this Score-P does not tell the layer of an I/O handle (or is linked statically), nothing is told", NULL);
        return 0;
    }
    if (gethostname(node, sizeof node - 1))
        snprintf(node, sizeof node, "unknown");
    snprintf(name, sizeof name, "%s-%ld.jsonl", node, (long)getpid());
    if (!sink_choose(&sink, target, name)) {
        complain("IOSTRATA_LIVE is too long, nothing is told", NULL);
        return 0;
    }
    all_files = files && !strcmp(files, "all");
    shift = width && *width ? shift_of(width) : DEFAULT_SHIFT;
    clock_start(getenv("SCOREP_TIMER"));
    origin = clock_now() >> shift << shift;
    bins_clear(&collected, shift);
    writer = (struct writer){.node = node, .program = program_invocation_short_name, .origin = origin,
        .process = (long)getpid(), .ranks = 1};
#define SCOREP_IO_PARADIGM(upper, lower, name) writer.layers[SCOREP_IO_PARADIGM_##upper] = name;
    SCOREP_IO_PARADIGMS
#undef SCOREP_IO_PARADIGM
    if (pthread_atfork(NULL, NULL, in_child))
        complain("pthread_atfork failed, nothing is told", NULL);
    else
        atomic_store(&recording, 1);
    return 0;
}

static void set_callbacks(const SCOREP_SubstratePluginCallbacks *callbacks, size_t size)
{
    scorep = callbacks;
    if (size < offsetof(SCOREP_SubstratePluginCallbacks, SCOREP_Location_GetData) + sizeof(void (*)(void)))
        atomic_store(&recording, 0);
}

static void assign_id(size_t id)
{
    plugin = id;
}

static void init_mpp(void)
{
    if (!atomic_load(&recording))
        return;
    writer.rank = scorep->SCOREP_Ipc_GetRank();
    writer.ranks = scorep->SCOREP_Ipc_GetSize();
    /* Signals are the program's. */
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    collecting = !pthread_create(&thread, &attributes, collector, NULL);
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!collecting)
        complain("no thread could be started, all is told at the end", NULL);
}

static void finalize(void)
{
    if (!atomic_exchange(&recording, 0))
        return;
    if (!collecting) {
        finish();
        return;
    }
    atomic_store(&stop, 1);
    syscall(SYS_futex, &stop, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    /* A file system that hangs must not hold up the program: the thread is left behind then. */
    uint64_t give_up = clock_now() + PATIENCE * UINT64_C(1000000);
    while (!atomic_load(&stopped) && clock_now() < give_up) {
        struct timespec patience = {.tv_nsec = 100000000};
        syscall(SYS_futex, &stopped, FUTEX_WAIT_PRIVATE, 0, &patience, NULL, 0);
    }
}

static uint32_t get_event_functions(SCOREP_Substrates_Mode mode, SCOREP_Substrates_Callback **functions)
{
    static SCOREP_Substrates_Callback events[SCOREP_SUBSTRATES_NUM_EVENTS], none[SCOREP_SUBSTRATES_NUM_EVENTS];
    events[SCOREP_EVENT_IO_OPERATION_BEGIN] = (SCOREP_Substrates_Callback)begin;
    events[SCOREP_EVENT_IO_OPERATION_COMPLETE] = (SCOREP_Substrates_Callback)complete;
    events[SCOREP_EVENT_IO_OPERATION_CANCELLED] = (SCOREP_Substrates_Callback)cancelled;
    *functions = mode == SCOREP_SUBSTRATES_RECORDING_ENABLED && atomic_load(&recording) ? events : none;
    return SCOREP_SUBSTRATES_NUM_EVENTS;
}

__attribute__((visibility("default"))) SCOREP_SUBSTRATE_PLUGIN_ENTRY(iostrata)
{
    return (SCOREP_SubstratePluginInfo){
        .plugin_version = SCOREP_SUBSTRATE_PLUGIN_VERSION,
        .init = init,
        .assign_id = assign_id,
        .init_mpp = init_mpp,
        .finalize = finalize,
        .get_event_functions = get_event_functions,
        .set_callbacks = set_callbacks,
    };
}
