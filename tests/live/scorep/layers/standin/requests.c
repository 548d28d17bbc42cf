/* Posts requests of a library and waits for them: by name, for all puts, for all. */
#include <stddef.h>
typedef long long offset;
int ncmpi_iput_var_int(int, int, const int *, int *);
int ncmpi_bput_var(int, int, const void *, offset, void *, int *);
int ncmpi_iget_varn_short(int, int, int, offset *const *, offset *const *, short *, int *);
int ncmpi_wait(int, int, int *, int *);
int ncmpi_wait_all(int, int, int *, int *);

int main(void) {
    int data[10] = {0}, requests[6];
    short read[10];
    offset one[1] = {3}, *counts[2] = {one, NULL}, *starts[2] = {one, one};
    for (int i = 0; i < 3; i++) ncmpi_iput_var_int(0, 1, data, &requests[i]);
    ncmpi_wait(0, 2, requests, NULL);
    ncmpi_iput_var_int(1, 0, data, &requests[3]);
    ncmpi_bput_var(0, 1, data, -1, NULL, &requests[4]);
    ncmpi_iget_varn_short(0, 1, 2, starts, counts, read, &requests[5]);
    ncmpi_wait_all(0, -3, NULL, NULL);
    ncmpi_wait_all(0, -1, NULL, NULL);
    ncmpi_wait_all(1, -1, NULL, NULL);
    return 0;
}
