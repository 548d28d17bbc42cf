/* Stands in for Score-P's public headers of these names, with what the adapter uses of them. */
#ifndef STANDIN_H
#define STANDIN_H
#include <stdint.h>

#define SCOREP_LIBWRAP_VERSION 1
#define SCOREP_INVALID_REGION 0
#define SCOREP_USER_INVALID_PARAMETER -1

typedef uint32_t SCOREP_RegionHandle;
typedef uint64_t SCOREP_User_ParameterHandle;
typedef struct SCOREP_LibwrapHandle SCOREP_LibwrapHandle;
typedef enum { SCOREP_LIBWRAP_MODE_SHARED, SCOREP_LIBWRAP_MODE_STATIC, SCOREP_LIBWRAP_MODE_WEAK } SCOREP_LibwrapMode;
typedef struct {
    int version;
    const char *name;
    const char *display_name;
    SCOREP_LibwrapMode mode;
    void (*init)(SCOREP_LibwrapHandle *);
    int number_of_shared_libs;
    const char **shared_libs;
} SCOREP_LibwrapAttributes;

void SCOREP_Libwrap_Create(SCOREP_LibwrapHandle **handle, const SCOREP_LibwrapAttributes *attributes);
void SCOREP_Libwrap_DefineRegion(SCOREP_LibwrapHandle *handle, SCOREP_RegionHandle *region, int *filtered, const char *name,
                                 const char *symbol, const char *file, int line);
int SCOREP_Libwrap_EnterMeasurement(void);
void SCOREP_Libwrap_ExitMeasurement(void);
void SCOREP_Libwrap_EnterRegion(SCOREP_RegionHandle region);
void SCOREP_Libwrap_ExitRegion(SCOREP_RegionHandle region);
int SCOREP_Libwrap_EnterWrappedRegion(void);
void SCOREP_Libwrap_ExitWrappedRegion(int previous);

void SCOREP_User_ParameterInt64(SCOREP_User_ParameterHandle *handle, const char *name, int64_t value);
void SCOREP_User_ParameterUint64(SCOREP_User_ParameterHandle *handle, const char *name, uint64_t value);
void SCOREP_User_ParameterString(SCOREP_User_ParameterHandle *handle, const char *name, const char *value);
#endif
