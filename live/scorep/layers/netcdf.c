/* netCDF-C: files, variables in every shape and type, attributes. Prototypes are our own, so that one adapter serves all
 * netCDF libraries; MPI's handles are passed on as the words they are. */
#include "layers.h"

enum { NC_RANGE = -60 /* data moved, some out of range */, NC_GLOBAL_ID = -1, MOST_DIMENSIONS = 1024, LONGEST_NAME = 256 };
enum { CLASS_VLEN = 13, TYPE_STRING = 12 };
enum { VARNDIMS, VARDIMID, DIMLEN, VARTYPE, TYPE, VARNAME, ATTLEN, ATTTYPE, USER_TYPE };

static struct library netcdf = {
    .layer = "netCDF",
    .header = "netcdf.h",
    .bit = 1,
    .files = "libnetcdf",
    .needed = USER_TYPE + 1,
    .questions = {"nc_inq_varndims", "nc_inq_vardimid", "nc_inq_dimlen", "nc_inq_vartype", "nc_inq_type",
                  "nc_inq_varname", "nc_inq_attlen", "nc_inq_atttype", "nc_inq_user_type"},
};

/* Access of files that were opened in parallel, by ncid, and of their variables, where it was chosen. */
enum { INDEPENDENT = 1, COLLECTIVE = 2 };
static struct facts access_of;

static uint64_t variable_key(int ncid, int varid) { return (uint64_t)(uint32_t)ncid << 32 | (uint32_t)varid; }
static uint64_t file_key(int ncid) { return variable_key(ncid & ~0xffff, NC_GLOBAL_ID); }

static const uint64_t UNKNOWN = UINT64_MAX;

/* Lengths of a variable's dimensions; their product, 1 for a scalar. */
static uint64_t whole_size(const struct call *call, int ncid, int varid, int dimensions) {
    int ids[MOST_DIMENSIONS];
    uint64_t elements = 1;
    if (ASK(call, VARDIMID, int (*)(int, int, int *))(ncid, varid, ids)) return UNKNOWN;
    for (int i = 0; i < dimensions; i++) {
        size_t length;
        if (ASK(call, DIMLEN, int (*)(int, int, size_t *))(ncid, ids[i], &length)) return UNKNOWN;
        elements *= length;
    }
    return elements;
}

static uint64_t elements_of(const struct call *call, int ncid, int varid, const size_t *count) {
    int dimensions;
    if (ASK(call, VARNDIMS, int (*)(int, int, int *))(ncid, varid, &dimensions) || dimensions > MOST_DIMENSIONS) return UNKNOWN;
    if (!count) return whole_size(call, ncid, varid, dimensions);
    uint64_t elements = 1;
    for (int i = 0; i < dimensions; i++) elements *= count[i];
    return elements;
}

/* Bytes of an element of a type in memory; UNKNOWN for strings and lists, which are pointers to what moves. */
static uint64_t type_size(const struct call *call, int ncid, int type) {
    size_t size;
    int class = 0;
    if (type == TYPE_STRING) return UNKNOWN;
    if (type > TYPE_STRING && ASK(call, USER_TYPE, int (*)(int, int, char *, size_t *, int *, size_t *, int *)) &&
        (ASK(call, USER_TYPE, int (*)(int, int, char *, size_t *, int *, size_t *, int *))(ncid, type, NULL, NULL, NULL, NULL, &class) ||
         class == CLASS_VLEN))
        return UNKNOWN;
    return ASK(call, TYPE, int (*)(int, int, char *, size_t *))(ncid, type, NULL, &size) ? UNKNOWN : size;
}

static void tell_product(uint64_t elements, uint64_t size) {
    if (elements != UNKNOWN && size != UNKNOWN) tell_bytes(elements * size);
}

static bool succeeded(int status) {
    if (status) tell_failed(status);
    return status == 0;
}

/* What is told of a transfer; `size` is the element's in memory, 0 for that of the variable, UNKNOWN for strings. */
static void tell_transfer(const struct call *call, int ncid, int varid, bool one, const size_t *count, uint64_t size, int status) {
    char name[LONGEST_NAME + 1];
    tell_handle(ncid);
    if (!succeeded(status) && status != NC_RANGE) return;
    if (size == 0) {
        int type;
        size = ASK(call, VARTYPE, int (*)(int, int, int *))(ncid, varid, &type) ? UNKNOWN : type_size(call, ncid, type);
    }
    tell_product(one ? 1 : size == UNKNOWN ? UNKNOWN : elements_of(call, ncid, varid, count), size);
    if (is_other_variable(call, ncid, varid) && !ASK(call, VARNAME, int (*)(int, int, char *))(ncid, varid, name)) tell_name(name);
    int64_t access = facts_get(&access_of, variable_key(ncid, varid));
    if (!access) access = facts_get(&access_of, file_key(ncid));
    if (access) tell_collective(access == COLLECTIVE);
}

static void tell_file_handle(const char *path, const int *ncid, int status, bool parallel) {
    tell_file(path);
    if (!succeeded(status) || !ncid) return;
    tell_handle(*ncid);
    if (parallel) facts_set(&access_of, file_key(*ncid), INDEPENDENT);
}

static void forget_file(int ncid) {
    unsigned at = 0;
    for (uint64_t key; (key = facts_next(&access_of, &at));)
        if ((int)(key >> 32 & 0xffff0000u) == (ncid & ~0xffff)) facts_set(&access_of, key, 0);
}

static void choose_access(int ncid, int varid, int access) {
    uint64_t key = varid == NC_GLOBAL_ID ? file_key(ncid) : variable_key(ncid, varid);
    facts_set(&access_of, key, access ? COLLECTIVE : INDEPENDENT);
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

typedef uintptr_t word; /* an MPI_Comm or MPI_Info: a pointer or an int */

#define OPENING(symbol, parameters, arguments, parallel)                                        \
    WRAPPER(int, netcdf, symbol, parameters, -1)                                                \
    CALLED(int, arguments, tell_file_handle(path, ncid, result, parallel);)

OPENING(nc_create, (const char *path, int mode, int *ncid), (path, mode, ncid), false)
OPENING(nc__create, (const char *path, int mode, size_t size, size_t *hint, int *ncid), (path, mode, size, hint, ncid), false)
OPENING(nc_create_par, (const char *path, int mode, word comm, word info, int *ncid), (path, mode, comm, info, ncid), true)
OPENING(nc_create_par_fortran, (const char *path, int mode, int comm, int info, int *ncid), (path, mode, comm, info, ncid), true)
OPENING(nc_create_mem, (const char *path, int mode, size_t size, int *ncid), (path, mode, size, ncid), false)
OPENING(nc_open, (const char *path, int mode, int *ncid), (path, mode, ncid), false)
OPENING(nc__open, (const char *path, int mode, size_t *hint, int *ncid), (path, mode, hint, ncid), false)
OPENING(nc_open_par, (const char *path, int mode, word comm, word info, int *ncid), (path, mode, comm, info, ncid), true)
OPENING(nc_open_par_fortran, (const char *path, int mode, int comm, int info, int *ncid), (path, mode, comm, info, ncid), true)
OPENING(nc_open_mem, (const char *path, int mode, size_t size, void *memory, int *ncid), (path, mode, size, memory, ncid), false)
OPENING(nc_open_memio, (const char *path, int mode, void *memory, int *ncid), (path, mode, memory, ncid), false)

#define ON_FILE(symbol, parameters, arguments, ...)                                             \
    WRAPPER(int, netcdf, symbol, parameters, -1)                                                \
    CALLED(int, arguments, tell_handle(ncid); if (succeeded(result)) { __VA_ARGS__; })

ON_FILE(nc_close, (int ncid), (ncid), forget_file(ncid))
ON_FILE(nc_close_memio, (int ncid, void *memory), (ncid, memory), forget_file(ncid))
ON_FILE(nc_abort, (int ncid), (ncid), forget_file(ncid))
ON_FILE(nc_enddef, (int ncid), (ncid), )
ON_FILE(nc__enddef, (int ncid, size_t minimum, size_t align, size_t variables, size_t records),
        (ncid, minimum, align, variables, records), )
ON_FILE(nc_redef, (int ncid), (ncid), )
ON_FILE(nc_sync, (int ncid), (ncid), )

WRAPPER(int, netcdf, nc_var_par_access, (int ncid, int varid, int access), -1)
CALLED(int, (ncid, varid, access), tell_handle(ncid); if (succeeded(result)) choose_access(ncid, varid, access);)

/* ---- variables ---------------------------------------------------------------------------------------------------- */

#define SHAPES(direction, type, suffix, size)                                                                            \
    TRANSFER(nc_##direction##_var##suffix, (int ncid, int varid, type *data), (ncid, varid, data), false, NULL, size)    \
    TRANSFER(nc_##direction##_var1##suffix, (int ncid, int varid, const size_t *index, type *data),                      \
             (ncid, varid, index, data), true, NULL, size)                                                               \
    TRANSFER(nc_##direction##_vara##suffix, (int ncid, int varid, const size_t *start, const size_t *count, type *data), \
             (ncid, varid, start, count, data), false, count, size)                                                      \
    TRANSFER(nc_##direction##_vars##suffix,                                                                              \
             (int ncid, int varid, const size_t *start, const size_t *count, const ptrdiff_t *stride, type *data),       \
             (ncid, varid, start, count, stride, data), false, count, size)                                              \
    TRANSFER(nc_##direction##_varm##suffix, (int ncid, int varid, const size_t *start, const size_t *count,              \
                                             const ptrdiff_t *stride, const ptrdiff_t *map, type *data),                 \
             (ncid, varid, start, count, stride, map, data), false, count, size)

#define TRANSFER(symbol, parameters, arguments, one, count, size)                               \
    WRAPPER(int, netcdf, symbol, parameters, -1)                                                \
    CALLED(int, arguments, tell_transfer(&call, ncid, varid, one, count, size, result);)

#define ATTRIBUTES(name, type)                                                                                            \
    WRAPPER(int, netcdf, nc_put_att_##name, (int ncid, int varid, const char *attribute, int xtype, size_t length, const type *data), -1) \
    CALLED(int, (ncid, varid, attribute, xtype, length, data), tell_attribute(ncid, attribute, length, sizeof(type), result);)            \
    GET_ATTRIBUTE(name, type)

#define GET_ATTRIBUTE(name, type)                                                                                         \
    WRAPPER(int, netcdf, nc_get_att_##name, (int ncid, int varid, const char *attribute, type *data), -1)                 \
    CALLED(int, (ncid, varid, attribute, data),                                                                           \
           tell_attribute(ncid, attribute, attribute_length(&call, ncid, varid, attribute, result), sizeof(type), result);)

static void tell_attribute(int ncid, const char *name, uint64_t length, uint64_t size, int status) {
    tell_handle(ncid);
    tell_name(name);
    if (succeeded(status) || status == NC_RANGE) tell_product(length, size);
}

static uint64_t attribute_length(const struct call *call, int ncid, int varid, const char *name, int status) {
    size_t length;
    return status || ASK(call, ATTLEN, int (*)(int, int, const char *, size_t *))(ncid, varid, name, &length) ? UNKNOWN : length;
}

static uint64_t attribute_size(const struct call *call, int ncid, int varid, const char *name, int status) {
    int type;
    return status || ASK(call, ATTTYPE, int (*)(int, int, const char *, int *))(ncid, varid, name, &type) ? UNKNOWN : type_size(call, ncid, type);
}

#define BOTH(name, type)                                  \
    SHAPES(put, const type, _##name, sizeof(type))        \
    SHAPES(get, type, _##name, sizeof(type))

#define TYPES(each)              \
    each(schar, signed char)     \
    each(uchar, unsigned char)   \
    each(short, short)           \
    each(int, int)               \
    each(long, long)             \
    each(float, float)           \
    each(double, double)         \
    each(ubyte, unsigned char)   \
    each(ushort, unsigned short) \
    each(uint, unsigned)         \
    each(longlong, long long)    \
    each(ulonglong, unsigned long long)

TYPES(BOTH)
BOTH(text, char)
SHAPES(put, const char *, _string, UNKNOWN)
SHAPES(get, char *, _string, UNKNOWN)
SHAPES(put, const void, , 0)
SHAPES(get, void, , 0)

/* ---- attributes --------------------------------------------------------------------------------------------------- */

TYPES(ATTRIBUTES)
GET_ATTRIBUTE(text, char)

WRAPPER(int, netcdf, nc_put_att_text, (int ncid, int varid, const char *attribute, size_t length, const char *data), -1)
CALLED(int, (ncid, varid, attribute, length, data), tell_attribute(ncid, attribute, length, 1, result);)

WRAPPER(int, netcdf, nc_put_att_string, (int ncid, int varid, const char *attribute, size_t length, const char **data), -1)
CALLED(int, (ncid, varid, attribute, length, data), tell_attribute(ncid, attribute, UNKNOWN, 0, result);)

WRAPPER(int, netcdf, nc_get_att_string, (int ncid, int varid, const char *attribute, char **data), -1)
CALLED(int, (ncid, varid, attribute, data), tell_attribute(ncid, attribute, UNKNOWN, 0, result);)

WRAPPER(int, netcdf, nc_put_att, (int ncid, int varid, const char *attribute, int xtype, size_t length, const void *data), -1)
CALLED(int, (ncid, varid, attribute, xtype, length, data),
       tell_attribute(ncid, attribute, length, result ? UNKNOWN : type_size(&call, ncid, xtype), result);)

WRAPPER(int, netcdf, nc_get_att, (int ncid, int varid, const char *attribute, void *data), -1)
CALLED(int, (ncid, varid, attribute, data),
       tell_attribute(ncid, attribute, attribute_length(&call, ncid, varid, attribute, result),
                      attribute_size(&call, ncid, varid, attribute, result), result);)
