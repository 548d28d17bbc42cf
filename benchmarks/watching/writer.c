/* A program that writes as IOR does, one file a process: writer FILE PHASES WRITES BYTES. In each phase a new file is
 * written from its beginning on, call by call, and read back. Prints the processor time of a call in ns: of each phase,
 * so that the median of them can be taken, which other programs on the machine disturb less. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    if (count != 5)
        return 2;
    int phases = atoi(arguments[2]);
    long writes = atol(arguments[3]);
    size_t length = (size_t)atol(arguments[4]);
    char *data = aligned_alloc(4096, (length / 4096 + 1) * 4096);
    memset(data, 1, length);
    for (int phase = 0; phase < phases; phase++) {
        int file = open(arguments[1], O_RDWR | O_CREAT | O_TRUNC, 0644);
        double start = spent();
        for (long i = 0; i < writes; i++)
            if (write(file, data, length) != (ssize_t)length)
                return 1;
        for (long i = 0; i < writes; i++)
            if (pread(file, data, length, i * (off_t)length) != (ssize_t)length)
                return 1;
        printf("%.2f\n", (spent() - start) / (2.0 * (double)writes));
        close(file);
    }
    return unlink(arguments[1]);
}
