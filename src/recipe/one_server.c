#include "recipe/one_server.h"

#include "account/trust.h"
#include "base/rule.h"

#include <stdio.h>
#include <string.h>

bool sotto_recipe_one_server(sotto_one_server *out, const sotto_recipe *recipe)
{
    json_t *root, *json;

    memset(out, 0, sizeof *out);
    if (!sotto_trust_model_of(recipe->trust)->one_server)
        return false;
    root = json_loadb((const char *)recipe->text.data, recipe->text.len, 0, NULL);
    json = json_object_get(root, "aggregation");
    const char *name = json_string_value(json_object_get(json, "server"));
    (void)snprintf(out->name, sizeof out->name, "%s", name ? name : "?");
    out->corrupt = json_number_value(json_object_get(json, "corrupt"));
    out->dropout = json_number_value(json_object_get(json, "dropout"));
    json_decref(root);
    return true;
}

/* The server sees who takes part, and nothing hides a report among others but the noise of those who stay and do not lie. */
void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, by = {&privacy, "by", 0},
                             honest = {&privacy, "honest", 0};
    sotto_one_server server;

    if (!sotto_recipe_one_server(&server, recipe))
        return;
    if (SOTTO_RULE(one_server_by_shares) && recipe->by != SOTTO_BY_SHARES) {
        sotto_reading_mistake(at, &by, "shares",
                              "with one server nothing else protects: it earns no amplification");
        return;
    }
    const double rest = 1 - server.corrupt - server.dropout;
    if (SOTTO_RULE(shares_of_those_who_stay) && (double)recipe->honest.units / 1e12 > rest + 1e-12)
        sotto_reading_mistake(at, &honest, "1 - corrupt - dropout, or less",
                              "noise of more devices than must stay: at most %.4g", rest);
}
