/* Where lines go: a Unix socket that `iostrata watch` listens at, or a file of this process. Never waits.
 *
 * All calls of the system are made by number: Score-P records what programs call as read and write, and would record what
 * this does, too. */
#ifndef IOSTRATA_SINK_H
#define IOSTRATA_SINK_H

#include <stdbool.h>
#include <stddef.h>

enum { SINK_PATH = 4096 };

struct sink {
    bool socket;
    char path[SINK_PATH];
    int descriptor; /* -1 while nobody listens, or the file could not be opened */
    int error;      /* why it is so */
};

/* Takes `unix:PATH`, a socket, or a folder, in which the file gets `name`. Returns false where the path is too long. */
bool sink_choose(struct sink *sink, const char *target, const char *name);

/* Opens or connects where that is not done yet. Returns whether it is; `fresh` is set where it has just been done. */
bool sink_open(struct sink *sink, bool *fresh);

/* Returns how much of the text was taken, which may be nothing; closes a socket whose other end is gone. */
size_t sink_write(struct sink *sink, const char *text, size_t length);

void sink_close(struct sink *sink);

/* Writes a line to standard error. */
void sink_complain(const char *line);

#endif
