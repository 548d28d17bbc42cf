/* A program of several ranks that moves bytes through MPI-IO, ISO C and POSIX, with all that makes counting hard:
 * collective and independent calls, non-blocking ones, calls that fail or return less than was asked for, files that do
 * not count, threads, a fork, and operations of very different length.
 *
 *     program FOLDER ROUNDS PAUSE_MS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCK = 1 << 16 };

static char data[4 * BLOCK];
static int rank, ranks;
static char folder[1024];

static const char *path(const char *name, int own)
{
    static _Thread_local char full[1200];
    if (own)
        snprintf(full, sizeof full, "%s/%s.%d", folder, name, rank);
    else
        snprintf(full, sizeof full, "%s/%s", folder, name);
    return full;
}

static void *work(void *argument)
{
    int number = (int)(long)argument, length = 1000 + 7 * number;
    char name[64];
    snprintf(name, sizeof name, "thread-%d", number);
    int file = open(path(name, 1), O_RDWR | O_CREAT | O_TRUNC, 0644);
    for (int i = 0; i < 50; i++)
        if (pwrite(file, data, (size_t)length, (off_t)i * length) != length)
            abort();
    for (int i = 0; i < 20; i++)
        if (pread(file, data + 2 * BLOCK, (size_t)length, (off_t)i * length) != length)
            abort();
    close(file);
    return NULL;
}

int main(int count, char **arguments)
{
    int provided;
    MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(folder, sizeof folder, "%s", arguments[1]);
    int rounds = atoi(arguments[2]), pause = atoi(arguments[3]);

    MPI_File shared;
    MPI_File_open(MPI_COMM_WORLD, path("shared", 0), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
    FILE *log = fopen(path("log", 1), "w+");
    int nothing = open("/proc/self/status", O_RDONLY), zero = open("/dev/zero", O_RDONLY);
    int blind = open(path("blind", 1), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    for (int round = 0; round < rounds; round++) {
        MPI_Offset at = (MPI_Offset)(round * ranks + rank) * BLOCK;
        MPI_File_write_at_all(shared, at, data, BLOCK - 11 * rank, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_File_read_at(shared, at, data + BLOCK, 5000 + rank, MPI_CHAR, MPI_STATUS_IGNORE);
        MPI_Request requests[3];
        for (int i = 0; i < 3; i++)
            MPI_File_iwrite_at(shared, at + i * 100, data, 100 + i, MPI_CHAR, &requests[i]);
        MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
        fprintf(log, "round %d of rank %d\n", round, rank);
        fwrite(data, 3, 777, log);
        fflush(log);
        if (read(nothing, data + 3 * BLOCK, 100) < 0 || read(zero, data + 3 * BLOCK, 5000) != 5000)
            abort();
        if (read(blind, data + 3 * BLOCK, 10) != -1 || write(blind, data, 4321) != 4321)
            abort();
        struct iovec parts[2] = {{data, 10}, {data + 100, 33}};
        if (writev(blind, parts, 2) != 43)
            abort();
        pthread_t threads[3];
        for (long i = 0; i < 3 && round < 4; i++) /* Score-P has a buffer for each */
            pthread_create(&threads[i], NULL, work, (void *)i);
        for (int i = 0; i < 3 && round < 4; i++)
            pthread_join(threads[i], NULL);
        usleep((useconds_t)pause * 1000);
    }
    rewind(log);
    while (fread(data + 3 * BLOCK, 1, 1 << 12, log) > 0) /* ends in one that gets less, and one that gets nothing */
        ;
    fclose(log);
    if (rank == 0) {
        puts("standard output does not count");
        pid_t child = fork();
        if (!child) {
            if (write(blind, data, 999999 % BLOCK) < 0)
                _exit(1);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
    }
    close(blind);
    MPI_File_close(&shared);
    MPI_Finalize();
    return 0;
}
