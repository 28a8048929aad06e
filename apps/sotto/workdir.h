/* apps/sotto/workdir.h - a folder that a program makes for its servers and takes away again. */
#ifndef SOTTO_APPS_WORKDIR_H
#define SOTTO_APPS_WORKDIR_H

#include "sotto/base.h"

enum { SOTTO_WORKDIR = 112 };

/* Below TMPDIR, or /tmp; `kind` becomes part of its name. After a failure path is empty. */
SOTTO_MUST_USE sotto_status sotto_workdir_make(char path[SOTTO_WORKDIR], const char *kind,
                                               sotto_err *err);
/* With all that is in it; nothing for an empty path. */
void sotto_workdir_remove(const char *path);
/* A fresh datastore key, readable by nobody else. */
SOTTO_MUST_USE sotto_status sotto_workdir_key(const char *file, sotto_err *err);

#endif
