/* Opened by a program that knows nothing of the library it is linked with. */
#include <stddef.h>
int nc_create(const char *, int, int *);
int nc_put_var(int, int, const void *);
int run(void);
int run(void) {
    int nc, status = nc_create("mem:/x", 0, &nc);
    return status || nc_put_var(nc, 1, NULL) ? -1 : nc;
}
