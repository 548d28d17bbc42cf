#include <scorep/SCOREP_Libwrap.h>
