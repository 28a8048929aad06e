#include "aggregate/shard.h"

#include "aggregate/methods.h"

#include <string.h>

static bool has_type(const sotto_vdaf_client_ops *ops, int32_t type)
{
    return type >= ops->first_type && type <= ops->last_type;
}

const sotto_vdaf_client_ops *sotto_vdaf_client_named(const char *method)
{
    for (size_t i = 0; i < sotto_two_server_count; i++)
        if (strcmp(sotto_vdaf_clients[i]->method, method) == 0)
            return sotto_vdaf_clients[i];
    return NULL;
}

const sotto_vdaf_client_ops *sotto_vdaf_client_of(int32_t type)
{
    for (size_t i = 0; i < sotto_two_server_count; i++)
        if (has_type(sotto_vdaf_clients[i], type))
            return sotto_vdaf_clients[i];
    return NULL;
}

const sotto_method *sotto_method_of(int32_t type)
{
    for (size_t i = 0; i < sotto_two_server_count; i++)
        if (has_type(sotto_two_server_methods[i]->two_server->client, type))
            return sotto_two_server_methods[i];
    return NULL;
}

sotto_status sotto_vdaf_open(sotto_vdaf *vdaf, const sotto_vdaf_config *config, sotto_arena *arena,
                             sotto_err *err)
{
    vdaf->ops = sotto_vdaf_client_of(config->type);
    if (!vdaf->ops)
        return sotto_fail(err, SOTTO_MISSING, "VDAF %d is not known here", (int)config->type);
    return vdaf->ops->open(vdaf, config, arena, err);
}
