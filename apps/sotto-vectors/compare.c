#include "families.h"

sotto_status sotto_vectors_compare(sotto_bytes wanted, sotto_bytes got, const char *what,
                                   sotto_err *err)
{
    if (wanted.len != got.len)
        return sotto_fail(err, SOTTO_REJECTED, "%s: %zu bytes where the file has %zu", what,
                          got.len, wanted.len);
    for (size_t i = 0; i < wanted.len; i++)
        if (wanted.data[i] != got.data[i])
            return sotto_fail(err, SOTTO_REJECTED, "%s: differs from the file at byte %zu of %zu",
                              what, i, wanted.len);
    return SOTTO_OK;
}

void sotto_vectors_each(const sotto_vector_file *file,
                        void (*run)(const sotto_vector_file *file, const json_t *item,
                                    const char *name))
{
    size_t i;
    json_t *item;
    char name[24];

    if (json_is_object(file->root)) {
        run(file, file->root, "");
        return;
    }
    json_array_foreach(file->root, i, item)
    {
        snprintf(name, sizeof name, "%zu", i);
        run(file, item, name);
    }
}

void sotto_vectors_tell(const sotto_vector_file *file, const char *name, sotto_status status,
                        const sotto_err *err)
{
    if (status == SOTTO_OK)
        sotto_tally_pass(file->tally, file->path, name);
    else
        sotto_tally_fail(file->tally, file->path, name, err->reason);
}
