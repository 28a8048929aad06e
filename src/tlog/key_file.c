#include "tlog/key_file.h"

#include "base/secret_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

sotto_status sotto_signer_file_read(sotto_signer_file *out, const char *path, sotto_err *err)
{
    sotto_buf text = sotto_buf_over(out->text, sizeof out->text);
    sotto_err why = {0};
    sotto_status status;

    memset(&out->signer, 0, sizeof out->signer);
    status = sotto_secret_file_read(&text, path, SOTTO_SECRET_GIVEN, &why);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%.80s %s", path, why.reason);
    while (text.len > 0 && text.data[text.len - 1] == '\n')
        text.len--;
    status = sotto_note_signer_decode(&out->signer, sotto_buf_bytes(&text), &why);
    return status == SOTTO_OK ? SOTTO_OK : sotto_fail(err, status, "%.80s: %s", path, why.reason);
}

void sotto_signer_file_clear(sotto_signer_file *file)
{
    sotto_note_signer_clear(&file->signer);
    sotto_wipe(file->text, sizeof file->text);
}

static sotto_status read_line(sotto_key_file *out, char *line, const char *path, sotto_err *err)
{
    char *space = strchr(line, ' ');
    sotto_err why = {0};
    sotto_status status;

    if (line[0] == 0 || line[0] == '#')
        return SOTTO_OK;
    if (out->count == SOTTO_KEY_FILE_KEYS)
        return sotto_fail(err, SOTTO_TOO_LARGE, "%.80s: more than %d keys", path,
                          SOTTO_KEY_FILE_KEYS);
    if (space)
        *space = 0;
    status =
        sotto_note_key_decode(&out->keys[out->count], sotto_bytes_of(line, strlen(line)), &why);
    if (status != SOTTO_OK)
        return sotto_fail(err, status, "%.60s: key %zu: %s", path, out->count + 1, why.reason);
    out->urls[out->count++] = space && space[1] ? space + 1 : NULL;
    return SOTTO_OK;
}

sotto_status sotto_key_file_read(sotto_key_file *out, const char *path, sotto_err *err)
{
    FILE *file = fopen(path, "re");
    size_t len;
    bool good;

    memset(out, 0, sizeof *out);
    if (!file)
        return sotto_fail(err, SOTTO_MISSING, "%.100s: %s", path, strerror(errno));
    len = fread(out->text, 1, sizeof out->text, file);
    good = !ferror(file) && len < sizeof out->text;
    (void)fclose(file);
    if (!good)
        return sotto_fail(err, SOTTO_IO, "%.100s: can't be read, or is too long", path);
    out->text[len] = 0;
    for (char *line = out->text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = 0;
        SOTTO_TRY(read_line(out, line, path, err));
    }
    return SOTTO_OK;
}
