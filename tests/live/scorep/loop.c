/* Processor time of one of many writes to the beginning of a file, in ns: loop FILE WRITES BYTES. With 0 writes the
 * file grows, write by write, until the program is killed, so that its length is what was written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double spent(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    long writes = atol(arguments[2]);
    size_t length = (size_t)atol(arguments[3]);
    char *data = calloc(1, length);
    int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    while (!writes)
        if (write(file, data, length) < 0 || usleep(100))
            return 1;
    for (int i = 0; i < 1000; i++)
        if (pwrite(file, data, length, 0) < 0)
            return 1;
    double start = spent();
    for (long i = 0; i < writes; i++)
        if (pwrite(file, data, length, 0) < 0)
            return 1;
    printf("%.2f\n", (spent() - start) / (double)writes);
    return 0;
}
