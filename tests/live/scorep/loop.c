/* Processor time of one of many writes to the beginning of a file, in ns: loop FILE WRITES BYTES. Prints the mean, and
 * the median of a hundred parts, which other programs on the machine disturb less. With 0 writes the file grows, write
 * by write, until the program is killed, so that its length is what was written. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PARTS = 100 };

static double spent(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    return *(const double *)one < *(const double *)other ? -1 : 1;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    long writes = atol(arguments[2]);
    size_t length = (size_t)atol(arguments[3]);
    /* What a copy costs depends on where it begins, which depends on all that was allocated before. */
    char *data = aligned_alloc(4096, (length / 4096 + 1) * 4096);
    memset(data, 1, length);
    int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
    while (!writes)
        if (write(file, data, length) < 0 || usleep(100))
            return 1;
    for (int i = 0; i < 1000; i++)
        if (pwrite(file, data, length, 0) < 0)
            return 1;
    static double parts[PARTS];
    double all = 0;
    for (int part = 0; part < PARTS; part++) {
        double start = spent();
        for (long i = 0; i < writes / PARTS; i++)
            if (pwrite(file, data, length, 0) < 0)
                return 1;
        all += parts[part] = (spent() - start) / (double)(writes / PARTS);
    }
    qsort(parts, PARTS, sizeof *parts, compare);
    printf("%.2f %.2f\n", all / PARTS, parts[PARTS / 2]);
    return 0;
}
