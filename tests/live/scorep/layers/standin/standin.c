/* Stands in for Score-P: what the adapter tells it becomes lines of the file STANDIN, a thread's number before each. With
 * STANDIN_OFF nothing is measured, and STANDIN_FILTER names a region that is filtered. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <scorep/SCOREP_Libwrap.h>

static const char *names[2000], *groups[2000];
static unsigned known;
static int lines = -1;
static __thread int in_measurement;

struct SCOREP_LibwrapHandle {
    const char *group;
};

/* What Score-P has that knows of threads. */
void SCOREP_ThreadCreateWait_Create(void);
void SCOREP_ThreadCreateWait_Create(void) {}

static void say(const char *what, const char *value) {
    char line[8300];
    if (lines < 0) lines = open(getenv("STANDIN"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    int length = snprintf(line, sizeof line, "%d %ld %s %s\n", getpid(), syscall(SYS_gettid) - getpid(), what, value);
    if (write(lines, line, (size_t)length) != length) abort();
}

static void in(int expected) {
    if (!!in_measurement != expected) say("wrong", "state");
}

void SCOREP_Libwrap_Create(SCOREP_LibwrapHandle **handle, const SCOREP_LibwrapAttributes *attributes) {
    *handle = malloc(sizeof **handle);
    (*handle)->group = attributes->display_name;
}

void SCOREP_Libwrap_DefineRegion(SCOREP_LibwrapHandle *handle, SCOREP_RegionHandle *region, int *filtered, const char *name,
                                 const char *symbol, const char *file, int line) {
    (void)symbol, (void)file, (void)line;
    names[++known] = name;
    groups[known] = handle->group;
    *region = known;
    *filtered = getenv("STANDIN_FILTER") && !strcmp(getenv("STANDIN_FILTER"), name);
}

int SCOREP_Libwrap_EnterMeasurement(void) {
    in(0);
    in_measurement++;
    return !getenv("STANDIN_OFF");
}

void SCOREP_Libwrap_ExitMeasurement(void) {
    in(1);
    in_measurement--;
}

void SCOREP_Libwrap_EnterRegion(SCOREP_RegionHandle region) {
    in(1);
    say("enter", names[region]);
}

void SCOREP_Libwrap_ExitRegion(SCOREP_RegionHandle region) {
    in(1);
    say("leave", names[region]);
}

int SCOREP_Libwrap_EnterWrappedRegion(void) {
    int before = in_measurement;
    in_measurement = 0;
    return before;
}

void SCOREP_Libwrap_ExitWrappedRegion(int previous) {
    in(0);
    in_measurement = previous;
}

void SCOREP_User_ParameterString(SCOREP_User_ParameterHandle *handle, const char *name, const char *value) {
    (void)handle; /* a user's function, which may be called in any state */
    say(name, value);
}

void SCOREP_User_ParameterInt64(SCOREP_User_ParameterHandle *handle, const char *name, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    SCOREP_User_ParameterString(handle, name, text);
}

void SCOREP_User_ParameterUint64(SCOREP_User_ParameterHandle *handle, const char *name, uint64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, value);
    SCOREP_User_ParameterString(handle, name, text);
}
