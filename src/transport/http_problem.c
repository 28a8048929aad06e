#include "transport/http_problem.h"

#include "base/writer.h"

#include <stdio.h>
#include <string.h>

#include <jansson.h>

/* Bytes above ASCII are taken as UTF-8 and left alone; detail and title are ours. */
static void write_string(sotto_writer *out, const char *text)
{
    char escape[8];

    sotto_write_text(out, "\"");
    for (; *text; text++) {
        if ((unsigned char)*text < 0x20 || *text == '"' || *text == '\\') {
            (void)snprintf(escape, sizeof escape, "\\u%04x", (unsigned char)*text & 0x7fU);
            sotto_write_text(out, escape);
        } else {
            sotto_write_bytes(out, sotto_bytes_of(text, 1));
        }
    }
    sotto_write_text(out, "\"");
}

static void write_member(sotto_writer *out, const char *name, const char *value)
{
    write_string(out, name);
    sotto_write_text(out, ":");
    write_string(out, value);
    sotto_write_text(out, ",");
}

sotto_status sotto_http_problem_encode(sotto_buf *out, const sotto_http_problem *problem,
                                       sotto_err *err)
{
    sotto_writer w = sotto_writer_on(out);
    char number[32];

    sotto_write_text(&w, "{");
    write_member(&w, "type", problem->type ? problem->type : "about:blank");
    write_member(&w, "title",
                 problem->title ? problem->title : sotto_http_status_phrase(problem->status));
    if (problem->detail)
        write_member(&w, "detail", problem->detail);
    if (problem->taskid)
        write_member(&w, "taskid", problem->taskid);
    (void)snprintf(number, sizeof number, "\"status\":%u}", problem->status);
    sotto_write_text(&w, number);
    return sotto_writer_finish(&w, "problem document", err);
}

sotto_status sotto_http_problem_type(char *type, size_t size, sotto_bytes document, sotto_err *err)
{
    json_t *root =
        json_loadb((const char *)document.data, document.len, JSON_REJECT_DUPLICATES, NULL);
    const char *text = json_string_value(json_object_get(root, "type"));
    sotto_status status = SOTTO_OK;

    if (!json_is_object(root))
        status = sotto_fail(err, SOTTO_MALFORMED, "not a problem document");
    else if (!text)
        text = "about:blank"; /* RFC 9457, 3.1.1: absent means this */
    if (status == SOTTO_OK && strlen(text) >= size)
        status = sotto_fail(err, SOTTO_TOO_LARGE, "the type of a problem is too long");
    if (status == SOTTO_OK)
        memcpy(type, text, strlen(text) + 1);
    json_decref(root);
    return status;
}
