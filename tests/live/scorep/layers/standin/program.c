/* Calls the library that it is linked with, or those whose paths it is given, opened for themselves alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int nc_create(const char *, int, int *);
int nc_create_par(const char *, int, void *, void *, int *);
int nc_var_par_access(int, int, int);
int nc_put_vara_double(int, int, const size_t *, const size_t *, const double *);
int nc_put_var(int, int, const void *);
int nc_get_var1_text(int, int, const size_t *, char *);
int nc_put_var_string(int, int, const char **);
int nc_get_att_int(int, int, const char *, int *);
int nc_close(int);
int nc_sync(int) __attribute__((weak)); /* which the library does not have */

static const size_t start[3], count[3] = {2, 3, 5};
static double data[1000];

static void *other(void *nc) { return nc_put_vara_double(*(int *)nc, 2, start, count, data) ? nc : NULL; }

int main(int argc, char **argv) {
    int nc, values[7];
    char one;
    pthread_t thread;
    if (argc > 1 && !strcmp(argv[1], "exec")) return nc_create("before", 0, &nc), execl(argv[0], argv[0], (char *)NULL);
    nc_create("a.nc", 0, &nc);
    nc_put_vara_double(nc, 3, start, count, data);
    nc_put_vara_double(nc, 0, start, count, data);
    nc_put_vara_double(nc, -1, start, count, data);
    nc_put_vara_double(nc, 2, start, NULL, data);
    nc_put_var(nc, 2, data);
    nc_get_var1_text(nc, 1, start, &one);
    nc_put_var_string(nc, 1, NULL);
    nc_get_att_int(nc, 1, "units", values);
    nc_close(nc);
    nc_create_par("/b.nc", 0, NULL, NULL, &nc);
    nc_put_vara_double(nc, 1, start, count, data);
    nc_var_par_access(nc, 1, 1);
    nc_put_vara_double(nc, 1, start, count, data);
    nc_put_vara_double(nc, 2, start, count, data);
    nc_close(nc);
    nc_put_vara_double(nc, 1, start, count, data);
    pthread_create(&thread, NULL, other, &nc);
    pthread_join(thread, NULL);
    pid_t child = fork();
    if (child == 0) {
        nc_put_vara_double(nc, 1, start, count, data);
        _exit(nc_close(nc));
    }
    int status = 1;
    waitpid(child, &status, 0);
    if (nc_sync) printf("sync %d\n", nc_sync(nc)); /* the adapter has it, the library has not */
    return status;
}
