#include "serve/attester/attester_sources.h"

#include "transport/http_client.h"

#include <string.h>

const char *const sotto_attester_source_names[SOTTO_ATTESTER_SOURCES] = {
    [SOTTO_ATTESTER_ISSUER] = "issuer",
    [SOTTO_ATTESTER_LEADER] = "leader",
    [SOTTO_ATTESTER_HELPER] = "helper"};

/* Paths go behind it as it is. A URL that could never be called is better refused now than for each device. */
static sotto_status check_url(const char *name, const char *url, bool plain_http, sotto_err *err)
{
    sotto_err why = {0};
    char host[256];
    const sotto_status status = sotto_http_url_check(host, sizeof host, url, plain_http, &why);

    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%s = %.60s: %s", name, url, why.reason);
    if (url[strlen(url) - 1] != '/')
        return sotto_fail(err, SOTTO_MALFORMED, "%s = %.60s: must end with a slash", name, url);
    return SOTTO_OK;
}

sotto_status sotto_attester_sources_open(sotto_attester_sources *sources,
                                         const sotto_attester_config *config, bool plain_http,
                                         sotto_err *err)
{
    const struct {
        const char *url, *token;
    } all[SOTTO_ATTESTER_SOURCES] = {
        [SOTTO_ATTESTER_ISSUER] = {config->issuer, config->issuer_token},
        [SOTTO_ATTESTER_LEADER] = {config->leader, config->leader_token},
        [SOTTO_ATTESTER_HELPER] = {config->helper, config->helper_token}};

    for (size_t i = 0; i < SOTTO_ATTESTER_SOURCES; i++) {
        const char *name = sotto_attester_source_names[i];

        if (!all[i].url)
            continue;
        if (!all[i].token)
            return sotto_fail(err, SOTTO_MALFORMED, "%s = %.60s: needs %s_token", name, all[i].url,
                              name);
        SOTTO_TRY(check_url(name, all[i].url, plain_http, err));
        SOTTO_TRY(sotto_bearer_read(&sources->bearers[i], all[i].token, err));
        sources->urls[i] = all[i].url;
    }
    return SOTTO_OK;
}
