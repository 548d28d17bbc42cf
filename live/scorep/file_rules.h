/* Files that do not count, as in the default of `--files`: the table in iostrata's layers/selection/files.py, whose
 * patterns stand for the full name of a file or of a folder above it. A test compares the two. */
#ifndef IOSTRATA_FILE_RULES_H
#define IOSTRATA_FILE_RULES_H

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>

static const char *const FILE_RULES[] = {
    "/proc",
    "/sys",
    "/dev",
    "/etc",
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "*/lib/python[0-9]*",
    "*/lib64/python[0-9]*",
    "*/site-packages",
    "*/__pycache__",
    "*.py",
    "*pyvenv.cfg",
    "/tmp/ompi.*",
    "*/ompi.*/pid.*",
    "*.sm",
    "*.locktest.*",
    "*/pmix*",
    "<STD*>",
    "pipe:*",
    "socket:*",
    "anon_inode:*",
};

static inline bool is_set_aside(const char *name)
{
    for (unsigned rule = 0; rule < sizeof FILE_RULES / sizeof *FILE_RULES; rule++) {
        char below[64];
        snprintf(below, sizeof below, "%s/*", FILE_RULES[rule]);
        if (!fnmatch(FILE_RULES[rule], name, 0) || !fnmatch(below, name, 0))
            return true;
    }
    return false;
}

#endif
