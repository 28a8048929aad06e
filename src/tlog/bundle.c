#include "tlog/bundle.h"

#include "base/rule.h"
#include "crypto/hash.h"

#include <string.h>

static const char tag[] = "sotto-bundle-1\n";

enum { TAG = sizeof tag - 1 };

bool sotto_bundle_is(sotto_bytes wire)
{
    return wire.len >= TAG && memcmp(wire.data, tag, TAG) == 0;
}

sotto_status sotto_bundle_decode(sotto_bundle *out, sotto_bytes wire, sotto_err *err)
{
    sotto_reader in = sotto_reader_over(wire);

    (void)sotto_read_bytes(&in, TAG);
    if (!sotto_bundle_is(wire))
        return sotto_fail(err, SOTTO_MALFORMED, "no bundle of a log");
    out->entry = sotto_read_opaque16(&in);
    out->object = sotto_read_opaque32(&in);
    out->proof = sotto_read_opaque32(&in);
    return sotto_reader_finish(&in, "bundle of a log", err);
}

sotto_status sotto_bundle_encode(sotto_buf *out, const sotto_bundle *bundle, sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);

    sotto_write_bytes(&w, sotto_bytes_of(tag, TAG));
    sotto_write_opaque16(&w, bundle->entry);
    sotto_write_opaque32(&w, bundle->object);
    sotto_write_opaque32(&w, bundle->proof);
    return sotto_writer_finish(&w, "bundle of a log", err);
}

static bool is_of(sotto_bytes object, const sotto_tlog_entry *entry)
{
    uint8_t digest[SOTTO_ENTRY_DIGEST];

    if (!sotto_entry_has_object(entry->type))
        return object.len == 0;
    sotto_hash_once(digest, SOTTO_SHA256, object);
    return memcmp(digest, entry->digest, sizeof digest) == 0;
}

sotto_status sotto_bundle_verify(sotto_bundle_facts *out, sotto_bytes wire,
                                 const sotto_log_trust *trust, sotto_err *err)
{
    sotto_inclusion inclusion;
    sotto_bundle bundle;

    SOTTO_TRY(sotto_bundle_decode(&bundle, wire, err));
    SOTTO_TRY(sotto_tlog_entry_decode(&out->entry, bundle.entry, err));
    if (SOTTO_RULE(bundle_object_of_its_entry) && !is_of(bundle.object, &out->entry))
        return sotto_fail(err, SOTTO_REJECTED, "bundle of a log: the %s is not the entry's",
                          sotto_entry_type_name(out->entry.type));
    SOTTO_TRY(sotto_inclusion_decode(&inclusion, bundle.proof, err));
    SOTTO_TRY(sotto_inclusion_check(&inclusion, &out->checkpoint, bundle.entry, trust, err));
    out->object = bundle.object;
    out->index = inclusion.index;
    out->note = inclusion.checkpoint;
    return SOTTO_OK;
}
