#include "account/trust.h"

#include <string.h>

bool sotto_trust_is_known(sotto_trust trust)
{
    return trust >= SOTTO_TRUST_SPLIT && (size_t)trust < sotto_trust_count;
}

const sotto_trust_model *sotto_trust_model_of(sotto_trust trust)
{
    return &sotto_trust_models[sotto_trust_is_known(trust) ? trust : 0];
}

const sotto_trust_words *sotto_trust_words_of(sotto_trust trust)
{
    return &sotto_trust_sentences[sotto_trust_is_known(trust) ? trust : 0];
}

const char *sotto_trust_name(sotto_trust trust)
{
    return sotto_trust_model_of(trust)->name;
}

sotto_trust sotto_trust_named(const char *name)
{
    for (size_t t = SOTTO_TRUST_SPLIT; t < sotto_trust_count; t++)
        if (sotto_trust_models[t].keys[0] && strcmp(name, sotto_trust_models[t].name) == 0)
            return (sotto_trust)t;
    return (sotto_trust)0;
}
