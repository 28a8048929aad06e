/* sotto recipe publish - a recipe that passes lint goes into the log; what comes back is a bundle that devices verify offline. */
#include "log_publish.h"
#include "recipe.h"
#include "show.h"

#include <stdio.h>

/* The bytes that passed lint: the file may be another one by now. */
static sotto_status publish(sotto_log_job *job, sotto_bytes recipe)
{
    sotto_log_object object = {.type = SOTTO_ENTRY_RECIPE, .bytes = recipe};

    SOTTO_TRY(sotto_log_publish(job, &object, 1));
    return sotto_log_job_write(job, job->out, object.bundle);
}

int sotto_recipe_publish(int argc, char **argv)
{
    static sotto_recipe_job recipe;
    static sotto_log_job job;
    const sotto_argument words[] = {{.name = "RECIPE", .text = &recipe.files[0], .needed = true},
                                    {.name = "--policy", .text = &recipe.policy},
                                    {.name = "--streams", .text = &recipe.streams},
                                    {.name = "--json", .flag = &recipe.json},
                                    SOTTO_LOG_PUBLISH_WORDS(&job)};

    sotto_recipe_job_begin(&recipe, argv[0]);
    int code = sotto_log_job_arguments(&job, "recipe publish", words,
                                       sizeof words / sizeof words[0], argc, argv);
    if (code == EXIT_DONE)
        code =
            sotto_recipe_job_load(&recipe); /* lint: what no device would answer is not published */
    if (code == EXIT_DONE &&
        (sotto_log_job_open(&job) != SOTTO_OK || publish(&job, recipe.text) != SOTTO_OK))
        code = sotto_log_job_complain(&job);
    if (code == EXIT_DONE && recipe.json) {
        sotto_json j = sotto_show_object(stdout, SOTTO_JSON_SPACED);

        sotto_json_text(&j, "bundle", job.out);
        (void)sotto_show_end(&j);
    } else if (code == EXIT_DONE) {
        printf("%s\n", job.out);
    }
    sotto_recipe_job_end(&recipe);
    sotto_log_job_end(&job);
    return code;
}
