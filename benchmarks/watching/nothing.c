/* Score-P substrate plugin "nothing": what it costs that Score-P tells a plugin of I/O at all. */
#include <stddef.h>

#include <scorep/SCOREP_SubstrateEvents.h>
#include <scorep/SCOREP_SubstratePlugins.h>

static void begin(struct SCOREP_Location *location, uint64_t stamp, SCOREP_IoHandleHandle handle,
    SCOREP_IoOperationMode mode, SCOREP_IoOperationFlag flags, uint64_t requested, uint64_t id, uint64_t offset)
{
}

static void complete(struct SCOREP_Location *location, uint64_t stamp, SCOREP_IoHandleHandle handle,
    SCOREP_IoOperationMode mode, uint64_t bytes, uint64_t id)
{
}

static int init(void)
{
    return 0;
}

static uint32_t get_event_functions(SCOREP_Substrates_Mode mode, SCOREP_Substrates_Callback **functions)
{
    static SCOREP_Substrates_Callback events[SCOREP_SUBSTRATES_NUM_EVENTS];
    events[SCOREP_EVENT_IO_OPERATION_BEGIN] = (SCOREP_Substrates_Callback)begin;
    events[SCOREP_EVENT_IO_OPERATION_COMPLETE] = (SCOREP_Substrates_Callback)complete;
    *functions = events;
    return SCOREP_SUBSTRATES_NUM_EVENTS;
}

SCOREP_SUBSTRATE_PLUGIN_ENTRY(nothing)
{
    return (SCOREP_SubstratePluginInfo){
        .plugin_version = SCOREP_SUBSTRATE_PLUGIN_VERSION,
        .init = init,
        .get_event_functions = get_event_functions,
    };
}
