#include "recipe/one_server.h"

#include "account/honest.h"
#include "account/numeric/bound.h"
#include "account/trust.h"
#include "aggregate/flamingo/flamingo.h"
#include "base/rule.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool sotto_recipe_one_server(sotto_one_server *out, const sotto_recipe *recipe)
{
    json_t *root, *json;
    const sotto_trust_model *model = sotto_trust_model_of(recipe->trust);

    memset(out, 0, sizeof *out);
    if (!model->one_server || model->encrypted)
        return false;
    root = json_loadb((const char *)recipe->text.data, recipe->text.len, 0, NULL);
    json = json_object_get(root, "aggregation");
    const char *name = json_string_value(json_object_get(json, "server"));
    (void)snprintf(out->name, sizeof out->name, "%s", name ? name : "?");
    out->corrupt = json_number_value(json_object_get(json, "corrupt"));
    out->dropout = json_number_value(json_object_get(json, "dropout"));
    out->cohort = (uint64_t)json_integer_value(json_object_get(json, "cohort"));
    const json_t *committee = json_object_get(json, "decryptors");
    out->decryptors = (uint64_t)json_integer_value(json_object_get(committee, "count"));
    out->decryptors_dropout = json_number_value(json_object_get(committee, "dropout"));
    out->epoch_rounds = (uint64_t)json_integer_value(json_object_get(committee, "epoch_rounds"));
    json_decref(root);
    return true;
}

bool sotto_recipe_one_server_graph(sotto_one_server_graph *out, const sotto_recipe *recipe)
{
    json_t *root, *json;

    memset(out, 0, sizeof *out);
    if (!sotto_trust_model_of(recipe->trust)->one_server)
        return false;
    root = json_loadb((const char *)recipe->text.data, recipe->text.len, 0, NULL);
    json = json_object_get(root, "aggregation");
    const char *ring = json_string_value(json_object_get(json, "ring"));
    const json_t *graph = json_object_get(json, "graph");
    out->wide = ring && strcmp(ring, "z64") == 0;
    out->degree = (uint64_t)json_integer_value(json_object_get(graph, "degree"));
    out->neighbours = (uint64_t)json_integer_value(json_object_get(graph, "neighbours"));
    json_decref(root);
    return true;
}

uint64_t sotto_one_server_edge(uint64_t degree, uint64_t clients)
{
    return clients <= degree + 1 ? UINT64_MAX : UINT64_MAX / (clients - 1) * degree;
}

size_t sotto_one_server_report_bytes(const sotto_recipe *recipe, uint64_t entries)
{
    enum { HEAD = 512 }; /* digest, counts, and the message around them */
    sotto_one_server_graph graph;
    sotto_one_server server;

    if (!sotto_recipe_one_server(&server, recipe) || !sotto_recipe_one_server_graph(&graph, recipe))
        return 0;
    return (size_t)(HEAD + entries * (graph.wide ? 8 : 4) +
                    server.decryptors * SOTTO_FLAMINGO_SEALED_SHARE +
                    (2 * graph.degree + 100) * SOTTO_FLAMINGO_EDGE_ROW);
}

uint64_t sotto_one_server_liars(const sotto_one_server *s)
{
    return (uint64_t)ceil(sotto_round_up(s->corrupt * (double)s->cohort, 2));
}

/* A share of those drawn may lie, and the server says who of them is online: no liar need be missing in the smallest sum. */
static void check_cohort(sotto_reading *at, const sotto_recipe *recipe,
                         const sotto_one_server *server)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, honest = {&privacy, "honest", 0},
                             aggregation = {NULL, "aggregation", 0},
                             cohort = {&aggregation, "cohort", 0};
    const uint64_t least = recipe->min_cohort, liars = sotto_one_server_liars(server),
                   counted = sotto_honest_count(least, recipe->honest),
                   left = least > liars ? least - liars : 0;

    if (SOTTO_RULE(one_server_cohort) && server->cohort < least) {
        sotto_reading_mistake(at, &cohort, "min_cohort, or more",
                              "%llu are drawn, and a sum needs %llu",
                              (unsigned long long)server->cohort, (unsigned long long)least);
        return;
    }
    if (SOTTO_RULE(one_server_liars_online) && counted > left)
        sotto_reading_mistake(
            at, &honest, "(min_cohort - corrupt * cohort) / min_cohort, or less",
            "counts on %llu parts of the noise in a sum of %llu; with %llu liars of %llu drawn, "
            "%llu are sure",
            (unsigned long long)counted, (unsigned long long)least, (unsigned long long)liars,
            (unsigned long long)server->cohort, (unsigned long long)left);
}

/* What a relay and tokens would hide, this trust model shows: asking for both is a mistake. */
static void check_anonymity(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place anonymity = {NULL, "anonymity", 0};
    const sotto_anonymity *a = &recipe->anonymity;

    if (SOTTO_RULE(anonymity_can_hide) && !sotto_trust_model_of(recipe->trust)->can_hide &&
        (a->relay || a->gateway || a->tokens || a->attester || a->issuer || a->log))
        sotto_reading_mistake(at, &anonymity, "nothing",
                              "%s can't hide who takes part: the server sees it",
                              sotto_trust_model_of(recipe->trust)->name);
}

/* The server sees who takes part, and nothing hides a report among others but the noise of those who stay and do not lie. */
void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, by = {&privacy, "by", 0},
                             honest = {&privacy, "honest", 0};
    sotto_one_server server;

    check_anonymity(at, recipe);
    if (!sotto_recipe_one_server(&server, recipe))
        return;
    if (SOTTO_RULE(one_server_by_shares) && recipe->by != SOTTO_BY_SHARES) {
        sotto_reading_mistake(at, &by, "shares",
                              "with one server nothing else protects: it earns no amplification");
        return;
    }
    check_cohort(at, recipe, &server);
    const double rest = 1 - server.corrupt - server.dropout;
    if (SOTTO_RULE(shares_of_those_who_stay) && (double)recipe->honest.units / 1e12 > rest + 1e-12)
        sotto_reading_mistake(at, &honest, "1 - corrupt - dropout, or less",
                              "noise of more devices than must stay: at most %.4g", rest);
}
