/* PnetCDF: files, variables in every shape and type, blocking (each rank for itself or all together) and non-blocking with
 * its waits, several variables or parts at once, attributes. */
#define _GNU_SOURCE
#include "layers.h"

#include <dlfcn.h>

typedef long long offset; /* MPI_Offset */
typedef uintptr_t word;   /* an MPI_Comm, MPI_Info or MPI_Datatype: a pointer or an int */

enum { NC_RANGE = -60 /* data moved, some out of range */, LONGEST_NAME = 256, MOST_DIMENSIONS = 1024 };
enum { VARNDIMS, VARDIMID, DIMLEN, VARTYPE, VARNAME, ATTLEN, ATTTYPE };

static struct library pnetcdf = {
    .layer = "PnetCDF",
    .header = "pnetcdf.h",
    .bit = 4,
    .files = "libpnetcdf",
    .needed = ATTTYPE + 1,
    .questions = {"ncmpi_inq_varndims", "ncmpi_inq_vardimid", "ncmpi_inq_dimlen", "ncmpi_inq_vartype", "ncmpi_inq_varname",
                  "ncmpi_inq_attlen", "ncmpi_inq_atttype"},
};

static const uint64_t UNKNOWN = UINT64_MAX;

/* ---- how much --------------------------------------------------------------------------------------------------- */

/* Bytes of an element as it is in the file: byte, char, short, int, float, double, ubyte, ushort, uint, int64, uint64. */
static uint64_t type_size(int type) {
    static const uint8_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type > 0 && type < (int)sizeof sizes ? sizes[type] : UNKNOWN;
}

static uint64_t variable_size(const struct call *call, int ncid, int varid) {
    int type;
    return ASK(call, VARTYPE, int (*)(int, int, int *))(ncid, varid, &type) ? UNKNOWN : type_size(type);
}

static int dimensions_of(const struct call *call, int ncid, int varid) {
    int dimensions;
    return ASK(call, VARNDIMS, int (*)(int, int, int *))(ncid, varid, &dimensions) ? -1 : dimensions;
}

/* A part of a variable: with `count`, or as a whole. */
static uint64_t elements_of(const struct call *call, int ncid, int varid, const offset *count) {
    int dimensions = dimensions_of(call, ncid, varid), ids[MOST_DIMENSIONS];
    uint64_t elements = 1;
    if (dimensions < 0 || dimensions > MOST_DIMENSIONS) return UNKNOWN;
    if (!count && ASK(call, VARDIMID, int (*)(int, int, int *))(ncid, varid, ids)) return UNKNOWN;
    for (int i = 0; i < dimensions; i++) {
        offset length = 0;
        if (!count && ASK(call, DIMLEN, int (*)(int, int, offset *))(ncid, ids[i], &length)) return UNKNOWN;
        elements *= (uint64_t)(count ? count[i] : length);
    }
    return elements;
}

/* Several parts of a variable; where no counts are given, an element each. */
static uint64_t elements_of_parts(const struct call *call, int ncid, int varid, int number, offset *const *counts) {
    uint64_t elements = 0;
    for (int i = 0; i < number; i++) {
        uint64_t part = counts && counts[i] ? elements_of(call, ncid, varid, counts[i]) : 1;
        if (part == UNKNOWN) return UNKNOWN;
        elements += part;
    }
    return elements;
}

/* Bytes of `count` elements of an MPI type in memory; UNKNOWN where none is named. MPI is there when PnetCDF is. */
static uint64_t memory_bytes(offset count, word type) {
    static _Atomic uintptr_t found, null_type;
    int (*size_of)(word, int *) = (int (*)(word, int *))atomic_load(&found);
    int size;
    if (!size_of) {
        void *null = dlsym(RTLD_DEFAULT, "ompi_mpi_datatype_null"); /* Open MPI's; else MPICH's number */
        atomic_store(&null_type, null ? (uintptr_t)null : 0x0c000000u);
        size_of = (int (*)(word, int *))dlsym(RTLD_DEFAULT, "PMPI_Type_size");
        atomic_store(&found, (uintptr_t)size_of);
    }
    uintptr_t null = atomic_load(&null_type);
    if (count < 0 || !size_of || type == null || (null == 0x0c000000u && (uint32_t)type == null)) return UNKNOWN;
    return size_of(type, &size) ? UNKNOWN : (uint64_t)count * (uint64_t)size;
}

static uint64_t times(uint64_t elements, uint64_t size) { return elements == UNKNOWN || size == UNKNOWN ? UNKNOWN : elements * size; }

/* ---- what is told ------------------------------------------------------------------------------------------------- */

static bool succeeded(int status) {
    if (status) tell_failed(status);
    return status == 0;
}

static bool moved(int status) { return succeeded(status) || status == NC_RANGE; }

static void tell_variable(const struct call *call, int ncid, int varid, uint64_t bytes) {
    char name[LONGEST_NAME + 1];
    if (bytes != UNKNOWN) tell_bytes(bytes);
    if (is_other_variable(call, ncid, varid) && !ASK(call, VARNAME, int (*)(int, int, char *))(ncid, varid, name)) tell_name(name);
}

static void tell_opened(const char *path, const int *ncid, int status) {
    tell_file(path);
    if (succeeded(status) && ncid) tell_handle(*ncid);
}

static void tell_attribute(const struct call *call, int ncid, int varid, const char *name, uint64_t size, int status) {
    offset length;
    int type;
    tell_handle(ncid);
    tell_name(name);
    if (!moved(status)) return;
    if (size == 0) size = ASK(call, ATTTYPE, int (*)(int, int, const char *, int *))(ncid, varid, name, &type) ? UNKNOWN : type_size(type);
    if (ASK(call, ATTLEN, int (*)(int, int, const char *, offset *))(ncid, varid, name, &length)) return;
    uint64_t bytes = times((uint64_t)length, size);
    if (bytes != UNKNOWN) tell_bytes(bytes);
}

/* Requests that were posted and not waited for, for waits for all, which do not name them. */
enum { ALL_GETS = -2, ALL_PUTS = -3 };
enum { GET = 1, PUT = 2 };
static struct facts pending;

static uint64_t request_key(int ncid, int request) { return (uint64_t)(uint32_t)(ncid + 1) << 32 | (uint32_t)request; }

static void tell_posted(int ncid, const int *request, int direction) {
    if (!request) return;
    tell_request(*request);
    facts_set(&pending, request_key(ncid, *request), direction);
}

/* A wait names its requests before it is called, for the library then forgets them. */
static void tell_requests(const struct call *call, int ncid, int number, const int *requests) {
    if (!call->recorded) return;
    for (int i = 0; requests && i < number; i++) {
        if (requests[i] == -1) continue;
        tell_request(requests[i]);
        facts_set(&pending, request_key(ncid, requests[i]), 0);
    }
    unsigned at = 0;
    for (uint64_t key; number < 0 && (key = facts_next(&pending, &at));) {
        int64_t direction = facts_get(&pending, key);
        if (key >> 32 != (uint32_t)(ncid + 1) || number == (direction == GET ? ALL_PUTS : ALL_GETS)) continue;
        tell_request((int32_t)key);
        facts_set(&pending, key, 0);
    }
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

#define LIST(...) __VA_ARGS__
#define CALL(symbol, parameters, arguments, ...)       \
    WRAPPER(int, pnetcdf, symbol, (parameters), -1)    \
    CALLED(int, (arguments), __VA_ARGS__)

CALL(ncmpi_create, LIST(word comm, const char *path, int mode, word info, int *ncid), LIST(comm, path, mode, info, ncid),
     tell_opened(path, ncid, result);)
CALL(ncmpi_open, LIST(word comm, const char *path, int mode, word info, int *ncid), LIST(comm, path, mode, info, ncid),
     tell_opened(path, ncid, result);)

#define ON_FILE(symbol) CALL(symbol, LIST(int ncid), LIST(ncid), tell_handle(ncid); succeeded(result);)
ON_FILE(ncmpi_close)
ON_FILE(ncmpi_abort)
ON_FILE(ncmpi_enddef)
ON_FILE(ncmpi_redef)
ON_FILE(ncmpi_sync)
ON_FILE(ncmpi_sync_numrecs)
ON_FILE(ncmpi_flush)
ON_FILE(ncmpi_begin_indep_data)
ON_FILE(ncmpi_end_indep_data)
ON_FILE(ncmpi_buffer_detach)
CALL(ncmpi_buffer_attach, LIST(int ncid, offset size), LIST(ncid, size), tell_handle(ncid); succeeded(result);)
CALL(ncmpi__enddef, LIST(int ncid, offset header, offset align, offset variables, offset records),
     LIST(ncid, header, align, variables, records), tell_handle(ncid); succeeded(result);)

#define WAITING(symbol, ...)                                                                                          \
    WRAPPER(int, pnetcdf, symbol, (int ncid, int number, int *requests, int *statuses), -1)                           \
        tell_requests(&call, ncid, number, requests);                                                                       \
    CALLED(int, (ncid, number, requests, statuses), tell_handle(ncid); __VA_ARGS__ succeeded(result);)
WAITING(ncmpi_wait, tell_collective(false);)
WAITING(ncmpi_wait_all, tell_collective(true);)
WAITING(ncmpi_cancel, )

/* ---- variables ---------------------------------------------------------------------------------------------------- */

/* A transfer's forms: blocking by itself and by all, and non-blocking; `bytes` is of the part that is named. */
#define BLOCKING(symbol, collective, parameters, arguments, bytes)                                                    \
    CALL(symbol, LIST(parameters), LIST(arguments), tell_handle(ncid); tell_collective(collective);                   \
         if (moved(result)) tell_variable(&call, ncid, varid, bytes);)
#define POSTING(symbol, direction, parameters, arguments, bytes)                                                                 \
    CALL(symbol, LIST(parameters, int *request), LIST(arguments, request), tell_handle(ncid);                         \
         if (moved(result)) { tell_variable(&call, ncid, varid, bytes); tell_posted(ncid, request, direction); })
#define PUTS(rest, parameters, arguments, bytes)                                                                      \
    BLOCKING(ncmpi_put_##rest, false, LIST(parameters), LIST(arguments), bytes)                                       \
    BLOCKING(ncmpi_put_##rest##_all, true, LIST(parameters), LIST(arguments), bytes)                                  \
    POSTING(ncmpi_iput_##rest, PUT, LIST(parameters), LIST(arguments), bytes)                                              \
    POSTING(ncmpi_bput_##rest, PUT, LIST(parameters), LIST(arguments), bytes)
#define GETS(rest, parameters, arguments, bytes)                                                                      \
    BLOCKING(ncmpi_get_##rest, false, LIST(parameters), LIST(arguments), bytes)                                       \
    BLOCKING(ncmpi_get_##rest##_all, true, LIST(parameters), LIST(arguments), bytes)                                  \
    POSTING(ncmpi_iget_##rest, GET, LIST(parameters), LIST(arguments), bytes)

/* The shapes, for a type whose data are `data` (one argument, or with their number and MPI type). */
#define SHAPES(EACH, suffix, data, arguments, size_of)                                                                \
    EACH(var##suffix, LIST(int ncid, int varid, data), LIST(ncid, varid, arguments),                                  \
         size_of(elements_of(&call, ncid, varid, NULL)))                                                              \
    EACH(var1##suffix, LIST(int ncid, int varid, const offset *index, data), LIST(ncid, varid, index, arguments),     \
         size_of(1))                                                                                                  \
    EACH(vara##suffix, LIST(int ncid, int varid, const offset *start, const offset *count, data),                     \
         LIST(ncid, varid, start, count, arguments), size_of(elements_of(&call, ncid, varid, count)))                 \
    EACH(vars##suffix, LIST(int ncid, int varid, const offset *start, const offset *count, const offset *stride, data), \
         LIST(ncid, varid, start, count, stride, arguments), size_of(elements_of(&call, ncid, varid, count)))         \
    EACH(varm##suffix,                                                                                                \
         LIST(int ncid, int varid, const offset *start, const offset *count, const offset *stride, const offset *map, data), \
         LIST(ncid, varid, start, count, stride, map, arguments), size_of(elements_of(&call, ncid, varid, count)))    \
    EACH(varn##suffix, LIST(int ncid, int varid, int number, offset *const *starts, offset *const *counts, data),     \
         LIST(ncid, varid, number, starts, counts, arguments),                                                        \
         size_of(elements_of_parts(&call, ncid, varid, number, counts)))

#define ATTRIBUTES(name, type)                                                                                        \
    CALL(ncmpi_put_att_##name, LIST(int ncid, int varid, const char *attribute, int xtype, offset length, const type *data), \
         LIST(ncid, varid, attribute, xtype, length, data), tell_attribute(&call, ncid, varid, attribute, sizeof(type), result);) \
    GET_ATTRIBUTE(name, type)
#define GET_ATTRIBUTE(name, type)                                                                                     \
    CALL(ncmpi_get_att_##name, LIST(int ncid, int varid, const char *attribute, type *data), LIST(ncid, varid, attribute, data), \
         tell_attribute(&call, ncid, varid, attribute, sizeof(type), result);)

#define OF_TYPE(elements) times(elements, sizeof *data)
#define TYPE(name, type)                                                   \
    SHAPES(PUTS, _##name, const type *data, data, OF_TYPE)                 \
    SHAPES(GETS, _##name, type *data, data, OF_TYPE)
#define TYPES(each)              \
    each(schar, signed char)     \
    each(uchar, unsigned char)   \
    each(short, short)           \
    each(ushort, unsigned short) \
    each(int, int)               \
    each(uint, unsigned)         \
    each(long, long)             \
    each(float, float)           \
    each(double, double)         \
    each(longlong, long long)    \
    each(ulonglong, unsigned long long)

TYPES(TYPE)
TYPE(text, char)

/* Data of any MPI type; where none is named, they are as in the file. */
static uint64_t any_bytes(const struct call *call, int ncid, int varid, uint64_t elements, offset number, word type) {
    uint64_t bytes = memory_bytes(number, type);
    return bytes == UNKNOWN ? times(elements, variable_size(call, ncid, varid)) : bytes;
}
#define OF_ANY(elements) any_bytes(&call, ncid, varid, elements, number_of_data, type)
SHAPES(PUTS, , LIST(const void *data, offset number_of_data, word type), LIST(data, number_of_data, type), OF_ANY)
SHAPES(GETS, , LIST(void *data, offset number_of_data, word type), LIST(data, number_of_data, type), OF_ANY)

/* By a type of the file in place of a part: the bytes of the data in memory. */
#define BY_FILE_TYPE(symbol, collective, data_type)                                                                   \
    BLOCKING(symbol, collective, LIST(int ncid, int varid, word file_type, data_type data, offset number, word type), \
             LIST(ncid, varid, file_type, data, number, type), memory_bytes(number, type))
BY_FILE_TYPE(ncmpi_put_vard, false, const void *)
BY_FILE_TYPE(ncmpi_put_vard_all, true, const void *)
BY_FILE_TYPE(ncmpi_get_vard, false, void *)
BY_FILE_TYPE(ncmpi_get_vard_all, true, void *)

/* ---- attributes --------------------------------------------------------------------------------------------------- */

TYPES(ATTRIBUTES)
GET_ATTRIBUTE(text, char)
CALL(ncmpi_put_att_text, LIST(int ncid, int varid, const char *attribute, offset length, const char *data),
     LIST(ncid, varid, attribute, length, data), tell_attribute(&call, ncid, varid, attribute, 1, result);)
CALL(ncmpi_put_att, LIST(int ncid, int varid, const char *attribute, int xtype, offset length, const void *data),
     LIST(ncid, varid, attribute, xtype, length, data), tell_attribute(&call, ncid, varid, attribute, 0, result);)
CALL(ncmpi_get_att, LIST(int ncid, int varid, const char *attribute, void *data), LIST(ncid, varid, attribute, data),
     tell_attribute(&call, ncid, varid, attribute, 0, result);)
