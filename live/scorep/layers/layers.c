/* What all libraries share: functions found for their callers, regions and parameters by Score-P's public interface. */
#define _GNU_SOURCE
#include "layers.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <scorep/SCOREP_Libwrap.h>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-variable"
#include <scorep/SCOREP_User_Functions.h>
#pragma GCC diagnostic pop

/* Score-P may not be there: then all of these are NULL, and calls pass through. */
#pragma weak SCOREP_Libwrap_Create
#pragma weak SCOREP_Libwrap_DefineRegion
#pragma weak SCOREP_Libwrap_EnterMeasurement
#pragma weak SCOREP_Libwrap_ExitMeasurement
#pragma weak SCOREP_Libwrap_EnterRegion
#pragma weak SCOREP_Libwrap_ExitRegion
#pragma weak SCOREP_Libwrap_EnterWrappedRegion
#pragma weak SCOREP_Libwrap_ExitWrappedRegion
#pragma weak SCOREP_User_ParameterInt64
#pragma weak SCOREP_User_ParameterUint64
#pragma weak SCOREP_User_ParameterString

enum { MOST_MODULES = 1024, LONGEST_PATH = 4096, MOST_LIBRARIES = 8 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for what is made once: places, instances, regions */
static _Atomic bool recording;                           /* whether Score-P is there and this is no forked child */
static bool all_threads; /* whether Score-P knows of other threads than the first */

/* A thread's own: the libraries that it is inside of, and the function that the adapter called last, whose tail calls
 * seem to come from the adapter. */
static __thread unsigned inside __attribute__((tls_model("initial-exec")));
static __thread const void *innermost __attribute__((tls_model("initial-exec")));

/* ---- which function a caller means -------------------------------------------------------------------------------- */

struct module {
    uintptr_t address; /* one within it, or 0 */
    uintptr_t low, high;
    char path[LONGEST_PATH];
    bool found;
};

static int holds_address(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct module *module = data;
    uintptr_t low = UINTPTR_MAX, high = 0;
    bool within = false;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD) continue;
        uintptr_t begin = info->dlpi_addr + header->p_vaddr, end = begin + header->p_memsz;
        if (begin < low) low = begin;
        if (end > high) high = end;
        within |= module->address >= begin && module->address < end;
    }
    if (!within) return 0;
    module->low = low;
    module->high = high;
    module->found = true;
    snprintf(module->path, sizeof module->path, "%s", info->dlpi_name ? info->dlpi_name : "");
    return 1;
}

struct paths {
    const char *beginning; /* of the names of files that are wanted */
    char *path[MOST_MODULES];
    unsigned count;
};

static int is_wanted(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct paths *paths = data;
    const char *name = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
    if (name && paths->count < MOST_MODULES && !strncmp(name + 1, paths->beginning, strlen(paths->beginning)))
        paths->path[paths->count++] = strdup(info->dlpi_name);
    return 0;
}

/* The function in what the module at `path` sees without the adapter. It stays loaded, as its address is kept. */
static void *seen_from(const char *path, const char *name) {
    void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    return handle ? dlsym(handle, name) : NULL;
}

/* Where the adapter itself begins and ends, from the linker. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address) { return (const char *)address >= __ehdr_start && (const char *)address < _end; }

static void *usable(void *found) { return found && !is_ours(found) ? found : NULL; }

/* What the caller's own libraries have comes first: a process may have two of a kind, and those that were opened by
 * dlopen are in no global scope. */
static void *found_for(const struct function *function, const struct module *module) {
    void *found = NULL;
    if (module->found && module->path[0]) found = usable(seen_from(module->path, function->name));
    if (!found) found = usable(dlsym(RTLD_NEXT, function->name));
    if (!found) {
        struct paths paths = {.beginning = function->library->files};
        dl_iterate_phdr(is_wanted, &paths);
        for (unsigned i = 0; i < paths.count; i++) {
            if (!found && paths.path[i]) found = usable(seen_from(paths.path[i], function->name));
            free(paths.path[i]);
        }
    }
    return found;
}

static const struct instance *instance_of(struct library *library, void *real) {
    Dl_info info;
    if (!dladdr(real, &info)) return NULL;
    for (struct instance *one = atomic_load(&library->instances); one; one = one->next)
        if (one->base == info.dli_fbase) return one;
    struct instance *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    made->base = info.dli_fbase;
    made->complete = true;
    void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned i = 0; library->questions[i]; i++) {
        /* A library that is linked into the program has no handle of its own. */
        void *answer = handle ? dlsym(handle, library->questions[i]) : dlsym(RTLD_NEXT, library->questions[i]);
        if (is_ours(answer)) answer = dlsym(RTLD_NEXT, library->questions[i]);
        made->questions[i] = (void (*)(void))answer;
    }
    for (unsigned i = 0; i < library->needed; i++) made->complete &= made->questions[i] != NULL;
    made->next = atomic_load(&library->instances);
    atomic_store(&library->instances, made);
    return made;
}

static const struct place *known_place(struct function *function, uintptr_t caller) {
    const struct place *place = atomic_load_explicit(&function->places, memory_order_acquire);
    while (place && caller - place->low >= place->size) place = place->next;
    return place;
}

static const struct place *new_place(struct function *function, uintptr_t caller) {
    struct module *module = calloc(1, sizeof *module);
    struct place *made = calloc(1, sizeof *made);
    if (!module || !made) {
        free(module);
        free(made);
        return NULL;
    }
    module->address = caller;
    dl_iterate_phdr(holds_address, module);
    void *real = found_for(function, module);
    if (!real) {
        if (!atomic_exchange(&function->missing, true))
            fprintf(stderr, "iostrata: the program calls %s, which no library has that is loaded\n", function->name);
        free(module);
        free(made);
        return NULL;
    }
    made->low = module->found ? module->low : caller;
    made->size = module->found ? module->high - module->low : 1;
    free(module);
    pthread_mutex_lock(&lock);
    made->real = (void (*)(void))real;
    made->instance = instance_of(function->library, real);
    made->next = atomic_load(&function->places);
    atomic_store_explicit(&function->places, made, memory_order_release);
    pthread_mutex_unlock(&lock);
    return made;
}

static const struct place *place_of(struct function *function, const void *caller) {
    /* A function that the adapter called and that ends in a jump to this one leaves the adapter's address. */
    if (innermost && is_ours(caller)) caller = innermost;
    const struct place *place = known_place(function, (uintptr_t)caller);
    return place ? place : new_place(function, (uintptr_t)caller);
}

/* ---- regions ------------------------------------------------------------------------------------------------------ */

static void define_region(struct function *function) {
    pthread_mutex_lock(&lock);
    if (!function->defined) {
        static struct {
            const struct library *library;
            SCOREP_LibwrapAttributes attributes;
            SCOREP_LibwrapHandle *handle;
        } known[8];
        unsigned i = 0;
        while (known[i].library && known[i].library != function->library) i++;
        if (!known[i].library) {
            known[i].library = function->library;
            known[i].attributes = (SCOREP_LibwrapAttributes){
                .version = SCOREP_LIBWRAP_VERSION,
                .name = function->library->layer,
                .display_name = function->library->layer,
                .mode = SCOREP_LIBWRAP_MODE_WEAK,
            };
            SCOREP_Libwrap_Create(&known[i].handle, &known[i].attributes);
        }
        function->region = SCOREP_INVALID_REGION;
        SCOREP_Libwrap_DefineRegion(known[i].handle, &function->region, &function->filtered, function->name,
                                    function->name, function->library->header, 1);
        atomic_store_explicit(&function->defined, 1, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

static bool is_first_thread(void) { return syscall(SYS_gettid) == getpid(); }

void call_finds(struct call *call, struct function *function, const void *caller) {
    const struct place *place = place_of(function, caller);
    *call = (struct call){.function = function, .outer = innermost};
    if (!place) return;
    call->real = place->real;
    call->instance = place->instance;
    innermost = (const void *)call->real;
}

bool call_recordable(const struct call *call) {
    return atomic_load_explicit(&recording, memory_order_relaxed) && call->instance && call->instance->complete &&
           !(inside & call->function->library->bit) && (all_threads || is_first_thread());
}

void call_enters(struct call *call) {
    struct function *function = call->function;
    if (!call_recordable(call)) return;
    if (SCOREP_Libwrap_EnterMeasurement()) {
        if (!atomic_load_explicit(&function->defined, memory_order_acquire)) define_region(function);
        call->recorded = !function->filtered;
    }
    if (!call->recorded) {
        SCOREP_Libwrap_ExitMeasurement();
        return;
    }
    inside |= function->library->bit;
    SCOREP_Libwrap_EnterRegion(function->region);
    call->previous = SCOREP_Libwrap_EnterWrappedRegion();
}

bool call_returned(struct call *call) {
    innermost = call->outer;
    if (!call->recorded) return false;
    SCOREP_Libwrap_ExitWrappedRegion(call->previous);
    /* The child of a fork inside of the call has no say. */
    return atomic_load_explicit(&recording, memory_order_relaxed);
}

void call_ends(struct call *call) {
    if (!call->recorded) return;
    inside &= ~call->function->library->bit;
    if (atomic_load_explicit(&recording, memory_order_relaxed)) SCOREP_Libwrap_ExitRegion(call->function->region);
    SCOREP_Libwrap_ExitMeasurement();
}

#define TELLING(name, kind, type, argument, value)                                     \
    void tell_##name(argument) {                                                       \
        static SCOREP_User_ParameterHandle handle = SCOREP_USER_INVALID_PARAMETER;     \
        SCOREP_User_Parameter##kind(&handle, "iostrata:" #name, (type)(value));        \
    }

TELLING(bytes, Uint64, uint64_t, uint64_t bytes, bytes)
TELLING(handle, Int64, int64_t, int64_t number, number)
TELLING(parent, Int64, int64_t, int64_t parent, parent)
TELLING(name, String, const char *, const char *text, text ? text : "")
TELLING(collective, Uint64, uint64_t, bool collective, collective)
TELLING(request, Int64, int64_t, int64_t request, request)
TELLING(failed, Int64, int64_t, int64_t code, code)

static _Atomic unsigned opens = 1; /* files that were opened; their handles' numbers may mean others then */

bool is_other_variable(const struct call *call, int64_t handle, int64_t variable) {
    static __thread struct {
        int64_t handle, variable;
        unsigned opens;
    } last[MOST_LIBRARIES] __attribute__((tls_model("initial-exec")));
    int library = __builtin_ctz(call->function->library->bit);
    unsigned now = atomic_load_explicit(&opens, memory_order_relaxed);
    if (last[library].opens == now && last[library].handle == handle && last[library].variable == variable) return false;
    last[library].handle = handle;
    last[library].variable = variable;
    last[library].opens = now;
    return true;
}

/* A path as the lower layers know it. */
void tell_file(const char *path) {
    static SCOREP_User_ParameterHandle handle = SCOREP_USER_INVALID_PARAMETER;
    atomic_fetch_add_explicit(&opens, 1, memory_order_relaxed);
    char whole[2 * LONGEST_PATH];
    if (path && path[0] != '/' && !strstr(path, ":/") && getcwd(whole, LONGEST_PATH)) {
        size_t length = strlen(whole);
        snprintf(whole + length, sizeof whole - length, "/%s", !strncmp(path, "./", 2) ? path + 2 : path);
        path = whole;
    }
    SCOREP_User_ParameterString(&handle, "iostrata:file", path ? path : "");
}

/* ---- what is known of handles ------------------------------------------------------------------------------------- */

static struct fact *fact_of(struct facts *facts, uint64_t key, bool make) {
    uint64_t at = key * 0x9E3779B97F4A7C15u >> 32;
    struct fact *room = NULL;
    for (unsigned i = 0; i < FACT_PROBES; i++) {
        struct fact *fact = &facts->facts[(at + i) % FACTS];
        uint64_t found = atomic_load_explicit(&fact->key, memory_order_acquire);
        if (found == key) return fact;
        if (found <= 1 && !room) room = fact;
        if (found == 0) break;
    }
    if (!make || !room) return NULL;
    uint64_t found = atomic_load(&room->key);
    return found <= 1 && atomic_compare_exchange_strong(&room->key, &found, key) ? room : NULL;
}

void facts_set(struct facts *facts, uint64_t key, int64_t value) {
    struct fact *fact = key > 1 ? fact_of(facts, key, value != 0) : NULL;
    if (!fact) return;
    atomic_store(&fact->value, value);
    if (value) atomic_store_explicit(&facts->known, 1, memory_order_relaxed);
    else atomic_store(&fact->key, 1);
}

int64_t facts_get(struct facts *facts, uint64_t key) {
    if (key <= 1 || !atomic_load_explicit(&facts->known, memory_order_relaxed)) return 0;
    struct fact *fact = fact_of(facts, key, false);
    return fact ? atomic_load(&fact->value) : 0;
}

uint64_t facts_next(struct facts *facts, unsigned *at) {
    while (atomic_load_explicit(&facts->known, memory_order_relaxed) && *at < FACTS) {
        uint64_t key = atomic_load(&facts->facts[(*at)++].key);
        if (key > 1) return key;
    }
    return 0;
}

/* ---- what Score-P does not wrap ------------------------------------------------------------------------------------ */

#ifdef __LP64__
EXPORTED int fcntl64(int descriptor, int command, ...);

/* Programs that are built for large files call fcntl by this name, which Score-P does not wrap. By it Python duplicates
 * the descriptor that numpy writes and reads arrays through: nothing would be known of that. With the other name Score-P
 * takes all handles that are opened later for parts of this one, so it is told of a dup. */
EXPORTED int fcntl64(int descriptor, int command, ...) {
    static int (*_Atomic real)(int, int, ...);
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (!real) real = (int (*)(int, int, ...))dlsym(RTLD_NEXT, "fcntl64");
    if (command != F_DUPFD_CLOEXEC || (int)(intptr_t)argument != 0) return real(descriptor, command, argument);
    int duplicate = dup(descriptor);
    if (duplicate >= 0) real(duplicate, F_SETFD, FD_CLOEXEC);
    return duplicate;
}
#endif

/* ---- the process -------------------------------------------------------------------------------------------------- */

static struct library system_library = {.layer = "system", .header = "unistd.h", .bit = 1u << (MOST_LIBRARIES - 1)};
static struct function forking = {.name = "fork", .library = &system_library};

/* A region without a length, so that the trace has that there are children whose calls are not in it. */
static void in_parent(void) {
    struct call call = {.function = &forking};
    static const struct instance whole = {.complete = true};
    call.instance = &whole;
    call_enters(&call);
    call_returned(&call);
    call_ends(&call);
}

static void in_child(void) { atomic_store(&recording, false); }

__attribute__((constructor)) static void start(void) {
    bool there = SCOREP_Libwrap_Create && SCOREP_Libwrap_DefineRegion && SCOREP_Libwrap_EnterMeasurement &&
                 SCOREP_Libwrap_ExitMeasurement && SCOREP_Libwrap_EnterRegion && SCOREP_Libwrap_ExitRegion &&
                 SCOREP_Libwrap_EnterWrappedRegion && SCOREP_Libwrap_ExitWrappedRegion &&
                 SCOREP_User_ParameterInt64 && SCOREP_User_ParameterUint64 && SCOREP_User_ParameterString;
    all_threads = dlsym(RTLD_DEFAULT, "SCOREP_ThreadCreateWait_Create") || dlsym(RTLD_DEFAULT, "SCOREP_ThreadForkJoin_Fork");
    pthread_atfork(NULL, in_parent, in_child);
    atomic_store(&recording, there);
    /* Only this program is to be recorded: those that it starts would write into the same archive. */
    const char *before = getenv("IOSTRATA_PRELOAD_BEFORE");
    if (before) {
        if (before[0]) setenv("LD_PRELOAD", before, 1);
        else unsetenv("LD_PRELOAD");
        unsetenv("IOSTRATA_PRELOAD_BEFORE");
    }
}
