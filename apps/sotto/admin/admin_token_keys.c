#include "admin_token_keys.h"

#include "serve/tasks/admitting_list.h"

#include <string.h>

/* The flags of a log, as its own verbs have them. NULL: none is given. */
static sotto_status read_log(sotto_admin *admin, sotto_log_job *job, const sotto_log_trust **out)
{
    *out = NULL;
    job->log = sotto_admin_flag(admin, "--log");
    job->quorum = sotto_admin_flag(admin, "--quorum");
    for (size_t i = 0; i < admin->flag_count; i++)
        if (strcmp(admin->flags[i][0], "--witness") == 0) {
            if (job->witness_count == SOTTO_LOG_WITNESSES)
                return sotto_fail(&admin->err, SOTTO_TOO_LARGE, "--witness: more than %d",
                                  SOTTO_LOG_WITNESSES);
            job->witnesses[job->witness_count++] = admin->flags[i][1];
        }
    if (!job->log && !job->quorum && job->witness_count == 0)
        return SOTTO_OK;
    const sotto_status status = sotto_log_job_open(job);
    if (status != SOTTO_OK)
        return sotto_fail(&admin->err, status, "%s", job->err.reason);
    *out = &job->trust;
    return SOTTO_OK;
}

sotto_status sotto_admin_token_keys(sotto_admin *admin, sotto_admitting_keys *out,
                                    const sotto_recipe *recipe, sotto_arena *arena)
{
    static sotto_log_job job;
    const char *path = sotto_admin_flag(admin, "--token-keys");
    const sotto_log_trust *log;
    sotto_bytes file;

    *out = (sotto_admitting_keys){0};
    if (!path)
        return SOTTO_OK;
    SOTTO_TRY(read_log(admin, &job, &log));
    SOTTO_TRY(sotto_admin_read_file(admin, &file, path, SOTTO_BUNDLE_MAX));
    return sotto_admitting_keys_of_list(out, recipe, file, log, arena, &admin->err);
}
