/* A library of a few functions of PnetCDF. */
#include <stddef.h>
#include <string.h>

typedef long long offset;
static int posted;

int ncmpi_inq_varndims(int nc, int v, int *n) { return (void)nc, *n = v, 0; }
int ncmpi_inq_vardimid(int nc, int v, int *ids) { return (void)nc, (void)v, *ids = 0, 0; }
int ncmpi_inq_dimlen(int nc, int d, offset *n) { return (void)nc, (void)d, *n = 10, 0; }
int ncmpi_inq_vartype(int nc, int v, int *t) { return (void)nc, (void)v, *t = 5, 0; }
int ncmpi_inq_varname(int nc, int v, char *name) { return (void)nc, (void)v, strcpy(name, "v"), 0; }
int ncmpi_inq_attlen(int nc, int v, const char *a, offset *n) { return (void)nc, (void)v, (void)a, *n = 1, 0; }
int ncmpi_inq_atttype(int nc, int v, const char *a, int *t) { return (void)nc, (void)v, (void)a, *t = 4, 0; }
int ncmpi_iput_var_int(int nc, int v, const int *d, int *r) { return (void)nc, (void)v, (void)d, *r = posted++, 0; }
int ncmpi_bput_var(int nc, int v, const void *d, offset n, void *t, int *r) { return (void)nc, (void)v, (void)d, (void)n, (void)t, *r = posted++, 0; }
int ncmpi_iget_varn_short(int nc, int v, int n, offset *const *s, offset *const *c, short *d, int *r) { return (void)nc, (void)v, (void)n, (void)s, (void)c, (void)d, *r = posted++, 0; }
int ncmpi_wait(int nc, int n, int *r, int *s) { (void)nc, (void)s; for (int i = 0; i < n; i++) r[i] = -1; return 0; }
int ncmpi_wait_all(int nc, int n, int *r, int *s) { return ncmpi_wait(nc, n, r, s); }
