/* HDF5: files, data sets, attributes, with the forms for several data sets at once and for event sets (1.14), and the
 * older versions of one symbol. Of 1.10 and later, whose handles are 64 bits. */
#include "layers.h"

typedef int64_t hid;
typedef uint64_t hsize;

enum { KIND_FILE = 1, KIND_DATASET = 5 };
enum { ALL = 0, BLOCK = 1, PLIST = 2 /* what may stand for a data space */ };
enum { CLASS_STRING = 3, CLASS_COMPOUND = 6, CLASS_VLEN = 9, CLASS_ARRAY = 10 };
enum { TYPE_SIZE, TYPE_CLASS, DETECT, IS_VARIABLE, POINTS, EXTENT, SPACE_CLOSE, DATASET_SPACE, ATTRIBUTE_SPACE, FILE_OF,
       KIND, COUNT, RELEASE, CHUNK_SIZE, TRANSFER_MODE, DRIVER, MPIO_INIT, MPIO_ID };

static struct library hdf5 = {
    .layer = "HDF5",
    .header = "hdf5.h",
    .bit = 2,
    .files = "libhdf5",
    .needed = CHUNK_SIZE,
    .questions = {"H5Tget_size", "H5Tget_class", "H5Tdetect_class", "H5Tis_variable_str", "H5Sget_select_npoints",
                  "H5Sget_simple_extent_npoints", "H5Sclose", "H5Dget_space", "H5Aget_space", "H5Iget_file_id",
                  "H5Iget_type", "H5Iget_ref", "H5Idec_ref", "H5Dget_chunk_storage_size", "H5Pget_dxpl_mpio",
                  "H5Pget_driver", "H5FD_mpio_init", "H5FD_MPIO_id_g"},
};

static const uint64_t UNKNOWN = UINT64_MAX;

/* Files that were opened by MPI-IO, and their data sets. */
static struct facts parallel;

static uint64_t element_size(const struct call *call, hid type) {
    int class = ASK(call, TYPE_CLASS, int (*)(hid))(type);
    /* Of strings and lists of any length, memory has pointers to what moves. */
    if (class == CLASS_VLEN || (class == CLASS_STRING && ASK(call, IS_VARIABLE, int (*)(hid))(type) > 0)) return UNKNOWN;
    if ((class == CLASS_COMPOUND || class == CLASS_ARRAY) && ASK(call, DETECT, int (*)(hid, int))(type, CLASS_VLEN) > 0) return UNKNOWN;
    size_t size = ASK(call, TYPE_SIZE, size_t (*)(hid))(type);
    return size ? size : UNKNOWN;
}

static uint64_t extent_of(const struct call *call, int question, hid object) {
    hid space = ASK(call, question, hid (*)(hid))(object);
    if (space < 0) return UNKNOWN;
    int64_t points = ASK(call, EXTENT, int64_t (*)(hid))(space);
    ASK(call, SPACE_CLOSE, int (*)(hid))(space);
    return points < 0 ? UNKNOWN : (uint64_t)points;
}

/* As many elements as are selected in memory: there or, where that is left to the file, in the file. */
static uint64_t elements_of(const struct call *call, hid dataset, hid memory, hid file) {
    hid space = memory > PLIST ? memory : file;
    if (space > PLIST) {
        int64_t points = ASK(call, POINTS, int64_t (*)(hid))(space);
        return points < 0 ? UNKNOWN : (uint64_t)points;
    }
    return space == PLIST ? UNKNOWN : extent_of(call, DATASET_SPACE, dataset);
}

static bool succeeded(int64_t result) {
    if (result < 0) tell_failed(result);
    return result >= 0;
}

static bool by_mpio(const struct call *call, hid fapl) {
    if (fapl <= 0 || !ASK(call, DRIVER, hid (*)(hid))) return false;
    hid driver = ASK(call, DRIVER, hid (*)(hid))(fapl);
    if (ASK(call, MPIO_INIT, hid (*)(void))) return driver == ASK(call, MPIO_INIT, hid (*)(void))();
    return ASK(call, MPIO_ID, hid *) && driver == *ASK(call, MPIO_ID, hid *);
}

static void tell_access(const struct call *call, hid dataset, hid dxpl) {
    int mode = 0;
    if (!facts_get(&parallel, dataset)) return;
    if (dxpl > 0 && (!ASK(call, TRANSFER_MODE, int (*)(hid, int *)) || ASK(call, TRANSFER_MODE, int (*)(hid, int *))(dxpl, &mode) < 0)) return;
    tell_collective(mode == 1);
}

static void tell_transfer(const struct call *call, hid dataset, uint64_t bytes, hid dxpl, int result) {
    tell_handle(dataset);
    if (!succeeded(result)) return;
    if (bytes != UNKNOWN) tell_bytes(bytes);
    tell_access(call, dataset, dxpl);
}

/* What a data set as a whole has is asked of it, for which it must be open: with a connector that opens in the
 * background that waits. */
static uint64_t selected_bytes(const struct call *call, hid dataset, hid type, hid memory, hid file, int result) {
    if (result < 0) return UNKNOWN;
    uint64_t size = element_size(call, type), elements = size == UNKNOWN ? UNKNOWN : elements_of(call, dataset, memory, file);
    return elements == UNKNOWN ? UNKNOWN : size * elements;
}

/* Several data sets in one call are one operation, on the first of them. */
static void tell_transfers(const struct call *call, size_t count, const hid *datasets, const hid *types, const hid *memories,
                           const hid *files, hid dxpl, int result) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && result >= 0; i++) {
        uint64_t one = selected_bytes(call, datasets[i], types[i], memories[i], files[i], result);
        bytes = one == UNKNOWN || bytes == UNKNOWN ? UNKNOWN : bytes + one;
    }
    if (count) tell_transfer(call, datasets[0], bytes, dxpl, result);
}

static uint64_t stored_size(const struct call *call, hid dataset, const hsize *offset, int result) {
    hsize size;
    int (*ask)(hid, const hsize *, hsize *) = ASK(call, CHUNK_SIZE, int (*)(hid, const hsize *, hsize *));
    return result < 0 || !ask || ask(dataset, offset, &size) < 0 ? UNKNOWN : size;
}

static void tell_attribute(const struct call *call, hid attribute, hid type, int result) {
    tell_handle(attribute);
    if (!succeeded(result)) return;
    uint64_t size = element_size(call, type), elements = extent_of(call, ATTRIBUTE_SPACE, attribute);
    if (size != UNKNOWN && elements != UNKNOWN) tell_bytes(size * elements);
}

static int kind_of(const struct call *call, hid object) { return ASK(call, KIND, int (*)(hid))(object); }

/* The file that an object is in, by its handle, whatever groups lie between. */
static hid file_of(const struct call *call, hid object) {
    if (kind_of(call, object) == KIND_FILE) return object;
    hid file = ASK(call, FILE_OF, hid (*)(hid))(object);
    if (file >= 0) ASK(call, RELEASE, int (*)(hid))(file);
    return file;
}

static void tell_opened_file(const char *path, hid file, bool mpio) {
    if (path) tell_file(path);
    if (!succeeded(file)) return;
    tell_handle(file);
    facts_set(&parallel, file, mpio);
}

static void tell_opened(const struct call *call, const char *name, hid from, hid object) {
    if (name) tell_name(name);
    if (!succeeded(object)) return;
    tell_handle(object);
    hid file = file_of(call, from);
    if (file < 0) return;
    tell_parent(file);
    if (kind_of(call, object) == KIND_DATASET) facts_set(&parallel, object, facts_get(&parallel, file));
}

static void tell_opened_attribute(const struct call *call, const char *name, hid from, hid attribute) {
    if (name) tell_name(name);
    if (!succeeded(attribute)) return;
    tell_handle(attribute);
    hid parent = kind_of(call, from) == KIND_DATASET ? from : file_of(call, from);
    if (parent >= 0) tell_parent(parent);
}

/* Of what was opened as any object, only a data set does I/O. */
static void tell_opened_object(const struct call *call, const char *name, hid from, hid object) {
    if (object >= 0 && kind_of(call, object) != KIND_DATASET) return;
    tell_opened(call, name, from, object);
}

static void tell_flushed(const struct call *call, hid object, int result) {
    if (!succeeded(result)) return;
    tell_handle(kind_of(call, object) == KIND_DATASET ? object : file_of(call, object));
}

static void tell_closed(hid object, int result) {
    tell_handle(object);
    if (succeeded(result)) facts_set(&parallel, object, 0);
}

static void tell_changed(hid object, int result) {
    tell_handle(object);
    succeeded(result);
}

/* ---- calls, each with its form for event sets --------------------------------------------------------------------- */

#define LIST(...) __VA_ARGS__
#define ONE(result_, symbol, parameters, arguments, ...)                                                \
    WRAPPER(result_, hdf5, symbol, (parameters), -1)                                                    \
    CALLED(result_, (arguments), __VA_ARGS__;)
#define BOTH(result_, symbol, asynchronous, parameters, arguments, ...)                                 \
    ONE(result_, symbol, LIST(parameters), LIST(arguments), __VA_ARGS__)                                \
    ONE(result_, asynchronous, LIST(const char *app_file, const char *app_function, unsigned app_line, parameters, hid events), \
        LIST(app_file, app_function, app_line, arguments, events), __VA_ARGS__)

BOTH(hid, H5Fcreate, H5Fcreate_async, LIST(const char *path, unsigned flags, hid fcpl, hid fapl), LIST(path, flags, fcpl, fapl),
     tell_opened_file(path, result, by_mpio(&call, fapl)))
BOTH(hid, H5Fopen, H5Fopen_async, LIST(const char *path, unsigned flags, hid fapl), LIST(path, flags, fapl),
     tell_opened_file(path, result, by_mpio(&call, fapl)))
BOTH(hid, H5Freopen, H5Freopen_async, LIST(hid file), LIST(file),
     tell_opened_file(NULL, result, facts_get(&parallel, file)); tell_parent(file))
BOTH(int, H5Fclose, H5Fclose_async, LIST(hid file), LIST(file), tell_closed(file, result))
BOTH(int, H5Fflush, H5Fflush_async, LIST(hid object, int scope), LIST(object, scope), tell_flushed(&call, object, result))

ONE(hid, H5Dcreate1, LIST(hid from, const char *name, hid type, hid space, hid dcpl), LIST(from, name, type, space, dcpl),
    tell_opened(&call, name, from, result))
BOTH(hid, H5Dcreate2, H5Dcreate_async, LIST(hid from, const char *name, hid type, hid space, hid lcpl, hid dcpl, hid dapl),
     LIST(from, name, type, space, lcpl, dcpl, dapl), tell_opened(&call, name, from, result))
ONE(hid, H5Dcreate_anon, LIST(hid from, hid type, hid space, hid dcpl, hid dapl), LIST(from, type, space, dcpl, dapl),
    tell_opened(&call, NULL, from, result))
ONE(hid, H5Dopen1, LIST(hid from, const char *name), LIST(from, name), tell_opened(&call, name, from, result))
BOTH(hid, H5Dopen2, H5Dopen_async, LIST(hid from, const char *name, hid dapl), LIST(from, name, dapl),
     tell_opened(&call, name, from, result))
BOTH(int, H5Dclose, H5Dclose_async, LIST(hid dataset), LIST(dataset), tell_closed(dataset, result))
BOTH(int, H5Dset_extent, H5Dset_extent_async, LIST(hid dataset, const hsize *size), LIST(dataset, size),
     tell_changed(dataset, result))
ONE(int, H5Dextend, LIST(hid dataset, const hsize *size), LIST(dataset, size), tell_changed(dataset, result))
ONE(int, H5Dflush, LIST(hid dataset), LIST(dataset), tell_changed(dataset, result))
ONE(int, H5Drefresh, LIST(hid dataset), LIST(dataset), tell_changed(dataset, result))

BOTH(int, H5Dwrite, H5Dwrite_async, LIST(hid dataset, hid type, hid memory, hid file, hid dxpl, const void *data),
     LIST(dataset, type, memory, file, dxpl, data),
     tell_transfer(&call, dataset, selected_bytes(&call, dataset, type, memory, file, result), dxpl, result))
BOTH(int, H5Dread, H5Dread_async, LIST(hid dataset, hid type, hid memory, hid file, hid dxpl, void *data),
     LIST(dataset, type, memory, file, dxpl, data),
     tell_transfer(&call, dataset, selected_bytes(&call, dataset, type, memory, file, result), dxpl, result))
BOTH(int, H5Dwrite_multi, H5Dwrite_multi_async,
     LIST(size_t count, hid *datasets, hid *types, hid *memories, hid *files, hid dxpl, const void **data),
     LIST(count, datasets, types, memories, files, dxpl, data),
     tell_transfers(&call, count, datasets, types, memories, files, dxpl, result))
BOTH(int, H5Dread_multi, H5Dread_multi_async,
     LIST(size_t count, hid *datasets, hid *types, hid *memories, hid *files, hid dxpl, void **data),
     LIST(count, datasets, types, memories, files, dxpl, data),
     tell_transfers(&call, count, datasets, types, memories, files, dxpl, result))
ONE(int, H5Dwrite_chunk, LIST(hid dataset, hid dxpl, uint32_t filters, const hsize *offset, size_t size, const void *data),
    LIST(dataset, dxpl, filters, offset, size, data), tell_transfer(&call, dataset, size, dxpl, result))
ONE(int, H5Dread_chunk, LIST(hid dataset, hid dxpl, const hsize *offset, uint32_t *filters, void *data),
    LIST(dataset, dxpl, offset, filters, data),
    tell_transfer(&call, dataset, stored_size(&call, dataset, offset, result), dxpl, result))
ONE(int, H5Dread_chunk1, LIST(hid dataset, hid dxpl, const hsize *offset, uint32_t *filters, void *data),
    LIST(dataset, dxpl, offset, filters, data),
    tell_transfer(&call, dataset, stored_size(&call, dataset, offset, result), dxpl, result))
ONE(int, H5Dread_chunk2, LIST(hid dataset, hid dxpl, const hsize *offset, uint32_t *filters, void *data, size_t *size),
    LIST(dataset, dxpl, offset, filters, data, size),
    tell_transfer(&call, dataset, stored_size(&call, dataset, offset, result), dxpl, result))

ONE(hid, H5Acreate1, LIST(hid from, const char *name, hid type, hid space, hid acpl), LIST(from, name, type, space, acpl),
    tell_opened_attribute(&call, name, from, result))
BOTH(hid, H5Acreate2, H5Acreate_async, LIST(hid from, const char *name, hid type, hid space, hid acpl, hid aapl),
     LIST(from, name, type, space, acpl, aapl), tell_opened_attribute(&call, name, from, result))
BOTH(hid, H5Acreate_by_name, H5Acreate_by_name_async,
     LIST(hid from, const char *object, const char *name, hid type, hid space, hid acpl, hid aapl, hid lapl),
     LIST(from, object, name, type, space, acpl, aapl, lapl), tell_opened_attribute(&call, name, from, result))
BOTH(hid, H5Aopen, H5Aopen_async, LIST(hid from, const char *name, hid aapl), LIST(from, name, aapl),
     tell_opened_attribute(&call, name, from, result))
ONE(hid, H5Aopen_name, LIST(hid from, const char *name), LIST(from, name), tell_opened_attribute(&call, name, from, result))
ONE(hid, H5Aopen_idx, LIST(hid from, unsigned index), LIST(from, index), tell_opened_attribute(&call, NULL, from, result))
BOTH(hid, H5Aopen_by_name, H5Aopen_by_name_async, LIST(hid from, const char *object, const char *name, hid aapl, hid lapl),
     LIST(from, object, name, aapl, lapl), tell_opened_attribute(&call, name, from, result))
BOTH(hid, H5Aopen_by_idx, H5Aopen_by_idx_async,
     LIST(hid from, const char *object, int index, int order, hsize number, hid aapl, hid lapl),
     LIST(from, object, index, order, number, aapl, lapl), tell_opened_attribute(&call, NULL, from, result))
BOTH(int, H5Awrite, H5Awrite_async, LIST(hid attribute, hid type, const void *data), LIST(attribute, type, data),
     tell_attribute(&call, attribute, type, result))
BOTH(int, H5Aread, H5Aread_async, LIST(hid attribute, hid type, void *data), LIST(attribute, type, data),
     tell_attribute(&call, attribute, type, result))
BOTH(int, H5Aclose, H5Aclose_async, LIST(hid attribute), LIST(attribute), tell_changed(attribute, result))

BOTH(hid, H5Oopen, H5Oopen_async, LIST(hid from, const char *name, hid lapl), LIST(from, name, lapl),
     tell_opened_object(&call, name, from, result))
BOTH(hid, H5Oopen_by_idx, H5Oopen_by_idx_async, LIST(hid from, const char *group, int index, int order, hsize number, hid lapl),
     LIST(from, group, index, order, number, lapl), tell_opened_object(&call, NULL, from, result))
ONE(hid, H5Oopen_by_addr, LIST(hid from, uint64_t address), LIST(from, address), tell_opened_object(&call, NULL, from, result))
BOTH(int, H5Oclose, H5Oclose_async, LIST(hid object), LIST(object), tell_closed(object, result))
BOTH(int, H5Oflush, H5Oflush_async, LIST(hid object), LIST(object), tell_flushed(&call, object, result))

/* The way in which h5py closes: a region only where it closes a file or a data set. */
static bool closes(const struct call *call, hid object) {
    int kind = call_recordable(call) ? kind_of(call, object) : 0;
    return (kind == KIND_FILE || kind == KIND_DATASET) && ASK(call, COUNT, int (*)(hid))(object) == 1;
}

EXPORTED int H5Idec_ref(hid object);
static struct function FUNCTION_OF(H5Idec_ref) = {.name = "H5Idec_ref", .library = &hdf5};
EXPORTED int H5Idec_ref(hid object) {
    struct call call;
    call_finds(&call, &FUNCTION_OF(H5Idec_ref), __builtin_return_address(0));
    if (!call.real) return -1;
    if (closes(&call, object)) call_enters(&call);
    int result = ((int (*)(hid))call.real)(object);
    if (call_returned(&call)) tell_closed(object, result);
    call_ends(&call);
    return result;
}
