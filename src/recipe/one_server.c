#include "recipe/one_server.h"

#include "account/trust.h"
#include "base/rule.h"

/* The server sees who takes part, and nothing hides a report among others but the noise of those who stay and do not lie. */
void sotto_recipe_check_one_server(sotto_reading *at, const sotto_recipe *recipe)
{
    static const sotto_place privacy = {NULL, "privacy", 0}, by = {&privacy, "by", 0},
                             honest = {&privacy, "honest", 0};
    const double rest = 1 - recipe->corrupt - recipe->dropout;

    if (!sotto_trust_model_of(recipe->trust)->one_server)
        return;
    if (SOTTO_RULE(one_server_by_shares) && recipe->by != SOTTO_BY_SHARES) {
        sotto_reading_mistake(at, &by, "shares",
                              "with one server nothing else protects: it earns no amplification");
        return;
    }
    if (SOTTO_RULE(shares_of_those_who_stay) && (double)recipe->honest.units / 1e12 > rest + 1e-12)
        sotto_reading_mistake(at, &honest, "1 - corrupt - dropout, or less",
                              "noise of more devices than must stay: at most %.4g", rest);
}
