/* serve/tasks/admitting_list.h - from an issuer's list of keys to those of one recipe's tasks.
 *
 * Callers:  `sotto admin task add`.
 * Memory:   in the arena; the issuer's name is the recipe's.
 */
#ifndef SOTTO_SERVE_TASKS_ADMITTING_LIST_H
#define SOTTO_SERVE_TASKS_ADMITTING_LIST_H

#include "recipe/model.h"
#include "serve/tasks/admitting_keys.h"
#include "tlog/bundle.h"

/* The keys of the recipe's analysis within its schedule, by their opening; whether they cover the whole schedule is not checked
 * here.
 *   file  the list as `sotto serve issuer` answers it, with or without its signature, which only devices check; or a
 *         bundle of a log (entry "issuer keys") with either
 *   log   the log to check a bundle against; NULL: bundles are refused
 *   SOTTO_DENIED  the recipe names a log, and this is no bundle; or a bundle, and no log is given; or too few witnesses
 *   others        as sotto_bundle_verify and sotto_listed_keys_read */
SOTTO_MUST_USE sotto_status sotto_admitting_keys_of_list(sotto_admitting_keys *out,
                                                         const sotto_recipe *recipe,
                                                         sotto_bytes file,
                                                         const sotto_log_trust *log,
                                                         sotto_arena *arena, sotto_err *err);

#endif
