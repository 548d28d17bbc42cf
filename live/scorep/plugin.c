/* Score-P substrate plugin "iostrata": what each layer of I/O moves, told while the program runs.
 *
 * A thread that does I/O adds up its operations in its place of the memory that it shares with the collector, which
 * hands the sums over as lines several times a second. An operation waits for nobody, and nothing is allocated after a
 * thread's first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <scorep/SCOREP_SubstrateEvents.h>
#include <scorep/SCOREP_SubstratePlugins.h>

#include "bins.h"
#include "clock.h"
#include "collector.h"
#include "file_rules.h"

enum {
    IN_FLIGHT = 1100,     /* operations of a thread: a writev is up to 1024 that begin before the first ends */
    NON_BLOCKING = 1024,  /* operations of a process that were issued and have not ended */
    KNOWN = 128,          /* handles that a thread remembers; a power of two */
    NARROWEST = 21, /* what fits into BINS_SLOTS between two visits of the collector */
    WIDEST = 40,
    DEFAULT_SHIFT = 23    /* bins of 2^23 ns, 8.4 ms */
};

enum { ASIDE = BINS_SERIES, ENDED };

static const uint64_t UNDEFINED_BYTES = UINT64_MAX;

_Static_assert((int)SCOREP_NUM_IO_PARADIGMS <= BINS_LAYERS, "this Score-P has more I/O paradigms than bins.h has layers");

struct operation {
    uint64_t id, start; /* what clock_stamp returned */
    SCOREP_IoHandleHandle handle;
    unsigned series;
};

struct known {
    SCOREP_IoHandleHandle handle;
    unsigned series;
};

struct thread {
    _Alignas(64) struct place *place; /* NULL before the first operation and while the thread is not active */
    struct clock_line clock;
    unsigned depth, next_ended;
    struct known last;
    struct operation open[IN_FLIGHT]; /* by begin; those that have ENDED stay until all behind them have */
    struct known known[KNOWN];
};

/* Functions of Score-P's measurement library. They are no part of the interface of substrate plugins, which does not
 * tell what kind of handle an event is on; they are exported by every shared Score-P that records I/O. */
static SCOREP_IoParadigmType (*handle_paradigm)(SCOREP_IoHandleHandle);
static SCOREP_IoFileHandle (*handle_file)(SCOREP_IoHandleHandle);
static const char *(*file_name)(SCOREP_IoFileHandle);

static const SCOREP_SubstratePluginCallbacks *scorep;
static size_t plugin;
static int all_files;
static char node[256];
static struct shared *shared;
static bool collecting; /* whether there is a process for it */
static _Atomic int recording; /* 0 before the start, after the end, and in a forked child */

static struct {
    pthread_mutex_t lock; /* among threads of the program only */
    _Atomic unsigned count;
    unsigned forgotten; /* begins for which there was no room */
    struct operation open[NON_BLOCKING]; /* in the order of their begins */
} non_blocking = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct {
    pthread_mutex_t lock;
    unsigned count;
    struct place *place[PLACES];
} free_places = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void complain(const char *what)
{
    char line[512];
    snprintf(line, sizeof line, "iostrata: %s\n", what);
    sink_complain(line);
}

/* ---- events ---- */

static unsigned series_of(struct thread *thread, SCOREP_IoHandleHandle handle)
{
    if (thread->last.handle == handle)
        return thread->last.series;
    struct known *known = &thread->known[(handle ^ handle >> 7) % KNOWN];
    if (known->handle == handle) {
        thread->last = *known;
        return known->series;
    }
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
    thread->last = *known = (struct known){handle, series};
    return series;
}

static struct place *find_place(void)
{
    pthread_mutex_lock(&free_places.lock);
    struct place *place = free_places.count ? free_places.place[--free_places.count] : collector_place(shared);
    pthread_mutex_unlock(&free_places.lock);
    return place;
}

static struct thread *new_thread(const struct SCOREP_Location *location, uint64_t stamp)
{
    struct thread *thread = scorep->SCOREP_Location_GetData(location, plugin);
    if (!thread) {
        thread = aligned_alloc(_Alignof(struct thread), sizeof *thread);
        if (!thread)
            return NULL;
        memset(thread, 0, sizeof *thread);
        clock_check(&shared->clock, stamp);
        clock_copy(&shared->clock, &thread->clock);
        scorep->SCOREP_Location_SetData(location, plugin, thread);
    }
    if (!thread->place)
        thread->place = find_place();
    return thread->place ? thread : NULL;
}

/* Returns what a thread has of ours, NULL where there is no room for it. */
static struct thread *thread_of(const struct SCOREP_Location *location, uint64_t stamp)
{
    static _Thread_local struct {
        const struct SCOREP_Location *location;
        struct thread *thread;
    } here __attribute__((tls_model("initial-exec")));
    if (here.location != location || !here.thread || !here.thread->place) {
        here.location = location;
        here.thread = new_thread(location, stamp);
    }
    return here.thread;
}

/* A thread that ends leaves its place, and what is in it, to the next one. */
static void leave_place(const struct SCOREP_Location *location, const struct SCOREP_Location *parent)
{
    (void)parent;
    if (!atomic_load(&recording))
        return;
    struct thread *thread = scorep->SCOREP_Location_GetData(location, plugin);
    if (!thread || !thread->place)
        return;
    thread->depth = 0;
    atomic_store(&thread->place->open_since, NEVER);
    pthread_mutex_lock(&free_places.lock);
    free_places.place[free_places.count++] = thread->place;
    pthread_mutex_unlock(&free_places.lock);
    thread->place = NULL;
}

/* Nanoseconds since the origin. */
static uint64_t time_of(const struct thread *thread, uint64_t stamp)
{
    uint64_t time = clock_time(&thread->clock, stamp);
    return time > shared->writer.origin ? time - shared->writer.origin : 0;
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
    struct operation operation = {id, clock_stamp(&shared->clock, &thread->clock, stamp), handle, series};
    if (flags & SCOREP_IO_OPERATION_FLAG_NON_BLOCKING) {
        pthread_mutex_lock(&non_blocking.lock);
        if (non_blocking.count < NON_BLOCKING) {
            non_blocking.open[non_blocking.count++] = operation;
            atomic_store(&shared->non_blocking_since, non_blocking.open[0].start);
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
        atomic_store_explicit(&thread->place->open_since, operation.start, memory_order_relaxed);
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
            atomic_store(&shared->non_blocking_since, non_blocking.count ? non_blocking.open[0].start : NEVER);
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
            atomic_store_explicit(&thread->place->open_since, NEVER, memory_order_relaxed);
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
    if (!thread) {
        if (bytes != UNDEFINED_BYTES)
            atomic_fetch_add(&shared->dropped, bytes);
        return;
    }
    struct operation operation = {.series = ASIDE};
    int found = take(thread, handle, id, &operation);
    if (operation.series == ASIDE && found >= 0)
        return;
    uint64_t end = clock_stamp(&shared->clock, &thread->clock, stamp);
    if (found < 0) {
        operation = (struct operation){.series = series_of(thread, handle), .start = end};
        if (operation.series != ASIDE)
            operation.series += mode == SCOREP_IO_OPERATION_MODE_WRITE;
    }
    if (operation.series != ASIDE)
        place_add(thread->place, operation.series, time_of(thread, operation.start), time_of(thread, end),
            bytes == UNDEFINED_BYTES ? 0 : bytes);
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

/* ---- management ---- */

static void in_child(void)
{
    /* A forked child has neither our thread nor, with Score-P, a measurement; what is in memory is the parent's. */
    atomic_store(&recording, 0);
}

static unsigned shift_of(const char *width)
{
    char *end;
    double seconds = strtod(width, &end);
    unsigned found = NARROWEST;
    if (end == width || !(seconds > 0)) {
        complain("IOSTRATA_LIVE_WIDTH is no number of seconds, bins are 0.008388608 s");
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
        complain("IOSTRATA_LIVE is not set, nothing is told: give it a folder, or unix:PATH of a socket");
        return 0;
    }
    *(void **)&handle_paradigm = dlsym(RTLD_DEFAULT, "SCOREP_IoHandleHandle_GetIoParadigm");
    *(void **)&handle_file = dlsym(RTLD_DEFAULT, "SCOREP_IoHandleHandle_GetIoFile");
    *(void **)&file_name = dlsym(RTLD_DEFAULT, "SCOREP_IoFileHandle_GetFileName");
    if (!handle_paradigm || !handle_file || !file_name) {
        complain("this Score-P does not tell the layer of an I/O handle (or is linked statically), nothing is told");
        return 0;
    }
    if (gethostname(node, sizeof node - 1))
        snprintf(node, sizeof node, "unknown");
    snprintf(name, sizeof name, "%s-%ld.jsonl", node, (long)getpid());
    shared = collector_share(width && *width ? shift_of(width) : DEFAULT_SHIFT);
    if (!shared) {
        complain("no memory, nothing is told");
        return 0;
    }
    if (!sink_choose(&shared->sink, target, name)) {
        complain("IOSTRATA_LIVE is too long, nothing is told");
        return 0;
    }
    if (pthread_atfork(NULL, NULL, in_child)) {
        complain("no memory, nothing is told");
        return 0;
    }
    all_files = files && !strcmp(files, "all");
    clock_start(&shared->clock, getenv("SCOREP_TIMER"));
    shared->writer = (struct writer){.node = node, .program = program_invocation_short_name, .process = (long)getpid(),
        .origin = clock_now(&shared->clock) >> shared->shift << shared->shift};
#define SCOREP_IO_PARADIGM(upper, lower, name) shared->writer.layers[SCOREP_IO_PARADIGM_##upper] = name;
    SCOREP_IO_PARADIGMS
#undef SCOREP_IO_PARADIGM
    atomic_store(&recording, 1);
    /* Now, before MPI begins: its networks do not go well with processes that split off. */
    collecting = collector_start(shared);
    if (!collecting)
        complain("no process could be started, all is told at the end");
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
    shared->writer.rank = scorep->SCOREP_Ipc_GetRank();
    shared->writer.ranks = scorep->SCOREP_Ipc_GetSize();
    atomic_store(&shared->ready, 1);
}

static void finalize(void)
{
    if (atomic_exchange(&recording, 0))
        collector_stop(shared, collecting);
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
        .deactivate_cpu_location = leave_place,
        .get_event_functions = get_event_functions,
        .set_callbacks = set_callbacks,
    };
}
