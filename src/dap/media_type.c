/* application/ppm-dap;message=... (DAP, "Protocol Message Media Type"; RFC 9110, 8.3.1). */
#include "dap/dap.h"

#include <string.h>

#define TYPE "application/ppm-dap"

static const char *const names[SOTTO_DAP_MESSAGES] = {
    [SOTTO_DAP_HPKE_CONFIG_LIST] = TYPE ";message=hpke-config-list",
    [SOTTO_DAP_UPLOAD_REQ] = TYPE ";message=upload-req",
    [SOTTO_DAP_UPLOAD_ERRORS] = TYPE ";message=upload-errors",
    [SOTTO_DAP_AGGREGATION_JOB_INIT_REQ] = TYPE ";message=aggregation-job-init-req",
    [SOTTO_DAP_AGGREGATION_JOB_RESP] = TYPE ";message=aggregation-job-resp",
    [SOTTO_DAP_AGGREGATION_JOB_CONTINUE_REQ] = TYPE ";message=aggregation-job-continue-req",
    [SOTTO_DAP_AGGREGATE_SHARE_REQ] = TYPE ";message=aggregate-share-req",
    [SOTTO_DAP_AGGREGATE_SHARE] = TYPE ";message=aggregate-share",
    [SOTTO_DAP_COLLECTION_JOB_REQ] = TYPE ";message=collection-job-req",
    [SOTTO_DAP_COLLECTION_JOB_RESP] = TYPE ";message=collection-job-resp",
    [SOTTO_DAP_REPAIR_REQ] = TYPE ";message=sotto-repair-req",
    [SOTTO_DAP_REPAIR_RESP] = TYPE ";message=sotto-repair-resp",
};

const char *sotto_dap_media_type(sotto_dap_message message)
{
    return names[message];
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static const char *skip_spaces(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* What follows the word, or NULL. */
static const char *after(const char *at, const char *word)
{
    for (; *word; at++, word++)
        if (lower(*at) != *word)
            return NULL;
    return at;
}

static const char *skip_parameter(const char *at)
{
    for (bool quoted = false; *at && (quoted || *at != ';'); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (quoted && *at == '\\' && at[1])
            at++;
    }
    return at;
}

/* The value of message=: a token, or the same in quotes. */
static bool value_is(const char *at, const char *wanted)
{
    const bool quoted = *at == '"';

    at = after(quoted ? at + 1 : at, wanted);
    if (!at || (quoted && *at++ != '"'))
        return false;
    at = skip_spaces(at);
    return *at == '\0' || *at == ';';
}

bool sotto_dap_media_type_is(sotto_dap_message message, const char *content_type)
{
    const char *wanted = names[message] + sizeof TYPE ";message=" - 1;
    const char *at = content_type ? after(skip_spaces(content_type), TYPE) : NULL;

    while (at && *(at = skip_spaces(at)) == ';') {
        const char *value;

        at = skip_spaces(at + 1);
        value = after(at, "message=");
        if (value)
            return value_is(value, wanted);
        at = skip_parameter(at);
    }
    return false;
}
