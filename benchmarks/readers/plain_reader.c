/* The program that a C programmer writes against libotf2: one local reader for each location, callbacks for the I/O
 * records, each appending a row to columns of bounded length. It prints events, rows and seconds of the event part.
 *
 *     cc -O2 plain_reader.c -o plain_reader -lotf2
 */
#include <inttypes.h>
#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROWS 65536
#define NONE UINT64_MAX

static struct {
    uint8_t kind[ROWS], mode[ROWS];
    uint32_t handle[ROWS], flags[ROWS];
    uint64_t time[ROWS], matching[ROWS], value[ROWS], offset[ROWS];
} columns;
static uint64_t rows;
static OTF2_LocationRef* locations;
static size_t location_count, location_room;
static OTF2_StringRef offset_name = OTF2_UNDEFINED_STRING;
static OTF2_AttributeRef offset_attribute = OTF2_UNDEFINED_ATTRIBUTE;

static void put(uint8_t kind, uint64_t time, uint32_t handle, uint8_t mode, uint32_t flags, uint64_t matching,
                uint64_t value, uint64_t offset)
{
    size_t row = rows++ % ROWS;
    columns.kind[row] = kind;
    columns.time[row] = time;
    columns.handle[row] = handle;
    columns.mode[row] = mode;
    columns.flags[row] = flags;
    columns.matching[row] = matching;
    columns.value[row] = value;
    columns.offset[row] = offset;
}

#define HEAD OTF2_LocationRef l, OTF2_TimeStamp time, uint64_t p, void *u, OTF2_AttributeList *a
#define UNUSED (void)l, (void)p, (void)u, (void)a
#define DONE return OTF2_CALLBACK_SUCCESS

static OTF2_CallbackCode create(HEAD, OTF2_IoHandleRef h, OTF2_IoAccessMode m, OTF2_IoCreationFlag c, OTF2_IoStatusFlag s)
{
    UNUSED;
    put(69, time, h, m, s, 0, c, NONE);
    DONE;
}

static OTF2_CallbackCode destroy(HEAD, OTF2_IoHandleRef h)
{
    UNUSED;
    put(70, time, h, 0, 0, 0, 0, NONE);
    DONE;
}

static OTF2_CallbackCode duplicate(HEAD, OTF2_IoHandleRef o, OTF2_IoHandleRef n, OTF2_IoStatusFlag s)
{
    UNUSED;
    put(71, time, o, 0, s, 0, n, NONE);
    DONE;
}

static OTF2_CallbackCode seek(HEAD, OTF2_IoHandleRef h, int64_t request, OTF2_IoSeekOption w, uint64_t result)
{
    UNUSED;
    put(72, time, h, w, 0, 0, (uint64_t)request, result);
    DONE;
}

static OTF2_CallbackCode status(HEAD, OTF2_IoHandleRef h, OTF2_IoStatusFlag s)
{
    UNUSED;
    put(73, time, h, 0, s, 0, 0, NONE);
    DONE;
}

static OTF2_CallbackCode delete(HEAD, OTF2_IoParadigmRef paradigm, OTF2_IoFileRef file)
{
    UNUSED;
    put(74, time, UINT32_MAX, paradigm, 0, 0, file, NONE);
    DONE;
}

static OTF2_CallbackCode begin(HEAD, OTF2_IoHandleRef h, OTF2_IoOperationMode m, OTF2_IoOperationFlag f, uint64_t bytes,
                               uint64_t matching)
{
    uint64_t offset = NONE;
    (void)l, (void)p, (void)u;
    if (OTF2_AttributeList_GetNumberOfElements(a) && OTF2_AttributeList_TestAttributeByID(a, offset_attribute))
        OTF2_AttributeList_GetUint64(a, offset_attribute, &offset);
    put(75, time, h, m, f, matching, bytes, offset);
    DONE;
}

static OTF2_CallbackCode test(HEAD, OTF2_IoHandleRef h, uint64_t matching)
{
    UNUSED;
    put(76, time, h, 0, 0, matching, 0, NONE);
    DONE;
}

static OTF2_CallbackCode issued(HEAD, OTF2_IoHandleRef h, uint64_t matching)
{
    UNUSED;
    put(77, time, h, 0, 0, matching, 0, NONE);
    DONE;
}

static OTF2_CallbackCode complete(HEAD, OTF2_IoHandleRef h, uint64_t bytes, uint64_t matching)
{
    UNUSED;
    put(78, time, h, 0, 0, matching, bytes, NONE);
    DONE;
}

static OTF2_CallbackCode cancelled(HEAD, OTF2_IoHandleRef h, uint64_t matching)
{
    UNUSED;
    put(79, time, h, 0, 0, matching, 0, NONE);
    DONE;
}

static OTF2_CallbackCode acquire(HEAD, OTF2_IoHandleRef h, OTF2_LockType t)
{
    UNUSED;
    put(80, time, h, t, 0, 0, 0, NONE);
    DONE;
}

static OTF2_CallbackCode release(HEAD, OTF2_IoHandleRef h, OTF2_LockType t)
{
    UNUSED;
    put(81, time, h, t, 0, 0, 0, NONE);
    DONE;
}

static OTF2_CallbackCode try_lock(HEAD, OTF2_IoHandleRef h, OTF2_LockType t)
{
    UNUSED;
    put(82, time, h, t, 0, 0, 0, NONE);
    DONE;
}

static OTF2_CallbackCode define_location(void* u, OTF2_LocationRef self, OTF2_StringRef n, OTF2_LocationType t,
                                         uint64_t events, OTF2_LocationGroupRef g)
{
    (void)u, (void)n, (void)t, (void)events, (void)g;
    if (location_count == location_room) {
        location_room = 2 * location_room + 64;
        locations = realloc(locations, location_room * sizeof *locations);
    }
    locations[location_count++] = self;
    DONE;
}

static OTF2_CallbackCode define_string(void* u, OTF2_StringRef self, const char* text)
{
    static const char offset[] = "Offset";
    (void)u;
    for (size_t i = 0; i < sizeof offset; i++)
        if (text[i] != offset[i])
            DONE;
    offset_name = self;
    DONE;
}

static OTF2_CallbackCode define_attribute(void* u, OTF2_AttributeRef self, OTF2_StringRef name, OTF2_StringRef d, OTF2_Type t)
{
    (void)u, (void)d, (void)t;
    if (name == offset_name)
        offset_attribute = self;
    DONE;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char** argv)
{
    uint64_t read, events = 0;
    if (argc < 2)
        return 2;
    OTF2_Reader* reader = OTF2_Reader_Open(argv[1]);
    if (!reader)
        return 1;
    OTF2_Reader_SetSerialCollectiveCallbacks(reader);
    OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
    OTF2_GlobalDefReaderCallbacks* global = OTF2_GlobalDefReaderCallbacks_New();
    OTF2_GlobalDefReaderCallbacks_SetLocationCallback(global, define_location);
    OTF2_GlobalDefReaderCallbacks_SetStringCallback(global, define_string);
    OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(global, define_attribute);
    OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, global, NULL);
    OTF2_GlobalDefReaderCallbacks_Delete(global);
    OTF2_Reader_ReadAllGlobalDefinitions(reader, definitions, &read);

    double start = now();
    OTF2_EvtReaderCallbacks* callbacks = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetIoCreateHandleCallback(callbacks, create);
    OTF2_EvtReaderCallbacks_SetIoDestroyHandleCallback(callbacks, destroy);
    OTF2_EvtReaderCallbacks_SetIoDuplicateHandleCallback(callbacks, duplicate);
    OTF2_EvtReaderCallbacks_SetIoSeekCallback(callbacks, seek);
    OTF2_EvtReaderCallbacks_SetIoChangeStatusFlagsCallback(callbacks, status);
    OTF2_EvtReaderCallbacks_SetIoDeleteFileCallback(callbacks, delete);
    OTF2_EvtReaderCallbacks_SetIoOperationBeginCallback(callbacks, begin);
    OTF2_EvtReaderCallbacks_SetIoOperationTestCallback(callbacks, test);
    OTF2_EvtReaderCallbacks_SetIoOperationIssuedCallback(callbacks, issued);
    OTF2_EvtReaderCallbacks_SetIoOperationCompleteCallback(callbacks, complete);
    OTF2_EvtReaderCallbacks_SetIoOperationCancelledCallback(callbacks, cancelled);
    OTF2_EvtReaderCallbacks_SetIoAcquireLockCallback(callbacks, acquire);
    OTF2_EvtReaderCallbacks_SetIoReleaseLockCallback(callbacks, release);
    OTF2_EvtReaderCallbacks_SetIoTryLockCallback(callbacks, try_lock);
    for (size_t i = 0; i < location_count; i++)
        OTF2_Reader_SelectLocation(reader, locations[i]);
    int have_definitions = OTF2_Reader_OpenDefFiles(reader) == OTF2_SUCCESS;
    OTF2_Reader_OpenEvtFiles(reader);
    for (size_t i = 0; i < location_count; i++) {
        OTF2_DefReader* local = have_definitions ? OTF2_Reader_GetDefReader(reader, locations[i]) : NULL;
        if (local) {
            OTF2_Reader_ReadAllLocalDefinitions(reader, local, &read);
            OTF2_Reader_CloseDefReader(reader, local);
        }
        OTF2_EvtReader* records = OTF2_Reader_GetEvtReader(reader, locations[i]);
        if (!records)
            continue;
        OTF2_Reader_RegisterEvtCallbacks(reader, records, callbacks, NULL);
        OTF2_Reader_ReadAllLocalEvents(reader, records, &read);
        events += read;
        OTF2_Reader_CloseEvtReader(reader, records);
    }
    double seconds = now() - start;
    OTF2_EvtReaderCallbacks_Delete(callbacks);
    OTF2_Reader_Close(reader);
    printf("{\"events\": %" PRIu64 ", \"rows\": %" PRIu64 ", \"seconds\": %.6f}\n", events, rows, seconds);
    return 0;
}
