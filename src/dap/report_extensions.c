/* Lists of extensions, and the order that DAP demands of them ("Input Share Validation"). */
#include "dap/report.h"

bool sotto_extensions_next(sotto_reader *in, sotto_extension *out)
{
    if (sotto_reader_left(in) == 0)
        return false;
    out->type = (uint16_t)sotto_read_uint(in, 2);
    out->data = sotto_read_opaque16(in);
    return !in->short_read;
}

void sotto_extension_write(sotto_writer *w, const sotto_extension *extension)
{
    sotto_write_uint(w, extension->type, 2);
    sotto_write_opaque16(w, extension->data);
}

sotto_status sotto_extensions_check(sotto_bytes list, const char *what, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(list);
    sotto_extension extension;
    long before = -1;

    for (; sotto_extensions_next(&in, &extension); before = extension.type)
        if (extension.type <= before)
            return sotto_fail(err, SOTTO_MALFORMED, "%s: type %u after type %ld", what,
                              (unsigned)extension.type, before);
    return sotto_reader_finish(&in, what, err);
}

/* Both lists increase, so one walk along both finds a type that they share. */
static sotto_status check_apart(sotto_bytes a, sotto_bytes b, sotto_err *err)
{
    sotto_reader in_a = sotto_reader_over(a), in_b = sotto_reader_over(b);
    sotto_extension at_a, at_b;
    bool more_a = sotto_extensions_next(&in_a, &at_a);
    bool more_b = sotto_extensions_next(&in_b, &at_b);

    while (more_a && more_b) {
        if (at_a.type == at_b.type)
            return sotto_fail(err, SOTTO_MALFORMED,
                              "report extensions: type %u is both public and private",
                              (unsigned)at_a.type);
        if (at_a.type < at_b.type)
            more_a = sotto_extensions_next(&in_a, &at_a);
        else
            more_b = sotto_extensions_next(&in_b, &at_b);
    }
    return SOTTO_OK;
}

static sotto_status check_known(sotto_bytes list, const uint16_t *known, size_t count,
                                sotto_err *err)
{
    sotto_reader in = sotto_reader_over(list);
    sotto_extension extension;

    while (sotto_extensions_next(&in, &extension)) {
        size_t i = 0;

        while (i < count && known[i] != extension.type)
            i++;
        if (i == count)
            return sotto_fail(err, SOTTO_MISSING, "report extensions: type %u is unknown",
                              (unsigned)extension.type);
    }
    return SOTTO_OK;
}

sotto_status sotto_report_extensions_check(sotto_bytes public_extensions,
                                           sotto_bytes private_extensions, const uint16_t *known,
                                           size_t count, sotto_err *err)
{
    SOTTO_TRY(sotto_extensions_check(public_extensions, "public extensions", err));
    SOTTO_TRY(sotto_extensions_check(private_extensions, "private extensions", err));
    SOTTO_TRY(check_apart(public_extensions, private_extensions, err));
    SOTTO_TRY(check_known(public_extensions, known, count, err));
    return check_known(private_extensions, known, count, err);
}
