/* ADIOS2's C interface: engines, steps, puts and gets. A handle is an engine's address. */
#include "layers.h"

typedef uintptr_t word; /* an MPI_Comm: a pointer or an int */

enum { LONGEST_NAME = 4096 };
enum { SELECTION, VARIABLE_TYPE, VARIABLE_NAME, INQUIRE };

static struct library adios2 = {
    .layer = "ADIOS",
    .header = "adios2_c.h",
    .bit = 8,
    .files = "libadios2_c",
    .needed = INQUIRE + 1,
    .questions = {"adios2_selection_size", "adios2_variable_type", "adios2_variable_name", "adios2_inquire_variable"},
};

/* The adios2_io that an engine was opened with, which is what knows variables by name. */
static struct facts io_of;

static bool succeeded(int error) {
    if (error) tell_failed(error);
    return error == 0;
}

/* Bytes of an element by adios2_type: string, float, double, their complex forms, int8 … 64, uint8 … 64, long double. */
static uint64_t type_size(int type) {
    static const uint8_t sizes[] = {0, 4, 8, 8, 16, 1, 2, 4, 8, 1, 2, 4, 8, sizeof(long double)};
    return type > 0 && type < (int)sizeof sizes ? sizes[type] : 0;
}

static void tell_transfer(const struct call *call, void *engine, const void *variable, int error) {
    tell_handle((intptr_t)engine);
    if (!succeeded(error) || !variable) return;
    size_t elements, length = 0;
    int type;
    char name[LONGEST_NAME + 1];
    if (!ASK(call, VARIABLE_TYPE, int (*)(int *, const void *))(&type, variable) && type_size(type) &&
        !ASK(call, SELECTION, int (*)(size_t *, const void *))(&elements, variable))
        tell_bytes(elements * type_size(type));
    if (!is_other_variable(call, (intptr_t)engine, (intptr_t)variable)) return;
    int (*name_of)(char *, size_t *, const void *) = ASK(call, VARIABLE_NAME, int (*)(char *, size_t *, const void *));
    if (name_of(NULL, &length, variable) || length > LONGEST_NAME || name_of(name, &length, variable)) return;
    name[length] = '\0';
    tell_name(name);
}

static const void *named(const struct call *call, void *engine, const char *name) {
    int64_t io = facts_get(&io_of, (uintptr_t)engine);
    return io ? ASK(call, INQUIRE, void *(*)(void *, const char *))((void *)(intptr_t)io, name) : NULL;
}

static void tell_opened(const char *path, void *io, void *engine) {
    tell_file(path);
    if (!engine) {
        tell_failed(-1);
        return;
    }
    tell_handle((intptr_t)engine);
    facts_set(&io_of, (uintptr_t)engine, (intptr_t)io);
}

#define LIST(...) __VA_ARGS__
#define CALL(result_, symbol, parameters, arguments, failure, ...)      \
    WRAPPER(result_, adios2, symbol, (parameters), failure)             \
    CALLED(result_, (arguments), __VA_ARGS__)
#define ON_ENGINE(symbol, parameters, arguments)                        \
    CALL(int, symbol, LIST(parameters), LIST(arguments), -1, tell_handle((intptr_t)engine); succeeded(result);)

typedef void *engine_address;

CALL(engine_address, adios2_open, LIST(void *io, const char *path, int mode), LIST(io, path, mode), NULL,
     tell_opened(path, io, result);)
CALL(engine_address, adios2_open_new_comm, LIST(void *io, const char *path, int mode, word comm), LIST(io, path, mode, comm), NULL,
     tell_opened(path, io, result);)
CALL(engine_address, adios2_open_with_metadata, LIST(void *io, const char *path, const char *metadata, size_t size),
     LIST(io, path, metadata, size), NULL, tell_opened(path, io, result);)
CALL(int, adios2_close, LIST(void *engine), LIST(engine), -1, tell_handle((intptr_t)engine);
     if (succeeded(result)) facts_set(&io_of, (uintptr_t)engine, 0);)

ON_ENGINE(adios2_begin_step, LIST(void *engine, int mode, float timeout, int *status), LIST(engine, mode, timeout, status))
ON_ENGINE(adios2_end_step, LIST(void *engine), LIST(engine))
ON_ENGINE(adios2_perform_puts, LIST(void *engine), LIST(engine))
ON_ENGINE(adios2_perform_data_write, LIST(void *engine), LIST(engine))
ON_ENGINE(adios2_perform_gets, LIST(void *engine), LIST(engine))
ON_ENGINE(adios2_flush, LIST(void *engine), LIST(engine))
ON_ENGINE(adios2_flush_by_index, LIST(void *engine, int transport), LIST(engine, transport))
ON_ENGINE(adios2_close_by_index, LIST(void *engine, int transport), LIST(engine, transport))

CALL(int, adios2_put, LIST(void *engine, void *variable, const void *data, int launch), LIST(engine, variable, data, launch), -1,
     tell_transfer(&call, engine, variable, result);)
CALL(int, adios2_get, LIST(void *engine, void *variable, void *data, int launch), LIST(engine, variable, data, launch), -1,
     tell_transfer(&call, engine, variable, result);)
CALL(int, adios2_put_by_name, LIST(void *engine, const char *name, const void *data, int launch), LIST(engine, name, data, launch),
     -1, tell_transfer(&call, engine, result ? NULL : named(&call, engine, name), result);)
CALL(int, adios2_get_by_name, LIST(void *engine, const char *name, void *data, int launch), LIST(engine, name, data, launch), -1,
     tell_transfer(&call, engine, result ? NULL : named(&call, engine, name), result);)
