#include "paper.h"

#include <math.h>
#include <string.h>

#include "account/numeric/parameter.h"
#include "support/number.h"

double sotto_paper_get(sotto_paper *p, const char *name)
{
    size_t len = strlen(name);
    double value = 0;

    for (const char *at = p->text; *at != 0;) {
        size_t word = strcspn(at, " ");

        if (word > len + 1 && word < PAPER_WORD && at[len] == '=' && strncmp(at, name, len) == 0) {
            char number[PAPER_WORD];

            memcpy(number, at + len + 1, word - len - 1);
            number[word - len - 1] = 0;
            sotto_status status =
                sotto_number_read(&value, number, SOTTO_ROUND_NEAREST, name, p->err);
            p->status = p->status == SOTTO_OK ? status : p->status;
            return value;
        }
        at += word;
        at += strspn(at, " ");
    }
    if (p->status == SOTTO_OK)
        p->status = sotto_fail(p->err, SOTTO_MALFORMED, "parameters: no %s", name);
    return 0;
}

double sotto_paper_get_star(sotto_paper *p)
{
    double value = 0;

    if (p->status == SOTTO_OK)
        p->status = sotto_number_read(&value, p->star, SOTTO_ROUND_NEAREST, "item", p->err);
    return value;
}

double sotto_paper_get_log_delta(sotto_paper *p)
{
    double delta = sotto_paper_get(p, "delta"), log_delta = -1;

    if (p->status == SOTTO_OK)
        p->status = sotto_log_delta_of(&log_delta, delta, p->err);
    return log_delta;
}

uint64_t sotto_paper_get_count(sotto_paper *p, const char *name)
{
    double x = sotto_paper_get(p, name);

    if (p->status == SOTTO_OK && !(x >= 1 && x <= 1e18 && x == floor(x)))
        p->status = sotto_fail(p->err, SOTTO_MALFORMED, "%s: not a whole number from 1", name);
    return p->status == SOTTO_OK ? (uint64_t)x : 1;
}
