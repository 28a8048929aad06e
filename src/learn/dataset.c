#include "learn/dataset.h"

#include <string.h>

#include "base/rule.h"

static const char magic[16] = "sotto-examples1";

enum { NUMBERS = 7, MOST_USERS = 100000000 };

size_t sotto_dataset_head_size(const sotto_dataset *d)
{
    return sizeof magic + (size_t)NUMBERS * 8 + d->users * 4 +
           (d->kind == SOTTO_DATASET_BYTES ? d->training + d->test : 0);
}

sotto_status sotto_dataset_encode(const sotto_dataset *d, const uint32_t *counts, sotto_buf *out,
                                  sotto_err *err)
{
    const uint64_t numbers[NUMBERS] = {(uint64_t)d->kind, d->classes,  d->height, d->width,
                                       d->users,          d->training, d->test};
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(magic, sizeof magic));
    for (size_t i = 0; i < NUMBERS; i++)
        sotto_write_uint(&w, numbers[i], 8);
    for (size_t i = 0; i < d->users; i++)
        sotto_write_uint(&w, counts[i], 4);
    sotto_write_bytes(&w, d->labels);
    return sotto_writer_finish(&w, "examples", err);
}

static sotto_status check_numbers(const sotto_dataset *d, uint64_t kind, size_t left,
                                  sotto_err *err)
{
    if (kind != SOTTO_DATASET_BYTES && kind != SOTTO_DATASET_SYMBOLS)
        return sotto_fail(err, SOTTO_MALFORMED, "examples: of no known kind");
    if (d->classes < 2 || d->classes > SOTTO_MODEL_CLASSES || d->height < 1 || d->height > 65536 ||
        d->width < 1 || d->width > 65536 || d->users < 1 || d->users > MOST_USERS)
        return sotto_fail(err, SOTTO_MALFORMED, "examples: classes, sizes or users out of range");
    if (SOTTO_RULE(text_has_one_line_a_row) && kind == SOTTO_DATASET_SYMBOLS && d->height != 1)
        return sotto_fail(err, SOTTO_MALFORMED, "examples: rows of symbols have a height of 1");
    /* What the file has no bytes for is refused before sizes are multiplied. */
    if (d->training > left || d->test > left || d->training < 1 ||
        d->training + d->test > left / (d->height * d->width))
        return sotto_fail(err, SOTTO_MALFORMED, "examples: more rows than bytes, or none");
    return SOTTO_OK;
}

/* Training rows of all users together, and labels below the number of classes. */
static sotto_status check_contents(sotto_dataset *d, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(d->counts);
    uint64_t sum = 0;

    for (size_t i = 0; i < d->users; i++) {
        const uint64_t count = sotto_read_uint(&in, 4);

        sum += count;
        d->largest = count > d->largest ? (size_t)count : d->largest;
    }
    if (SOTTO_RULE(rows_of_users_add_up) && sum != d->training)
        return sotto_fail(err, SOTTO_MALFORMED, "examples: rows of users do not add up");
    for (size_t i = 0; i < d->labels.len; i++)
        if (d->labels.data[i] >= d->classes)
            return sotto_fail(err, SOTTO_MALFORMED, "examples: a label is not below %zu",
                              d->classes);
    for (size_t i = 0; d->kind == SOTTO_DATASET_SYMBOLS && i < d->rows.len; i++)
        if (d->rows.data[i] >= d->classes)
            return sotto_fail(err, SOTTO_MALFORMED, "examples: a symbol is not below %zu",
                              d->classes);
    return SOTTO_OK;
}

sotto_status sotto_dataset_decode(sotto_dataset *d, sotto_bytes file, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(file);
    const sotto_bytes name = sotto_read_bytes(&in, sizeof magic);

    memset(d, 0, sizeof *d);
    if (name.len != sizeof magic || memcmp(name.data, magic, sizeof magic) != 0)
        return sotto_fail(err, SOTTO_MALFORMED, "this is no file of examples");
    const uint64_t kind = sotto_read_uint(&in, 8);
    d->classes = (size_t)sotto_read_uint(&in, 8);
    d->height = (size_t)sotto_read_uint(&in, 8);
    d->width = (size_t)sotto_read_uint(&in, 8);
    d->users = (size_t)sotto_read_uint(&in, 8);
    d->training = (size_t)sotto_read_uint(&in, 8);
    d->test = (size_t)sotto_read_uint(&in, 8);
    SOTTO_TRY(check_numbers(d, kind, file.len, err));
    d->kind = (sotto_dataset_kind)kind;
    const size_t rows = d->training + d->test;

    d->counts = sotto_read_bytes(&in, d->users * 4);
    d->labels = sotto_read_bytes(&in, d->kind == SOTTO_DATASET_BYTES ? rows : 0);
    d->rows = sotto_read_bytes(&in, rows * d->height * d->width);
    SOTTO_TRY(sotto_reader_finish(&in, "examples", err));
    return check_contents(d, err);
}

sotto_status sotto_dataset_model(sotto_model *out, const sotto_dataset *d, const char *name,
                                 sotto_err *err)
{
    sotto_model_config config;

    SOTTO_TRY(sotto_model_named(out, name, d->classes, err));
    config = out->config;
    if ((config.type == SOTTO_MODEL_GRU) != (d->kind == SOTTO_DATASET_SYMBOLS))
        return sotto_fail(err, SOTTO_DENIED, "the model %.20s does not go with these data: %s",
                          name,
                          d->kind == SOTTO_DATASET_SYMBOLS ? "text needs gru" : "gru needs text");
    if (config.type == SOTTO_MODEL_GRU) {
        config.steps = d->width - 1;
    } else if (config.type == SOTTO_MODEL_CNN) {
        config.height = d->height;
        config.width = d->width;
    } else {
        config.inputs = d->height * d->width;
    }
    return sotto_model_init(out, &config, err);
}

void sotto_dataset_firsts(const sotto_dataset *d, uint64_t *firsts)
{
    sotto_reader in = sotto_reader_over(d->counts);

    firsts[0] = 0;
    for (size_t i = 0; i < d->users; i++)
        firsts[i + 1] = firsts[i] + sotto_read_uint(&in, 4);
}

sotto_examples sotto_dataset_rows(const sotto_dataset *d, size_t first, size_t count)
{
    return (sotto_examples){.bytes = d->rows.data + first * d->height * d->width,
                            .labels = d->labels.len ? d->labels.data + first : NULL,
                            .count = count};
}
