#include "answers.h"

#include "xml.h"

#include <string.h>

const char OLD[] = "{\"type\": \"buckets\", \"boundaries\": [20, 30, 40, 50, 60, 70, 80], "
                   "\"underflow\": \"oov\", \"overflow\": \"bucket\"}";
const char HOSTILE[] =
    "{\"type\": \"categories\", \"values\": [\"a,b\", \"say \\\"hi\\\"\", \"</text><script>&'\", "
    "\"\\u009b2J\", \"caf\xc3\xa9\", \"=1+2\", \"x\\u202egnp.exe\\u2066\\u2028\", \"\\u05d0b\", "
    "\"p | q<r\"], "
    "\"oov\": "
    "true}";

char shown[1 << 20];

void make_of(sotto_test *t, answer *a, const char *old, const char *new)
{
    static sotto_mistakes mistakes;
    const sotto_parties *parties = sotto_test_parties(t, NULL, NULL);
    static sotto_collection collection;
    sotto_recipe_claim claim;
    sotto_task task;

    a->recipe = sotto_test_recipe(t, old, new);
    mistakes = (sotto_mistakes){0};
    CHECK_OK(t, sotto_recipe_lint(&claim, a->recipe, NULL, &mistakes, &t->err));
    CHECK_OK(t, sotto_task_compile(&task, a->recipe, parties, 0, &t->arena, &t->err));
    size_t count = (size_t)sotto_recipe_bins(a->recipe);
    sotto_result_bin *bins = sotto_arena_take_array(&t->arena, count, sizeof *bins);
    CHECK(t, bins != NULL);
    for (size_t i = 0; i < count; i++) {
        double truth = 12000 / (double)(1 + i) - 300.25;

        bins[i] = (sotto_result_bin){.bin = i,
                                     .sum = 5000 - (int64_t)i,
                                     .count = truth,
                                     .deviation = 100.5,
                                     .low = truth > 200 ? truth - 200 : 0,
                                     .high = truth > -200 ? truth + 200 : 0,
                                     .low_all = truth > 300 ? truth - 300 : 0,
                                     .high_all = truth > -300 ? truth + 300 : 0};
    }
    a->result = (sotto_result){
        .reports = 41000, .confidence = 0.95, .p = 0.5, .q = 0.125, .bins = bins, .count = count};
    collection = (sotto_collection){.reports = 41000, .from = task.opens, .until = task.closes};
    collection.leader = (sotto_rejections){
        .known = true, .rate = SOTTO_RATE_OFF, .count = 1, .items = {{"report_replayed", 3}}};
    collection.helper.why = "it does not tell";
    sotto_receipt_of(&a->receipt, a->recipe, &task, &claim, &collection, &a->result);
    a->view =
        (sotto_answer_view){.recipe = a->recipe, .result = &a->result, .receipt = &a->receipt};
}

sotto_bytes show(sotto_test *t, const answer *a, sotto_view_format format, size_t most)
{
    sotto_buf out = sotto_buf_over(shown, sizeof shown - 1);
    sotto_view view = sotto_view_into(&out, format);

    view.most = most;
    CHECK_OK(t, sotto_view_answer(&view, &a->view, &t->arena, &t->err));
    shown[out.len] = 0;
    return sotto_buf_bytes(&out);
}

sotto_bytes show_html(sotto_test *t, const answer *a, size_t most)
{
    static const char first[] = "<!doctype html>\n";
    sotto_bytes page = show(t, a, SOTTO_VIEW_HTML, most);

    CHECK(t, page.len > sizeof first && memcmp(page.data, first, sizeof first - 1) == 0);
    page = sotto_bytes_of(page.data + sizeof first - 1, page.len - sizeof first + 1);
    sotto_test_svg(t, page);
    return page;
}
