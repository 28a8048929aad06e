#include "serve/witness/forks.h"

#include "base/rule.h"
#include "serve/host/health.h"

enum { TOLD = 8, NAME = 200 };

typedef struct forks {
    uint64_t count;
    struct {
        char log[NAME];
        uint64_t size;
    } first[TOLD];
} forks;

sotto_status sotto_forks_keep(sotto_tx *tx, sotto_bytes origin, uint64_t size, sotto_bytes note,
                              sotto_bytes before, sotto_err *err)
{
    sotto_sql q;

    SOTTO_TRY(
        sotto_sql_prepare(tx, &q,
                          "INSERT INTO fork (origin, size, note, earlier) VALUES (?1, ?2, ?3, ?4)"
                          " ON CONFLICT DO NOTHING",
                          err));
    sotto_sql_bytes(&q, 1, origin);
    sotto_sql_int(&q, 2, (int64_t)size);
    sotto_sql_bytes(&q, 3, note);
    sotto_sql_bytes(&q, 4, before);
    return sotto_sql_run(&q, NULL, err);
}

sotto_status sotto_forks_new(sotto_last_seen **seen, sotto_err *err)
{
    return sotto_last_seen_new(seen, sizeof(forks), err);
}

/* For a terminal: a board's name is whatever its server chose. */
static void copy_name(char out[NAME], sotto_bytes name)
{
    const size_t len = name.len < NAME - 1 ? name.len : NAME - 1;

    for (size_t i = 0; i < len; i++)
        out[i] = (char)(name.data[i] > 0x20 && name.data[i] < 0x7f ? name.data[i] : '?');
    out[len] = 0;
}

sotto_status sotto_forks_look(sotto_tx *tx, sotto_last_seen *seen, sotto_err *err)
{
    forks view = {0};
    sotto_sql q;
    bool row;

    SOTTO_TRY(sotto_sql_prepare(tx, &q, "SELECT count(*) FROM fork", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    if (row)
        view.count = (uint64_t)sotto_sql_column_int(&q, 0);
    SOTTO_TRY(sotto_sql_run(&q, NULL, err));
    SOTTO_TRY(sotto_sql_prepare(
        tx, &q, "SELECT origin, size FROM fork ORDER BY origin, size LIMIT 8", err));
    SOTTO_TRY(sotto_sql_step(&q, &row, err));
    for (size_t i = 0; row && i < TOLD; i++) {
        copy_name(view.first[i].log, sotto_sql_column_bytes(&q, 0));
        view.first[i].size = (uint64_t)sotto_sql_column_int(&q, 1);
        SOTTO_TRY(sotto_sql_step(&q, &row, err));
    }
    sotto_last_seen_put(seen, &view);
    return SOTTO_OK;
}

static void say_first(const forks *view, sotto_buf *out)
{
    for (size_t i = 0; i < TOLD && i < view->count; i++) {
        sotto_health_say(out, "log ");
        sotto_health_say(out, view->first[i].log);
        sotto_health_say_number(out, ": FORKED: it signed two trees of ", view->first[i].size,
                                " entries; both are in the table fork\n");
    }
}

void sotto_forks_describe(sotto_last_seen *seen, sotto_buf *out)
{
    forks view;

    (void)sotto_last_seen_look(seen, &view);
    if (SOTTO_RULE(forks_stay_in_health) && view.count > 0)
        say_first(&view, out);
    if (view.count > TOLD)
        sotto_health_say_number(out, "forks: ", view.count, " in all\n");
}

uint64_t sotto_forks_count(sotto_last_seen *seen)
{
    forks view;

    (void)sotto_last_seen_look(seen, &view);
    return view.count;
}
