#define _GNU_SOURCE
#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static const char SOCKET[] = "unix:";

bool sink_choose(struct sink *sink, const char *target, const char *name)
{
    sink->descriptor = -1;
    sink->error = 0;
    sink->socket = !strncmp(target, SOCKET, sizeof SOCKET - 1);
    if (sink->socket) {
        struct sockaddr_un address;
        int length = snprintf(sink->path, sizeof sink->path, "%s", target + sizeof SOCKET - 1);
        return length > 0 && (size_t)length < sizeof address.sun_path;
    }
    int length = snprintf(sink->path, sizeof sink->path, "%s/%s", target, name);
    return length > 0 && (size_t)length < sizeof sink->path;
}

bool sink_open(struct sink *sink, bool *fresh)
{
    *fresh = false;
    if (sink->descriptor >= 0)
        return true;
    long opened;
    if (sink->socket) {
        opened = syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (opened >= 0) {
            struct sockaddr_un address = {.sun_family = AF_UNIX};
            memcpy(address.sun_path, sink->path, strlen(sink->path));
            if (syscall(SYS_connect, opened, &address, sizeof address)) {
                sink->error = errno;
                syscall(SYS_close, opened);
                return false;
            }
        }
    } else {
        opened = syscall(SYS_openat, AT_FDCWD, sink->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
    }
    if (opened < 0) {
        sink->error = errno;
        return false;
    }
    sink->descriptor = (int)opened;
    sink->error = 0;
    *fresh = true;
    return true;
}

size_t sink_write(struct sink *sink, const char *text, size_t length)
{
    long taken;
    do {
        if (sink->socket)
            taken = syscall(SYS_sendto, sink->descriptor, text, length, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
        else
            taken = syscall(SYS_write, sink->descriptor, text, length);
    } while (taken < 0 && errno == EINTR);
    if (taken >= 0) {
        sink->error = 0;
        return (size_t)taken;
    }
    sink->error = errno;
    if (sink->socket && errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM)
        sink_close(sink);
    return 0;
}

void sink_close(struct sink *sink)
{
    if (sink->descriptor >= 0)
        syscall(SYS_close, sink->descriptor);
    sink->descriptor = -1;
}

void sink_complain(const char *line)
{
    if (syscall(SYS_write, STDERR_FILENO, line, strlen(line)) < 0)
        return;
}
