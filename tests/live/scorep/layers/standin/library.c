/* A library of a few functions of netCDF, in which the type is NUMBER: what tests ask of the adapter itself. */
#include <stdlib.h>
#include <string.h>

static int inquiries;

int nc_inq_varndims(int nc, int v, int *n) { return (void)nc, inquiries++, *n = v, 0; }
int nc_inq_vardimid(int nc, int v, int *ids) { (void)nc; for (int i = 0; i < v; i++) ids[i] = i; return 0; }
int nc_inq_dimlen(int nc, int d, size_t *n) { return (void)nc, *n = 10 + d, 0; }
int nc_inq_vartype(int nc, int v, int *t) { return (void)nc, (void)v, *t = 5, 0; }
int nc_inq_type(int nc, int t, char *name, size_t *n) { return (void)nc, (void)t, (void)name, *n = 4, 0; }
int nc_inq_varname(int nc, int v, char *name) { return (void)nc, strcpy(name, "v0"), name[1] = '0' + v, 0; }
int nc_inq_attlen(int nc, int v, const char *a, size_t *n) { return (void)nc, (void)v, (void)a, *n = 7, 0; }
int nc_inq_atttype(int nc, int v, const char *a, int *t) { return (void)nc, (void)v, (void)a, *t = 6, 0; }
int nc_inq_user_type(int nc, int t, char *n, size_t *s, int *b, size_t *f, int *c) { return (void)nc, (void)t, (void)n, (void)s, (void)b, (void)f, *c = 16, 0; }

int nc__create(const char *path, int mode, size_t size, size_t *hint, int *nc) { return (void)path, (void)mode, (void)size, (void)hint, *nc = NUMBER << 16, 0; }
/* Ends in a jump, as the library's own does. */
int nc_create(const char *path, int mode, int *nc) { return nc__create(path, mode, 0, 0, nc); }
int nc_create_par(const char *path, int mode, void *comm, void *info, int *nc) { return (void)comm, (void)info, nc_create(path, mode, nc); }
int nc_var_par_access(int nc, int v, int access) { return (void)nc, (void)v, (void)access, 0; }
int nc_put_vara_double(int nc, int v, const size_t *s, const size_t *n, const double *d) { return (void)nc, (void)s, (void)n, (void)d, v < 0 ? -49 : v == 3 ? -60 : 0; }
int nc_put_var(int nc, int v, const void *d) { return (void)nc, (void)v, (void)d, 0; }
int nc_get_var1_text(int nc, int v, const size_t *i, char *d) { return (void)nc, (void)v, (void)i, *d = 'x', 0; }
int nc_put_var_string(int nc, int v, const char **d) { return (void)nc, (void)v, (void)d, 0; }
int nc_get_att_int(int nc, int v, const char *a, int *d) { return (void)nc, (void)v, (void)a, (void)d, 0; }
int nc_close(int nc) { return (void)nc, inquiries < 0; }
