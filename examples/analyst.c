/* An analyst's own program: asks for a batch, opens it, and shows the answer in one of four formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sotto/view.h>

/* The whole file, into the arena. */
static sotto_bytes load(const char *path, sotto_arena *arena)
{
    char *text = sotto_arena_take(arena, 1 << 20);
    FILE *file = fopen(path, "rb");
    size_t len = file && text ? fread(text, 1, 1 << 20, file) : 0;

    if (file)
        (void)fclose(file);
    return sotto_bytes_of(text, len);
}

static sotto_status print(void *context, sotto_bytes text, sotto_err *err)
{
    size_t written = fwrite(text.data, 1, text.len, context);

    return written == text.len ? SOTTO_OK : sotto_fail(err, SOTTO_IO, "can't be printed");
}

static sotto_status ask(char **files, sotto_view_format format, sotto_arena *arena, sotto_err *err)
{
    static sotto_mistakes mistakes; /* these three are too large for a small stack */
    static sotto_collection collection;
    static sotto_receipt receipt;
    const sotto_recipe *recipe;
    const sotto_parties *parties;
    sotto_recipe_claim claim;
    sotto_collector_key key;
    sotto_task task;
    sotto_result result;
    sotto_collector *collector = NULL;

    /* What was asked, of whom, and who may open the answer. */
    SOTTO_TRY(sotto_recipe_read(&recipe, load(files[0], arena), arena, &mistakes, err));
    SOTTO_TRY(sotto_recipe_lint(&claim, recipe, NULL, &mistakes, err));
    SOTTO_TRY(sotto_parties_read(&parties, load(files[1], arena), arena, &mistakes, err));
    SOTTO_TRY(sotto_task_compile(&task, recipe, parties, 0, arena, err));
    SOTTO_TRY(sotto_collector_key_decode(&key, load(files[2], arena), err));

    /* The sums of the whole schedule. */
    sotto_collector_options options = {
        .task = &task, .key = &key, .collector_token = getenv("SOTTO_COLLECTOR_TOKEN")};
    sotto_collection_query query = {task.opens, task.closes};
    sotto_status status = sotto_collector_open(&collector, &options, err);
    if (status == SOTTO_OK)
        status = sotto_collector_ask(collector, &collection, &query, arena, err);
    sotto_collector_close(collector);
    sotto_wipe(&key, sizeof key);
    SOTTO_TRY(status);

    /* The answer, and what may be claimed of it. */
    SOTTO_TRY(sotto_result_estimate(&result, recipe, collection.sums, collection.sum_count,
                                    collection.reports, NULL, arena, err));
    sotto_receipt_of(&receipt, recipe, &task, &claim, &collection, &result);
    sotto_answer_view answer = {.recipe = recipe, .result = &result, .receipt = &receipt};
    sotto_view view = {.format = format, .write = print, .context = stdout, .most = 20};
    return sotto_view_answer(&view, &answer, arena, err);
}

int main(int argc, char **argv)
{
    static const char *const formats[] = {"text", "json", "csv", "svg"};
    sotto_arena arena;
    sotto_err err = {0};
    int format = 0;

    for (int i = 0; argc > 4 && i < 4; i++)
        if (strcmp(argv[4], formats[i]) == 0)
            format = i;
    if (argc < 4) {
        printf("usage: SOTTO_COLLECTOR_TOKEN=... analyst RECIPE PARTIES KEY [text|json|csv|svg]\n");
        return 2;
    }
    sotto_arena_init(&arena, (size_t)1 << 30);
    sotto_status status =
        ask(argv + 1, (sotto_view_format)(SOTTO_VIEW_TEXT + format), &arena, &err);
    if (status != SOTTO_OK)
        (void)fprintf(stderr, "%s: %s\n", sotto_status_name(status), err.reason);
    sotto_arena_clear(&arena);
    return status == SOTTO_OK ? 0 : 1;
}
