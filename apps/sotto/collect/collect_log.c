/* Where the recipe stands on a public log: what --proof brings, judged as devices judge it. */
#include "collect.h"

#include "base/file.h"
#include "recipe/model.h"
#include "tlog/bundle.h"

#include <stdio.h>
#include <string.h>

static int refuse(const sotto_collect_job *job, int code, const char *why)
{
    (void)fprintf(stderr, "sotto collect: --proof %s: %s\n", job->proof, why);
    return code;
}

int sotto_collect_job_log(sotto_collect_job *job)
{
    const sotto_recipe *recipe = job->recipe.recipe;
    const sotto_policy_log *log;
    sotto_bundle_facts facts = {0};
    sotto_bundle bundle = {0};
    sotto_err err = {0};
    sotto_bytes wire;

    if (!job->proof)
        return EXIT_DONE;
    if (!recipe->anonymity.log)
        return refuse(job, EXIT_USAGE, "the recipe asks for no log");
    log = job->recipe.policy_read
              ? sotto_policy_log_named(job->recipe.policy_read, recipe->anonymity.log)
              : NULL;
    if (!log)
        return refuse(job, EXIT_USAGE, "needs a --policy that names the recipe's log");
    if (sotto_file_text(&wire, job->proof, SOTTO_BUNDLE_MAX, &job->recipe.arena, &err) != SOTTO_OK)
        return refuse(job, EXIT_FAILED, err.reason);
    if (sotto_bundle_verify(&facts, wire, &log->trust, &err) != SOTTO_OK ||
        sotto_bundle_decode(&bundle, wire, &err) != SOTTO_OK)
        return refuse(job, EXIT_PROOF, err.reason);
    if (facts.entry.type != SOTTO_ENTRY_RECIPE ||
        memcmp(facts.entry.digest, recipe->hash, sizeof recipe->hash) != 0)
        return refuse(job, EXIT_PROOF, "it is of something else than this recipe");
    job->log = (sotto_answer_log){.name = log->name,
                                  .index = facts.index,
                                  .size = facts.checkpoint.size,
                                  .witnesses = log->trust.quorum,
                                  .proof = bundle.proof};
    job->has_log = true;
    return EXIT_DONE;
}
