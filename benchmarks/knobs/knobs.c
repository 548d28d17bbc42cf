// A program with knobs: what it writes and reads is the same, how it does so is not. Files are in its folder.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long get(int n, char **v, const char *name, long other) {
  size_t len = strlen(name);
  for (int i = 1; i < n; i++) if (!strncmp(v[i], name, len) && v[i][len] == '=') return atol(v[i] + len + 1);
  return other;
}
int main(int n, char **v) {
  MPI_Init(&n, &v);
  int rank, ranks; MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long xfer = get(n, v, "xfer", 1 << 20), bytes = get(n, v, "bytes", 4 << 20), steps = get(n, v, "steps", 5), mpiio = get(n, v, "mpiio", 0);
  long coll = get(n, v, "coll", 0), fsync_each = get(n, v, "fsync", 0), reopen = get(n, v, "reopen", 0), serial = get(n, v, "serial", 0);
  long back = get(n, v, "back", 0), osync = get(n, v, "osync", 0), skew = get(n, v, "skew", 0), pause = get(n, v, "pause", 200), end_sync = get(n, v, "endsync", 0), strided = get(n, v, "strided", 0);
  long late = get(n, v, "late", 0), turns = get(n, v, "turns", 0);
  srand(get(n, v, "seed", 1));
  long mine = serial ? (rank ? 0 : bytes * ranks) : skew ? (rank ? bytes / 4 : bytes * ranks - (ranks - 1) * (bytes / 4)) : bytes;
  char *data = malloc(xfer > mine ? xfer : mine + 1), name[200]; memset(data, rank + 1, xfer > mine ? xfer : mine + 1);
  for (long step = 0; step < steps; step++) {
    usleep(1000 * (pause + rand() % 40));
    MPI_Barrier(MPI_COMM_WORLD);
    // Others wait for it where they first do something together.
    if (late && rank == (turns ? rand() : 1) % ranks) usleep(1000 * late);
    if (mpiio) {
      snprintf(name, sizeof name, "knobs.%ld", step);
      MPI_File f; MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &f);
      for (long done = 0; done < bytes; done += xfer) {
        MPI_Offset at = strided ? (done * ranks + rank * xfer) : rank * bytes + done;
        if (coll) MPI_File_write_at_all(f, at, data, xfer, MPI_BYTE, MPI_STATUS_IGNORE);
        else MPI_File_write_at(f, at, data, xfer, MPI_BYTE, MPI_STATUS_IGNORE);
      }
      MPI_File_close(&f);
    } else if (mine) {
      snprintf(name, sizeof name, "knobs.%d.%ld", rank, step);
      int flags = O_CREAT | O_RDWR | (osync ? O_SYNC : 0), f = open(name, flags | O_TRUNC, 0600);
      for (long done = 0; done < mine; done += xfer) {
        if (reopen && done) { close(f); f = open(name, flags, 0600); }
        if (pwrite(f, data, xfer, done) != xfer) return 1;
        if (fsync_each) fsync(f);
      }
      if (end_sync) fsync(f);
      if (back) for (long done = 0; done < mine; done += back) if (pread(f, data, back, done) < 0) return 1;
      close(f);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (!mpiio && mine) for (long step = 0; step < steps; step++) { snprintf(name, sizeof name, "knobs.%d.%ld", rank, step); unlink(name); }
  MPI_Finalize();
  return 0;
}
