/* Calls of I/O libraries recorded as regions with parameters by an unmodified Score-P: what all libraries share.
 *
 * A wrapper bears the name of the library's function, so that a preloaded adapter is called in its place. It finds the
 * function of the library that its caller means, calls it between Enter and Leave, and then writes what is known of the
 * call as parameters. What the adapter asks the library for is asked of that library's own functions, past the wrappers,
 * and only after a call that did not fail, as a question may clear the library's stack of errors. */
#ifndef IOSTRATA_LAYERS_H
#define IOSTRATA_LAYERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_QUESTIONS = 24 };

/* A library as it is loaded; a process may have two of a kind (HDF5 with and without MPI). */
struct instance {
    const void *base;
    struct instance *next;
    bool complete; /* whether it answers all that is needed */
    void (*questions[MOST_QUESTIONS])(void); /* in the order of the library's names; NULL where there is none */
};

struct library {
    const char *layer;     /* the group of its regions */
    const char *header;    /* their source file */
    unsigned bit;          /* in the set of libraries that a thread is inside of */
    const char *files;     /* what names of its files begin with */
    unsigned needed;       /* of its questions, the first; without them nothing is recorded */
    const char *questions[MOST_QUESTIONS + 1];
    _Atomic(struct instance *) instances;
};

/* Callers within [low, low + size) mean `real`. */
struct place {
    uintptr_t low, size;
    void (*real)(void);
    const struct instance *instance;
    struct place *next;
};

struct function {
    const char *name;
    struct library *library;
    _Atomic(struct place *) places;
    uint32_t region;
    int filtered;
    _Atomic int defined;
    _Atomic bool missing;
};

struct call {
    struct function *function;
    const struct instance *instance;
    void (*real)(void);
    bool recorded;
    const void *outer; /* the function that this thread called before */
    int previous; /* Score-P's state outside of the wrapped function */
};

/* Finds the function that is meant; without one `real` is NULL. */
void call_finds(struct call *call, struct function *function, const void *caller);
/* Whether the call may be recorded: Score-P is there, and the thread is not inside of this library already. */
bool call_recordable(const struct call *call);
/* Enters its region where it may be recorded. */
void call_enters(struct call *call);
/* The wrapped function has returned; what follows is the adapter's. Tells whether parameters are to be written. */
bool call_returned(struct call *call);
void call_ends(struct call *call);

void tell_bytes(uint64_t bytes);
void tell_handle(int64_t handle);
void tell_parent(int64_t parent);
void tell_file(const char *path);
void tell_name(const char *name);
void tell_collective(bool collective);
/* Whether a transfer is of another variable than the thread's last one in this library, since the last open: then it
 * is worth its name, which costs as much as all numbers that are told. */
bool is_other_variable(const struct call *call, int64_t handle, int64_t variable);
void tell_request(int64_t request);
void tell_failed(int64_t code);

/* What is known of handles: a number each, not 0. Full tables forget; nobody waits. */
enum { FACTS = 8192, FACT_PROBES = 64 };
struct facts {
    struct fact {
        _Atomic uint64_t key; /* 0: never used, 1: given up */
        _Atomic int64_t value;
    } facts[FACTS];
    _Atomic unsigned known;
};
void facts_set(struct facts *facts, uint64_t key, int64_t value); /* 0 forgets */
int64_t facts_get(struct facts *facts, uint64_t key);
/* The next key from place `*at` on, which moves behind it; 0 behind the last. */
uint64_t facts_next(struct facts *facts, unsigned *at);

#define EXPORTED __attribute__((visibility("default")))

/* The name of a function's record. */
#define FUNCTION_OF(symbol) function_of_##symbol

/* Defines what a wrapper `symbol` needs and opens its body; `failure` is what it returns where no library has it. */
#define WRAPPER(result, library_, symbol, parameters, failure)                                   \
    EXPORTED result symbol parameters;                                                           \
    static struct function FUNCTION_OF(symbol) = {.name = #symbol, .library = &(library_)};      \
    EXPORTED result symbol parameters {                                                          \
        const result none = failure;                                                             \
        __typeof__(&symbol) real;                                                                \
        struct call call;                                                                        \
        call_finds(&call, &FUNCTION_OF(symbol), __builtin_return_address(0));                    \
        if (!call.real) return none;                                                             \
        call_enters(&call);                                                                      \
        real = (__typeof__(&symbol))call.real;

/* Closes it: the call itself, and what is told of it by `telling`, in which `result` is what it returned. */
#define CALLED(result_, arguments, ...)                                                          \
        result_ result = real arguments;                                                         \
        if (call_returned(&call)) { __VA_ARGS__ }                                                \
        call_ends(&call);                                                                        \
        return result;                                                                           \
    }

/* Question number `number` of the library that was called, as `type`; NULL where it has no such function. */
#define ASK(call, number, type) ((type)(call)->instance->questions[number])

#endif
